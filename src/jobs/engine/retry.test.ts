import { expect, it } from 'vitest'
import type { Asked } from './claims.ts'
import { type Retry, retryOf } from './retry.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

it.each<[string, Pick<Asked, 'result' | 'reason' | 'retryAfterMs'>, number, Retry | undefined]>([
  ['a firm answer stands', { result: 'accepted', reason: 'mailbox_exists' }, 0, undefined],
  [
    'greylisted, as the reply says',
    { result: 'deferred', reason: 'greylisted', retryAfterMs: MINUTE },
    9,
    { waitMs: MINUTE, counts: true },
  ],
  ['greylisted without a time', { result: 'deferred', reason: 'greylisted' }, 0, { waitMs: 5 * MINUTE, counts: true }],
  [
    'a time of days is not believed',
    { result: 'deferred', reason: 'greylisted', retryAfterMs: 9 * DAY },
    0,
    { waitMs: 6 * 60 * MINUTE, counts: true },
  ],
  ['temporary, first', { result: 'deferred', reason: 'temporary_failure' }, 0, { waitMs: 5 * MINUTE, counts: true }],
  ['temporary, third', { result: 'deferred', reason: 'temporary_failure' }, 2, { waitMs: 120 * MINUTE, counts: true }],
  ['temporary, after three', { result: 'deferred', reason: 'temporary_failure' }, 3, undefined],
  ['unreachable', { result: 'unreachable', reason: 'connect_timeout' }, 1, { waitMs: 30 * MINUTE, counts: true }],
  [
    'refused, later each time',
    { result: 'blocked', reason: 'source_blocked' },
    2,
    { waitMs: 60 * MINUTE, counts: true },
  ],
  ['a policy that no other time changes', { result: 'blocked', reason: 'policy' }, 0, undefined],
  ['a full mailbox', { result: 'deferred', reason: 'mailbox_full' }, 0, undefined],
  ['a private address', { result: 'unreachable', reason: 'unsafe_address' }, 0, undefined],
  [
    'our own limit does not count',
    { result: 'deferred', reason: 'own_limit', retryAfterMs: 700 },
    50,
    { waitMs: 700, counts: false },
  ],
  ['a check that could not find out', { result: 'unknown', reason: '' }, 0, { waitMs: 5 * MINUTE, counts: true }],
  ['a blacklist answer that is not whole', { result: 'incomplete', reason: '' }, 0, undefined],
])('%s', (_, asked, attempts, retry) => {
  expect(retryOf(asked, { attempts, firstAskedAtMs: 0 }, 0, DAY)).toEqual(retry)
})

it.each([
  ['greylisted', undefined], // the answer is final
  ['own_limit', { waitMs: 5_000, counts: false }], // which is not an answer
])('after the time to give up: %s', (reason, retry) => {
  expect(retryOf({ result: 'deferred', reason }, { attempts: 1, firstAskedAtMs: 0 }, DAY, DAY)).toEqual(retry)
})

it.each([
  [5 * MINUTE, { waitMs: 5 * MINUTE, counts: true }],
  [5 * MINUTE - 1, undefined],
])('a retry in five minutes, where rows are given up after %d ms', (giveUpMs, retry) => {
  const asked = { result: 'deferred', reason: 'greylisted' }
  expect(retryOf(asked, { attempts: 0, firstAskedAtMs: 0 }, 0, giveUpMs)).toEqual(retry)
})
