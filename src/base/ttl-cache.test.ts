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
