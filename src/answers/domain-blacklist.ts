import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { blacklistVerdict, listEntry, tier } from './blacklist.ts'
import { listOf } from './list.ts'

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
