import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

/** What several nodes say together. */
export const agreement = z.strictObject({
  verdict: z.enum(['consistent', 'split', 'insufficient']).meta({
    description:
      'consistent: all but the nodes that may dissent or fail (one of up to 5, two from 6 on) say the same; split: enough answered and too few agree; insufficient: too few answered',
  }),
  value: z.string().nullable().meta({ description: 'what they agree on; null unless consistent' }),
  agree: z.string().meta({ description: 'nodes that said the most frequent word, of all that were asked: 3/4' }),
  dissent: z
    .array(z.strictObject({ node: z.string(), verdict: z.string().nullable() }))
    .meta({ description: 'the other nodes with what they said; null: no answer in time or in order' }),
})

/** The fields that `vantage` adds to an answer. */
export const vantageFields = {
  vantage: z.string().optional().meta({ description: 'the node whose answer this is, where one was named' }),
  agreement: agreement.optional().meta({ description: 'what the nodes agree on, where several were asked' }),
}

/** What is added where several nodes were asked. */
export type VantageFields = { readonly vantage?: string; readonly agreement: AnswerOf<typeof agreement> }
