import { expect, it } from 'vitest'
import { rateWindows } from './rate-windows.ts'

it('counts the calls of each caller in windows that begin with the first', () => {
  let ms = 0
  const windows = new (rateWindows(() => ms))()
  const counted = (key: string): readonly number[] => {
    let told: readonly number[] = []
    windows.incr(key, (_, { current, ttl }) => (told = [current, ttl]), 60_000)
    return told
  }
  expect(counted('a')).toEqual([1, 60_000])
  ms = 59_999
  expect([counted('a'), counted('b')]).toEqual([
    [2, 1],
    [1, 60_000],
  ])
  ms = 60_000
  expect([counted('a'), counted('b')]).toEqual([
    [1, 60_000],
    [2, 59_999],
  ])
})

// src/http/rate-windows.ts MAX_CALLERS: 10,000 are counted; one more, and the first is forgotten.
it.each([
  [10_000, 2],
  [10_001, 1],
])('with %i callers the first has %i calls', (callers, calls) => {
  const windows = new (rateWindows(() => 0))()
  let last = 0
  const count = (key: string): void => windows.incr(key, (_, { current }) => void (last = current), 60_000)
  for (let n = 0; n < callers; n++) count(`c${n}`)
  count('c0')
  expect(last).toBe(calls)
})
