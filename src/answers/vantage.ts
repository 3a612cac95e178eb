import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

/** What several nodes say together: `agree` is `3/4`, and `verdict` is null where none stands. */
export const agreement = z.strictObject({
  verdict: z.string().nullable(),
  agree: z.string(),
  dissent: z.array(z.strictObject({ node: z.string(), verdict: z.string().nullable() })),
})

/** The fields that `vantage` adds to an answer. */
export const vantageFields = {
  vantage: z.string().optional().meta({ description: 'the node whose answer this is, where one was named' }),
  agreement: agreement.optional().meta({ description: 'what the nodes agree on, where several were asked' }),
}

/** What is added where several nodes were asked. */
export type VantageFields = { readonly vantage?: string; readonly agreement: AnswerOf<typeof agreement> }
