import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { scope, tier } from './blacklist.ts'
import { listOf } from './list.ts'

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

/** One list, and its self-test state. */
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
  takes_key: z.boolean(),
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
