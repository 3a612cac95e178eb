import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

const strings = z.array(z.string())

/** One name and type: the expected records, and the published ones. */
const recordSet = z.strictObject({
  name: z.string(),
  type: z.string(),
  status: z.enum(['same', 'differs', 'missing', 'unknown']),
  expected: strings,
  published: strings.meta({ description: 'empty if nothing is published or it could not be determined' }),
  reason: z.string().optional(),
})

/** The answer of `POST /v1/expect`. */
export const expectAnswer = z.strictObject({
  domain: z.string(),
  status: z.enum(['pass', 'fail', 'unknown']),
  total: z.int(),
  differs: z.int().meta({ description: 'record sets that differ or are missing' }),
  unknown: z.int(),
  sets: z.array(recordSet).meta({ description: 'sets that differ come first' }),
  passed_over: z
    .record(z.string(), z.int())
    .meta({ description: 'record types of the zone that are not compared, with the number of records' }),
  observed_at: z.iso.datetime(),
})
export type ExpectAnswer = AnswerOf<typeof expectAnswer>
