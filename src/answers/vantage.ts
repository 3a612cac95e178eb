import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

/** The combined answer of several nodes. */
export const agreement = z.strictObject({
  verdict: z.enum(['consistent', 'split', 'insufficient']).meta({
    description:
      'consistent: all nodes agree, except at most one of up to 5, or two of 6 or more, that may disagree or fail; split: enough nodes answered, but too few agree; insufficient: too few nodes answered',
  }),
  value: z.string().nullable().meta({ description: 'the common verdict; null unless consistent' }),
  agree: z.string().meta({ description: 'nodes that gave the most frequent verdict, of all queried nodes: 3/4' }),
  disagreeing: z
    .array(z.strictObject({ node: z.string(), verdict: z.string().nullable() }))
    .meta({ description: 'the other nodes with their verdicts; null: no valid answer in time' }),
})

/** The fields that `vantage` adds to an answer. */
export const vantageFields = {
  vantage: z.string().optional().meta({ description: 'the node that gave this answer, if one was named' }),
  agreement: agreement.optional().meta({ description: 'agreement of the nodes, if several were queried' }),
}

/** The additional fields if several nodes were asked. */
export type VantageFields = { readonly vantage?: string; readonly agreement: AnswerOf<typeof agreement> }
