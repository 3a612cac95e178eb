import { expect, it } from 'vitest'
import { ttlCache } from './ttl-cache.ts'

const keysOf = (cache: ReturnType<typeof ttlCache>, keys: string): string =>
  [...keys].filter((key) => cache.get(key)).join('')

it.each([
  ['entries', { maxEntries: 3 }, 'cde'],
  ['entries, where bytes leave room', { maxEntries: 3, maxBytes: 3_000, bytesOf: () => 1 }, 'cde'],
  ['bytes', { maxEntries: 100, maxBytes: 20, bytesOf: () => 10 }, 'de'],
  ['an entry larger than all, which is not kept', { maxEntries: 100, maxBytes: 5, bytesOf: () => 10 }, ''],
])('is bounded by %s', (_, bounds, kept) => {
  const cache = ttlCache<object>({ ...bounds, now: () => 0 })
  for (const key of 'abcde') cache.set(key, {}, 1_000)
  expect(keysOf(cache, 'abcde')).toBe(kept)
})

it('lets the least recently used go first', () => {
  const cache = ttlCache<object>({ maxEntries: 2, now: () => 0 })
  cache.set('a', {}, 1_000)
  cache.set('b', {}, 1_000)
  cache.get('a')
  cache.set('c', {}, 1_000)
  expect(keysOf(cache, 'abc')).toBe('ac')
})

it('keeps an entry until its time has passed, and none without time', () => {
  let now = 0
  const cache = ttlCache<{ readonly n: number }>({ maxEntries: 2, now: () => now })
  cache.set('a', { n: 1 }, 100)
  cache.set('b', { n: 2 }, 0)
  expect(cache.get('a')).toEqual({ value: { n: 1 }, keptAtMs: 0, expiresAtMs: 100 })
  expect(cache.get('b')).toBeUndefined()
  now = 100
  expect(cache.get('a')).toBeUndefined()
  expect(cache.size()).toBe(0)
})

it('drops entries whose time has passed while new ones come, 64 looked at with each', () => {
  let now = 0
  const cache = ttlCache<object>({ maxEntries: 1_000, now: () => now })
  for (let i = 0; i < 300; i++) cache.set(`short${i}`, {}, 10_000)
  for (let i = 0; i < 300; i++) cache.set(`long${i}`, {}, 100_000)
  const sizes: number[] = []
  const look = (at: number, times: number): void => {
    now = at
    for (let i = 0; i < times; i++) cache.set('one', {}, 1_000)
    sizes.push(cache.size())
  }
  look(59_999, 20)
  look(60_000, 1)
  look(60_000, 20)
  look(119_999, 20)
  look(120_000, 20)
  expect(sizes).toEqual([601, 601 - 63, 301, 301, 1])
})

it('finds every expired entry although entries are used, set and deleted during the search', () => {
  let now = 0
  const cache = ttlCache<object>({ maxEntries: 100_000, now: () => now })
  for (let i = 0; i < 5_000; i++) cache.set(`k${i}`, {}, i % 3 === 0 ? 1e9 : 10_000)
  now = 60_000
  for (let round = 0; round < 10; round++, now += 60_000)
    for (let i = 0; i < 200; i++) {
      cache.set(`new${round}-${i}`, {}, 1e9)
      cache.get(`k${(i * 37) % 5_000}`)
      if (i % 5 === 0) cache.delete(`k${(i * 53) % 5_000}`)
    }
  for (let i = 0; i < 5_000; i++) if (i % 3 === 0) cache.delete(`k${i}`)
  expect(cache.size()).toBe(2_000)
})
