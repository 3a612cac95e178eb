import { LRUCache } from 'lru-cache'

export type TtlCache<V> = {
  /** The value with the time it was stored, or undefined once it has expired. */
  readonly get: (
    key: string,
  ) => { readonly value: V; readonly keptAtMs: number; readonly expiresAtMs: number } | undefined
  /** Stores `value` for `ttlMs`; a time of 0 or less stores nothing. */
  readonly set: (key: string, value: V, ttlMs: number) => void
  readonly delete: (key: string) => void
  /** Deletes the entries whose key satisfies `test`; returns their number. */
  readonly deleteWhere: (test: (key: string) => boolean) => number
  readonly size: () => number
}

/** Interval between searches for expired entries, ms: most of them are never requested again. */
const SWEEP_EVERY_MS = 60_000
/** Number of entries that one `set` examines during a search. */
const SWEEP_STEP = 64

/**
 * A cache with a bound on entries and, if `bytesOf` is given, on bytes (each entry counts at least its share); the
 * least recently used entry is removed first. Expired entries are removed within minutes while new ones arrive. The
 * caller provides the clock, which must not step.
 */
export function ttlCache<V extends object>(options: {
  readonly maxEntries: number
  readonly now: () => number
  readonly maxBytes?: number
  readonly bytesOf?: (value: V, key: string) => number
}): TtlCache<V> {
  type Entry = { value: V; keptAtMs: number; expiresAtMs: number }
  const { maxEntries, bytesOf, now } = options
  const maxBytes = bytesOf && options.maxBytes
  // With `max` the library allocates room for all entries in advance, megabytes that may never be used, so the bound on
  // entries is one on size.
  const maxSize = maxBytes ?? maxEntries
  const share = Math.ceil(maxSize / maxEntries)
  const kept = new LRUCache<string, Entry>({
    maxSize,
    sizeCalculation: (entry, key) => (bytesOf ? Math.max(share, bytesOf(entry.value, key)) : share),
  })
  let sweptAtMs = now()
  let search: Generator<[string, Entry]> | undefined
  let expired: string | undefined
  /**
   * One step of the search. An expired entry is deleted only when the search has moved on, because the search continues
   * from its position.
   */
  function sweep(nowMs: number): void {
    if (nowMs - sweptAtMs >= SWEEP_EVERY_MS) {
      sweptAtMs = nowMs
      search ??= kept.rentries() as Generator<[string, Entry]>
    }
    for (let i = 0; search && i < SWEEP_STEP; i++) {
      const { value, done } = search.next()
      if (expired !== undefined && (kept.peek(expired)?.expiresAtMs ?? 0) <= nowMs) kept.delete(expired)
      expired = value && value[1].expiresAtMs <= nowMs ? value[0] : undefined
      if (done) search = undefined
    }
  }
  return {
    get: (key) => {
      const entry = kept.get(key)
      if (!entry) return undefined
      if (entry.expiresAtMs > now()) return entry
      kept.delete(key)
      return undefined
    },
    set: (key, value, ttlMs) => {
      if (ttlMs <= 0) return
      const keptAtMs = now()
      sweep(keptAtMs)
      kept.set(key, { value, keptAtMs, expiresAtMs: keptAtMs + ttlMs })
    },
    delete: (key) => void kept.delete(key),
    deleteWhere: (test) => {
      const keys = [...kept.keys()].filter(test)
      for (const key of keys) kept.delete(key)
      return keys.length
    },
    size: () => kept.size,
  }
}
