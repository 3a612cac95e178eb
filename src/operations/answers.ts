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

const listAnswer = z.looseObject({
  blacklist: z.string(),
  listed: z.boolean(),
  zone: z.string(),
  status: z.enum(['listed', 'not_listed', 'blocked', 'timeout', 'error', 'unsupported']),
  codes: strings,
  meaning: strings,
  txt: z.string().optional(),
  delist_url: z.string(),
  duration_ms: z.int(),
  reason: z.string().optional(),
})

/** The answer of `/v1/blacklist`. */
export const blacklistAnswer = z.looseObject({
  ip: z.string(),
  total: z.literal(29),
  listed: z.int(),
  results: z.array(listAnswer).length(29),
  answered: z.int(),
  verdict: z.enum(['clean', 'listed', 'incomplete']),
  list_version: z.string(),
})

/** The answer of `/v1/report`. */
export const reportAnswer = checkAnswer.extend({
  blacklists: z.array(blacklistAnswer.extend({ mx_hosts: strings })),
  blacklist_summary: z.looseObject({
    addresses: z.int(),
    listed_addresses: z.int(),
    listings: z.int(),
    worst_tier: z.enum(['A', 'B', 'C', 'D']).nullable().optional(),
    tiers: z.record(z.string(), z.int()).optional(),
  }),
  pool: z
    .array(
      z.looseObject({
        address: z.string(),
        listed: z.boolean(),
        listings: z.array(z.looseObject({ blacklist: z.string() })),
        verdict: z.enum(['clean', 'listed', 'incomplete']),
      }),
    )
    .optional()
    .meta({ description: 'the source addresses of this service, where a pool is configured' }),
  is_role: z.boolean(),
  role: z.string(),
  suggestion: z.string(),
  report_score: z.int().min(0).max(100),
  report_grade: z.enum(['A+', 'A', 'B', 'C', 'D', 'F']).optional(),
})

const attempt = z.looseObject({
  ip_used: z.string(),
  mx_server: z.string(),
  address: z.string(),
  code: z.int(),
  message: z.string(),
  reason: z.string(),
  duration_ms: z.int(),
})

/** The answer of `/v1/verify`. */
export const verifyAnswer = z.looseObject({
  email: z.string(),
  result: z.enum(['accepted', 'catch_all', 'rejected', 'deferred', 'blocked', 'unreachable', 'invalid']),
  code: z.int(),
  message: z.string(),
  mx_server: z.string(),
  disposable: z.boolean(),
  free: z.boolean(),
  ip_used: z.string(),
  is_role: z.boolean(),
  role: z.string(),
  suggestion: z.string(),
  reason: z.string(),
  deliverability: z.enum(['deliverable', 'risky', 'undeliverable', 'unknown']),
  confidence: z.int().min(0).max(100),
  enhanced_code: z.string().optional(),
  catch_all: z.boolean().nullable(),
  smtputf8: z.boolean(),
  starttls: z.boolean().nullable(),
  provider: z.string().optional(),
  mx_tried: strings,
  attempts: z.array(attempt),
  checked: strings,
  duration_ms: z.int(),
})
