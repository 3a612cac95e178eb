import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { checkAnswer, domainRole } from './check.ts'
import { spfPassing } from './checks.ts'
import { acceptance, grade, points, status } from './finding.ts'

/** The result for a domain, in short. */
const summary = z.strictObject({
  score: points,
  grade,
  status,
  domain_role: domainRole,
  complete: z.boolean(),
  score_min: points.optional(),
  score_max: points.optional(),
  findings: z.array(z.string()).meta({ description: 'ids, each once' }),
  passing: spfPassing.optional().meta({ description: 'addresses that pass SPF' }),
})
export type CheckSummary = AnswerOf<typeof summary>

/** A record's data: text, or its fields. */
const recordData = z.union([z.string(), z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))])

/** The answer of `POST /v1/check`: the check as if the records were published, and the check without them. */
export const whatIfAnswer = checkAnswer.extend({
  before: summary,
  after: summary,
  as_if: z.array(
    z.strictObject({
      name: z.string(),
      type: z.string(),
      data: recordData.optional().meta({ description: 'absent: all records of the name and type' }),
      remove: z.literal(true).optional(),
    }),
  ),
  skipped: z
    .record(z.string(), z.int())
    .meta({ description: 'record types of the zone that have no effect, with the number of records' }),
})
export type WhatIfAnswer = AnswerOf<typeof whatIfAnswer>

const strings = z.array(z.string())

/** One name and type: the expected records, and the published ones. */
const recordSet = z.strictObject({
  name: z.string(),
  type: z.string(),
  status: z.enum(['same', 'differs', 'missing', 'unknown']),
  expected: strings,
  published: strings.meta({ description: 'empty if nothing is published or it could not be determined' }),
  reason: z.string().optional(),
  accepted: z
    .array(acceptance.extend({ finding: z.string() }))
    .optional()
    .meta({ description: 'the difference brings these findings alone, and each is accepted: it decides nothing' }),
})

/** The answer of `POST /v1/expect`. */
export const expectAnswer = z.strictObject({
  domain: z.string(),
  status: z.enum(['pass', 'fail', 'unknown']),
  total: z.int(),
  differs: z.int().meta({ description: 'record sets that differ or are missing, without accepted ones' }),
  unknown: z.int(),
  sets: z.array(recordSet).meta({ description: 'sets that differ come first' }),
  skipped: z
    .record(z.string(), z.int())
    .meta({ description: 'record types of the zone that are not compared, with the number of records' }),
  observed_at: z.iso.datetime(),
})
export type ExpectAnswer = AnswerOf<typeof expectAnswer>
