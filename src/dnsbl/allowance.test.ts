import fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { fullBucket, takeToken } from '../base/limiter.ts'
import { allowances, bucketSize } from './allowance.ts'
import { keepSeconds } from './blacklists.ts'
import { BUILT_IN_LISTS } from './zones.ts'

const SEM = BUILT_IN_LISTS.find(({ name }) => name === 'SEM-BLACK')!
const ZEN = BUILT_IN_LISTS[0]!

afterEach(() => void vi.useRealTimers())

it('lets as many go as the row grants, then says no to those who cannot wait', async () => {
  const allow = allowances(() => 0)
  const signal = new AbortController().signal
  const answers = Array.from({ length: 6 }, () => allow(SEM, 100, signal))
  expect(answers.slice(0, 5)).toEqual([true, true, true, true, true]) // without a turn of the event loop
  expect(await answers[5]).toBe(false)
  expect(allow(ZEN, 100, signal)).toBe(true) // each list has its own
})

it('serves those who wait in order, and turns away who would come too late', async () => {
  vi.useFakeTimers({ now: 0 })
  const allow = allowances(() => Date.now())
  const signal = new AbortController().signal
  for (let i = 0; i < 5; i++) void allow(SEM, 0, signal)
  const waiting = [1_000, 1_000, 150].map((within) => allow(SEM, within, signal))
  expect(await waiting[2]).toBe(false) // two are ahead: 600 ms
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await Promise.all(waiting)).toEqual([true, true, false])
})

it('gives up waiting when the signal fires', async () => {
  const allow = allowances(() => 0)
  const caller = new AbortController()
  for (let i = 0; i < 5; i++) void allow(SEM, 0, caller.signal)
  const waiting = allow(SEM, 60_000, caller.signal)
  caller.abort()
  expect(await waiting).toBe(false)
})

it('grants half of a day at once, and half over the day', () => {
  expect(bucketSize({ perDay: 100 })).toEqual({ capacity: 50, perSecond: 50 / 86_400 })
})

it('never spends more in 24 hours than a list grants a day', () => {
  const size = bucketSize({ perDay: 100 })
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 600_000 }), { minLength: 200, maxLength: 400 }), (gaps) => {
      let bucket = fullBucket(size, 0)
      let nowMs = 0
      const taken: number[] = []
      for (const gap of gaps) {
        nowMs += gap
        const next = takeToken(bucket, size, nowMs)
        bucket = next.bucket
        if (next.waitMs === 0) taken.push(nowMs)
      }
      for (const from of taken)
        expect(taken.filter((at) => at >= from && at < from + 86_400_000).length).toBeLessThanOrEqual(100)
    }),
    { numRuns: 20 },
  )
})

it.each([
  ['listed', 60, 0, 60],
  ['listed', 86_400, 0, 900], // at most 15 min
  ['not_listed', 86_400, 0, 300], // at most 5 min
  ['not_listed', 0, 0, 0], // TTL 0 is not kept
  ['timeout', undefined, 1, 1], // RFC 9520 §3.2
  ['error', undefined, 2, 2],
  ['error', undefined, 3, 4],
  ['timeout', undefined, 40, 5],
  ['blocked', 86_400, 0, 5], // a refusal is a failure, whatever its TTL
  ['error', 0, 0, 1],
] as const)('%s with TTL %s after %i failures is kept %i s', (status, ttl, failures, seconds) => {
  expect(keepSeconds(status, ttl, failures)).toBe(seconds)
})
