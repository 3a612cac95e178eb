import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import * as checks from './checks.ts'
import { finding, status } from './finding.ts'
import { savedField } from './stored.ts'
import { vantageFields } from './vantage.ts'

export const grade = z.enum(['A+', 'A', 'B', 'C', 'D', 'F'])
export const points = z.int().min(0).max(100)

/** One row of the breakdown; the points of all rows and the score add up to exactly 100. */
const scoreRow = z.strictObject({
  component: z.enum(['spf', 'dkim', 'dmarc', 'mx', 'ptr', 'total']),
  finding: z.string().nullable(),
  kind: z.enum(['deduction', 'unknown', 'cap', 'rescale', 'rounding']),
  points: z.number(),
})

/** The role in which the domain is judged. */
export const domainRole = z
  .strictObject({
    name: z.enum([
      'no_such_domain',
      'sends_and_takes_mail',
      'takes_mail_only',
      'sends_only',
      'parked',
      'web_name_only',
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
  observed_at: z.iso.datetime().optional(),
  ...vantageFields,
  ...savedField,
})
export type CheckAnswer = AnswerOf<typeof checkAnswer>
export type ScoreRow = CheckAnswer['score_breakdown'][number]
