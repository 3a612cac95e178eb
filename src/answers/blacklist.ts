import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { listOf } from './list.ts'
import { savedField } from './stored.ts'
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
