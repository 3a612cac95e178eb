import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

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
