import { describe, expect, it } from 'vitest'
import { nextAttempt, RETRY_MS } from './deliver.ts'
import { nextRun, type Scheduled } from './schedule.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const NOW = Date.UTC(2026, 0, 2, 12)
const daily: Scheduled = { everyMs: DAY, dueMs: NOW, isFirst: false, failures: 0, tellFailuresAfter: 3 }

describe('the next run', () => {
  it.each<[string, Partial<Scheduled>, number, number]>([
    ['has its place a day later', {}, NOW, DAY],
    ['keeps its place when it was late', {}, NOW + 5 * HOUR, 19 * HOUR],
    ['does not make up for missed ones', {}, NOW + 3 * DAY + HOUR, 23 * HOUR],
    ['is 15 minutes away at least', {}, NOW + DAY - MINUTE, 15 * MINUTE],
    ['is not sooner for a run that was asked for', { dueMs: NOW + HOUR }, NOW + HOUR, DAY],
    ['is soon after one that could not find out', { failures: 1 }, NOW, 15 * MINUTE],
    ['and after two', { failures: 2 }, NOW, 15 * MINUTE],
    ['as ever after three: that was told', { failures: 3 }, NOW, DAY],
    ['is not before the clock that stepped back', {}, NOW - 30 * DAY, 31 * DAY],
    ['of the shortest interval', { everyMs: 15 * MINUTE }, NOW + 1, 15 * MINUTE],
  ])('%s', (_, over, nowMs, waitMs) => expect(nextRun({ ...daily, ...over }, nowMs, () => 0.5) - nowMs).toBe(waitMs))

  it('of many that are made at once is spread over the interval', () => {
    const places = Array.from({ length: 10_000 }, (_, n) => nextRun({ ...daily, isFirst: true }, NOW, () => n / 10_000))
    const hours = new Map<number, number>()
    for (const at of places)
      hours.set(Math.floor((at - NOW) / HOUR), (hours.get(Math.floor((at - NOW) / HOUR)) ?? 0) + 1)
    expect([hours.size, Math.max(...hours.values())]).toEqual([24, 417])
    expect(Math.min(...places) - NOW).toBe(15 * MINUTE)
  })
})

it('a message is tried ten times, over 75 hours', () => {
  const waits = Array.from({ length: 10 }, (_, n) => nextAttempt(n + 1, NOW))
  expect(waits.map((at) => at === undefined)).toEqual([...Array(9).fill(false), true])
  expect(RETRY_MS.reduce((sum, wait) => sum + wait, 0)).toBe(75 * HOUR + 35 * MINUTE + 5_000)
})
