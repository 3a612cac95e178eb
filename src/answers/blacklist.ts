import { z } from 'zod'
import { type AnswerOf, listOf } from './answer.ts'
import { askedField, savedField } from './stored.ts'
import { vantageFields } from './vantage.ts'

const strings = z.array(z.string())
export const tier = z.enum(['A', 'B', 'C', 'D'])
export const scope = z.enum(['ip', 'range', 'asn', 'policy', 'domain'])
export const blacklistVerdict = z.enum(['clean', 'listed', 'incomplete'])

/** The answer of one list about an address. */
export const listEntry = z
  .strictObject({
    blacklist: z.string(),
    listed: z.boolean(),
    zone: z.string(),
    status: z.enum(['listed', 'not_listed', 'blocked', 'timeout', 'error', 'unsupported']),
    tier,
    scope,
    scope_text: z.string().optional(),
    codes: strings,
    meaning: strings,
    txt: z.string().optional(),
    delist_url: z.string(),
    duration_ms: z.int(),
    reason: z.string().optional(),
  })
  .meta({ id: 'BlacklistEntry' })
export type ListEntry = AnswerOf<typeof listEntry>

/** The answer of `/v1/blacklist`: exactly one entry for each of the 29 lists. */
export const blacklistAnswer = z.strictObject({
  ip: z.string(),
  total: z.literal(29),
  listed: z.int(),
  results: z.array(listEntry).length(29),
  answered: z.int(),
  verdict: blacklistVerdict,
  worst_tier: tier.nullable(),
  list_version: z.string(),
  observed_at: z.iso.datetime(),
  ...vantageFields,
  ...askedField,
  ...savedField,
})
export type BlacklistAnswer = AnswerOf<typeof blacklistAnswer>

/** The answers about many addresses together. */
export const blacklistBulkAnswer = listOf(blacklistAnswer)
export type BlacklistBulkAnswer = AnswerOf<typeof blacklistBulkAnswer>

/** The answer of `/v1/domain-blacklist`: one entry for each list of domains that is shipped. */
export const domainBlacklistAnswer = z.strictObject({
  domain: z.string(),
  total: z.int(),
  listed: z.int(),
  results: z.array(listEntry),
  answered: z.int(),
  verdict: blacklistVerdict,
  worst_tier: tier.nullable(),
  list_version: z.string(),
  observed_at: z.iso.datetime(),
})
export type DomainBlacklistAnswer = AnswerOf<typeof domainBlacklistAnswer>

/** The answers about many domains together. */
export const domainBlacklistBulkAnswer = listOf(domainBlacklistAnswer)

const time = z.iso.datetime().nullable()
export const testState = z.enum(['untested', 'healthy', 'failing', 'dead', 'quarantined', 'refused', 'unanswered'])

const test = {
  state: testState,
  reason: z.string().nullable(),
  tested_at: time,
  missing_since: time,
  test_codes: z.array(z.string()),
  history: z.array(z.strictObject({ at: time, state: testState, reason: z.string().nullable() })),
}
export type TestAnswer = AnswerOf<z.ZodObject<typeof test>>

const listState = z.strictObject({
  blacklist: z.string(),
  zone: z.string(),
  zone_ipv6: z.string().optional(),
  tier,
  scope,
  strict: z.boolean(),
  codes: z.array(z.strictObject({ code: z.string(), meaning: z.string(), listing: z.boolean() })),
  ...test,
  ipv6: z.strictObject({
    supported: z.enum(['yes', 'no', 'unknown']),
    ...z.strictObject(test).partial().shape,
    state: z.enum([...testState.options, 'unsupported']),
  }),
  answers: z.strictObject({
    listed: z.int(),
    not_listed: z.int(),
    blocked: z.int(),
    timeout: z.int(),
    error: z.int(),
    unsupported: z.int(),
  }),
  allowance: z.strictObject({ per_second: z.number().optional(), per_day: z.number().optional() }),
  requires_key: z.boolean().meta({
    description: 'the operator has a zone for which a key is required; without a key the public zone is queried',
  }),
  delist_url: z.string(),
  verified: z.string().nullable(),
  notes: z.string(),
})
export type ListStateAnswer = AnswerOf<typeof listState>

/** The answer of `/v1/blacklists`. */
export const blacklistsAnswer = z.strictObject({
  total: z.literal(29),
  list_version: z.string(),
  ...listOf(listState).shape,
})
export type BlacklistsAnswer = AnswerOf<typeof blacklistsAnswer>
