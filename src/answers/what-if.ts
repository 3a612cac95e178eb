import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { checkAnswer, domainRole } from './check.ts'
import { status } from './finding.ts'
import { grade, points } from './points.ts'
import { spfPassing } from './spf.ts'

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
  passed_over: z
    .record(z.string(), z.int())
    .meta({ description: 'record types of the zone that have no effect, with the number of records' }),
})
export type WhatIfAnswer = AnswerOf<typeof whatIfAnswer>
