import { LRUCache } from 'lru-cache'

export type TtlCache<V> = {
  /** The value with the time it was kept, or undefined once its time has passed. */
  readonly get: (
    key: string,
  ) => { readonly value: V; readonly keptAtMs: number; readonly expiresAtMs: number } | undefined
  /** Keeps `value` for `ttlMs`; a time of 0 or less keeps nothing. */
  readonly set: (key: string, value: V, ttlMs: number) => void
  readonly delete: (key: string) => void
  /** Deletes what is kept under keys that `test` is true of; how many there were. */
  readonly deleteWhere: (test: (key: string) => boolean) => number
  readonly size: () => number
}

/** How often a search for expired entries begins, ms: nobody asks for most of them again. */
const SWEEP_EVERY_MS = 60_000
/** Entries that one `set` looks at during a search. */
const SWEEP_STEP = 64

/** A cache with a bound on entries and, where `bytesOf` is given, on bytes (an entry counts for its share of them at least); the least recently used goes first. Expired entries are dropped within minutes while new ones come. The clock is the caller's, and one that does not step. */
export function ttlCache<V extends object>(options: {
  readonly maxEntries: number
  readonly now: () => number
  readonly maxBytes?: number
  readonly bytesOf?: (value: V, key: string) => number
}): TtlCache<V> {
  type Entry = { value: V; keptAtMs: number; expiresAtMs: number }
  const { maxEntries, bytesOf, now } = options
  const maxBytes = bytesOf && options.maxBytes
  // With `max` the library lays out room for all entries ahead, megabytes that may never be used: the bound on entries is one on size instead.
  const maxSize = maxBytes ?? maxEntries
  const share = Math.ceil(maxSize / maxEntries)
  const kept = new LRUCache<string, Entry>({
    maxSize,
    sizeCalculation: (entry, key) => (bytesOf ? Math.max(share, bytesOf(entry.value, key)) : share),
  })
  let sweptAtMs = now()
  let search: Generator<[string, Entry]> | undefined
  let expired: string | undefined
  /** One step of the search. An expired entry is deleted only when the search has left it, because the search goes on from where it stands. */
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
