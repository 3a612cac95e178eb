import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

const dependency = z.strictObject({
  name: z.enum(['resolver', 'store', 'queue']),
  status: z.enum(['ok', 'failed']),
  reason: z.string().optional(),
  duration_ms: z.int(),
})
export type Dependency = AnswerOf<typeof dependency>

/** The answer of `/v1/ready`. */
export const readyAnswer = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  dependencies: z.array(dependency),
})
export type ReadyAnswer = AnswerOf<typeof readyAnswer>
