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

/** The measurements of a probe: `GET /probe`. */
export const probeAnswer = z.strictObject({
  target: z.string(),
  module: z.enum(['domain', 'mailbox', 'ip']),
  success: z.boolean(),
  unknown: z.boolean().meta({ description: 'the result could not be determined' }),
  duration_ms: z.int(),
  samples: z.array(z.strictObject({ name: z.string(), labels: z.record(z.string(), z.string()), value: z.number() })),
})
export type ProbeAnswer = AnswerOf<typeof probeAnswer>

const count = z.int().min(0)

/** What was removed of a mailbox or a domain, by place. */
export const forgetAnswer = z.strictObject({
  subject: z.string(),
  total: count.meta({ description: 'total number of removed entries' }),
  places: z.record(z.string(), count).meta({ description: 'removed entries by place; results are part of rows' }),
  out_of_reach: z
    .array(z.string())
    .meta({ description: 'where copies may be that this service cannot erase, in words' }),
  not_reached: z
    .array(z.string())
    .optional()
    .meta({ description: 'nodes that did not confirm; their cached data expires within a day' }),
})
