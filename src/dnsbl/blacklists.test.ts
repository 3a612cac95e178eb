import { expect, it } from 'vitest'
import { ip } from '../names/ip.ts'
import type { Entry } from './ask.ts'
import { MAX_ADDRESSES, memory } from './blacklists.ts'
import { BUILT_IN_LISTS } from './zones.ts'

const list = BUILT_IN_LISTS[0]!
const entryAt = (atMs: number): Entry => ({
  list,
  zone: list.zone,
  reading: { status: 'not_listed', codes: [], meaning: [], tier: list.tier, scope: list.scope },
  txt: null,
  durationMs: 1,
  atMs,
})
const address = (n: number) => ip(`45.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)

it.each([
  [10_000, 300_000, true],
  [10_000, 10_000, false], // as old as wanted at most, and no younger
  [10_000, 10_001, true],
  [300_000, 1_000_000, false], // kept for 5 minutes
  [299_999, 1_000_000, true],
])('an answer that is %i ms old, for a caller who takes %i ms: %s', (ageMs, maxAgeMs, isKnown) => {
  let nowMs = 1_800_000_000_000
  const kept = memory([list], () => nowMs)
  kept.remember(address(1), 0, entryAt(nowMs), 86_400, 'not_listed')
  nowMs += ageMs
  expect(kept.recall(address(1), 0, nowMs, maxAgeMs) !== undefined).toBe(isKnown)
})

// Bound: src/dnsbl/blacklists.ts MAX_ADDRESSES
it('remembers 2,000 addresses: one more takes the place of the one that was longest unused', () => {
  expect(MAX_ADDRESSES).toBe(2_000)
  const kept = memory([list], () => 0)
  for (let n = 0; n < MAX_ADDRESSES; n++) kept.remember(address(n), 0, entryAt(0), 300, 'not_listed')
  expect(kept.recall(address(0), 0, 0, 1_000)).toBeDefined() // used: now the second is the longest unused
  kept.remember(address(MAX_ADDRESSES), 0, entryAt(0), 300, 'not_listed')
  const known = Array.from({ length: MAX_ADDRESSES + 1 }, (_, n) => n).filter((n) =>
    kept.recall(address(n), 0, 0, 1_000),
  )
  expect(known).toHaveLength(MAX_ADDRESSES)
  expect(known).not.toContain(1)
})

it('suspects a list after two questions without an answer in a row', () => {
  const kept = memory([list], () => 0)
  const silent = (): void => kept.remember(address(1), 0, entryAt(0), undefined, 'timeout')
  silent()
  expect(kept.isSuspect(0)).toBe(false)
  silent()
  expect(kept.isSuspect(0)).toBe(true)
  kept.remember(address(1), 0, entryAt(0), 300, 'not_listed')
  expect(kept.isSuspect(0)).toBe(false)
})
