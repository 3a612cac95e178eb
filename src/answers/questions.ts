import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { dkimKey, dmarcFields } from './checks.ts'
import { finding, reason, status } from './finding.ts'
import { askedField } from './stored.ts'

/** The answers to single questions about one standard: `/v1/spf`, `/v1/dkim`, `/v1/dmarc`. */

const strings = z.array(z.string())
const result = z.enum(['none', 'neutral', 'pass', 'fail', 'softfail', 'temperror', 'permerror'])

export const spfAnswer = z.strictObject({
  result,
  mechanism: z.string().optional(),
  explanation: z.string().optional(),
  lookups: z.int(),
  void_lookups: z.int(),
  trace: z.array(
    z.strictObject({
      domain: z.string(),
      term: z.string().optional(),
      outcome: z.enum([...result.options, 'match', 'no_match', 'followed']),
      note: z.string().optional(),
    }),
  ),
  domain: z.string(),
  ...askedField,
})
export type SpfAnswer = AnswerOf<typeof spfAnswer>

export const dkimAnswer = z.strictObject({
  domain: z.string(),
  selector: z.string(),
  name: z.string(),
  valid: z.boolean(),
  status,
  reason,
  ...dkimKey.omit({ selector: true, name: true, usable: true }).shape,
  record: z.string().optional(),
  findings: z.array(finding),
  ...askedField,
})
export type DkimAnswer = AnswerOf<typeof dkimAnswer>

const step = z.strictObject({
  name: z.string(),
  answer: z.enum(['found', 'nodata', 'nxdomain', 'unknown']),
  reason: z.string().optional(),
  records: strings,
  record_count: z.int(),
  decision: z.string(),
})

export const dmarcAnswer = z.strictObject({
  domain: z.string(),
  ...dmarcFields,
  found_at: z.string(),
  organizational_domain: z.string(),
  exists: z.boolean().nullable(),
  steps: z.array(step),
  legacy: z
    .strictObject({
      found_at: z.string(),
      organizational_domain: z.string(),
      policy: z.string(),
      pct: z.int().optional(),
    })
    .optional()
    .meta({ description: 'the result by RFC 7489, if it differs' }),
  findings: z.array(finding),
  ...askedField,
})
export type DmarcAnswer = AnswerOf<typeof dmarcAnswer>
