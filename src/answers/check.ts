import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import * as checks from './checks.ts'
import { finding, grade, gradeBecause, points, status } from './finding.ts'
import { planFields } from './plan.ts'
import { profileField } from './profile.ts'
import { reportsOfDomain } from './reports.ts'
import { askedField, savedField } from './stored.ts'
import { vantageFields } from './vantage.ts'

/** One row of the breakdown; the points of all rows and the score add up to exactly 100. */
const scoreRow = z.strictObject({
  component: z.enum(['spf', 'dkim', 'dmarc', 'mx', 'ptr', 'total']),
  finding: z.string().nullable(),
  kind: z.enum(['deduction', 'unknown', 'cap', 'rescale', 'rounding', 'grade']),
  points: z.number(),
})

/** The role in which the domain is judged. */
export const domainRole = z
  .strictObject({
    name: z.enum([
      'no_such_domain',
      'sends_and_accepts_mail',
      'accepts_mail_only',
      'sends_only',
      'parked',
      'no_mail',
      'return_path',
    ]),
    because: z.string(),
  })
  .meta({
    description:
      'use of the domain, and the records that show it. The domain is judged in this role: what the role does not need costs no points',
  })

/** The answer of `/v1/check`. */
export const checkAnswer = z.strictObject({
  domain: z.string(),
  score: points,
  spf: checks.spf,
  dkim: checks.dkim,
  dmarc: checks.dmarc,
  mx: z.array(checks.mxHost),
  ptr: checks.ptr,
  unicode_domain: z.string().optional(),
  domain_role: domainRole,
  status,
  grade,
  grade_because: gradeBecause,
  score_version: z.int(),
  score_breakdown: z.array(scoreRow),
  complete: z.boolean(),
  score_min: points.optional(),
  score_max: points.optional(),
  mx_status: status,
  mx_reason: z.string().optional(),
  mx_kind: z.enum(['explicit', 'implicit', 'null', 'none']).optional(),
  bimi: checks.bimi,
  caa: checks.caa,
  dane: checks.dane,
  dnssec: checks.dnssec,
  mta_sts: checks.mtaSts,
  ns: checks.ns,
  soa: checks.soa,
  starttls: checks.starttls.optional().meta({ description: 'in a check only with starttls=true' }),
  tls_rpt: checks.tlsRpt,
  findings: z.array(finding),
  plan: z
    .strictObject(planFields)
    .optional()
    .meta({ description: 'what to publish, in which order; left out with plan=false' }),
  observed_at: z.iso.datetime().optional(),
  ...vantageFields,
  ...askedField,
  ...profileField,
  ...savedField,
  reports: reportsOfDomain
    .optional()
    .meta({ description: 'who sends as the domain; only for a caller who may see its reports, never stored' }),
})
export type CheckAnswer = AnswerOf<typeof checkAnswer>
export type ScoreRow = CheckAnswer['score_breakdown'][number]

export const reportedCheck = checkAnswer.pick({ domain: true, reports: true })
