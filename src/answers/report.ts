import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { blacklistAnswer, blacklistVerdict, domainBlacklistAnswer, tier } from './blacklist.ts'
import { checkAnswer } from './check.ts'
import { grade, points } from './finding.ts'
import { geoAnswer } from './peers.ts'

const strings = z.array(z.string())

/** The blacklists of one MX address; they were queried by this node, so `vantage` adds nothing. */
const addressLists = blacklistAnswer
  .omit({ vantage: true, agreement: true, saved: true })
  .extend({ mx_hosts: strings, geo: geoAnswer })
export type AddressLists = AnswerOf<typeof addressLists>

const summary = z.strictObject({
  addresses: z.int(),
  listed_addresses: z.int(),
  listings: z.int(),
  worst_tier: tier.nullable(),
  tiers: z.strictObject({ A: z.int(), B: z.int(), C: z.int(), D: z.int() }),
  unanswered: z.int().meta({ description: 'number of missing answers of blacklists' }),
  left_out: z.int().meta({ description: 'number of addresses that were not looked up' }),
  unknown_hosts: strings
    .optional()
    .meta({ description: 'mail hosts whose addresses are not all known; `mx` has the reason' }),
})

/** The state of a source address of this service. */
const poolAddress = z.strictObject({
  address: z.string(),
  listed: z.boolean(),
  listings: z.array(z.strictObject({ blacklist: z.string(), tier, meaning: strings, delist_url: z.string() })),
  verdict: blacklistVerdict,
  answered: z.int(),
  total: z.int(),
})
export type PoolAddress = AnswerOf<typeof poolAddress>

/** The answer of `/v1/report`: the check, then the blacklists of every MX address. */
export const reportAnswer = checkAnswer.extend({
  blacklists: z.array(addressLists),
  blacklist_summary: summary,
  is_role: z.boolean(),
  role: z.string(),
  suggestion: z.string(),
  report_score: points,
  report_grade: grade,
  pool: z
    .array(poolAddress)
    .optional()
    .meta({ description: 'the source addresses of this service, if a pool is configured' }),
  domain_blacklists: domainBlacklistAnswer
    .optional()
    .meta({ description: 'the lists of domains; its listings count like those of an address' }),
})
export type ReportAnswer = AnswerOf<typeof reportAnswer>
