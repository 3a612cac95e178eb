import { z } from 'zod'

/** The shapes of answers that several operations share. Objects are open: an answer may carry more than is written here. */

export const status = z.enum(['pass', 'warn', 'fail', 'unknown', 'not_applicable'])

const doubtful = {
  status,
  reason: z.string().optional().meta({ description: 'why it is unknown, or why valid is false' }),
}
const strings = z.array(z.string())

export const finding = z.looseObject({
  id: z.string(),
  severity: z.enum(['critical', 'high', 'medium', 'low', 'info']),
  title: z.string(),
  detail: z.string(),
  evidence: z.string().optional(),
  repair: z.string().optional(),
  fix: z.object({ type: z.literal('dns'), name: z.string(), rtype: z.string(), value: z.string() }).optional(),
  reference: z.string(),
})

const spf = z.looseObject({
  valid: z.boolean(),
  record: z.string().optional(),
  ...doubtful,
  records: strings,
  lookups: z.int().optional(),
  void_lookups: z.int().optional(),
  all: z.string().nullable().optional(),
})

const dkim = z.looseObject({
  valid: z.boolean(),
  selector: z.string().optional(),
  domain: z.string().optional(),
  ...doubtful,
  keys: z.array(z.looseObject({ selector: z.string(), domain: z.string() })),
  tried: z.int(),
  wildcard: z.boolean(),
  discovery: z.enum(['found', 'none_found', 'proven_absent', 'unknown']),
})

const dmarc = z.looseObject({
  valid: z.boolean(),
  record: z.string().optional(),
  policy: z.enum(['none', 'quarantine', 'reject', '']),
  ...doubtful,
  effective_policy: z.string(),
})

const mxAddress = z.looseObject({ address: z.string(), ptr: strings, forward_confirmed: z.boolean().nullable() })
const mxHost = z.looseObject({ host: z.string(), priority: z.int(), addresses: z.array(mxAddress) })

const ptr = z.looseObject({ valid: z.boolean(), ...doubtful, forward_confirmed: z.boolean().nullable().optional() })

/** The answer of `/v1/check`. */
export const checkAnswer = z.looseObject({
  domain: z.string(),
  score: z.int().min(0).max(100),
  spf,
  dkim,
  dmarc,
  mx: z.array(mxHost),
  ptr,
  unicode_domain: z.string().optional(),
  status,
  grade: z.enum(['A+', 'A', 'B', 'C', 'D', 'F']),
  score_version: z.int(),
  score_breakdown: z.array(
    z.object({
      component: z.string(),
      finding: z.string().nullable(),
      kind: z.enum(['deduction', 'unknown', 'cap', 'rescale', 'rounding']),
      points: z.number(),
    }),
  ),
  complete: z.boolean(),
  score_min: z.int().optional(),
  score_max: z.int().optional(),
  mx_status: status,
  mx_reason: z.string().optional(),
  mx_kind: z.enum(['explicit', 'implicit', 'null', 'none']).optional(),
  findings: z.array(finding),
  observed_at: z.string().optional(),
})
