import { expect, it } from 'vitest'
import { nonceMemory } from './nonces.ts'

/** A call from a clock that is 60 s ahead is valid for 120 s, and its time is in whole seconds. */
it.each([
  [120_999, true],
  [121_000, false],
])('a nonce was seen %d ms ago: remembered is %s', (ms, expected) => {
  let now = 1_000_000
  const isSeen = nonceMemory(() => now)
  expect(isSeen('here abcdefghijklmnop')).toBe(false)
  now += ms
  expect([isSeen('here abcdefghijklmnop'), isSeen('here qrstuvwxyzabcdef')]).toEqual([expected, false])
})
