import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

/** The answer of `/v1/health`. */
export const healthAnswer = z.strictObject({ status: z.literal('ok') })
export type HealthAnswer = AnswerOf<typeof healthAnswer>

const dependency = z.strictObject({
  name: z.enum(['resolver', 'store', 'queue']),
  status: z.enum(['ok', 'failed']),
  reason: z.string().optional(),
  duration_ms: z.int(),
})
export type Dependency = AnswerOf<typeof dependency>

/**
 * What waits to be asked: rows without a result, those at providers that are due and for how long, rows that this node
 * has claimed, connections of all nodes.
 */
const queue = z.strictObject({
  open_rows: z.int(),
  due_rows: z.int(),
  due_for_ms: z.int(),
  waiting_providers: z.int(),
  claimed_rows: z.int(),
  held_connections: z.int(),
})

/** The answer of `/v1/ready`; `queue`: while the database of bulk jobs is in use and answers. */
export const readyAnswer = z.strictObject({
  status: z.enum(['ready', 'not_ready']),
  dependencies: z.array(dependency),
  queue: queue.optional(),
})
export type ReadyAnswer = AnswerOf<typeof readyAnswer>
