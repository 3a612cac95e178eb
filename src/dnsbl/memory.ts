import { ttlCache } from '../base/ttl-cache.ts'
import type { Entry } from './entry.ts'
import type { ListStatus } from './read.ts'
import type { List, Subject } from './zone-type.ts'

/** Maximum number of addresses whose answers are cached: 29 entries each, about 13 KiB. */
export const MAX_ADDRESSES = 2_000
const LISTED_SECONDS = 900
const NOT_LISTED_SECONDS = 300
const ERROR_SECONDS = { least: 1, most: 5 } // RFC 9520 §3.2
/** Number of consecutive unanswered queries after which a list is waited for no longer than the others. */
const SUSPECT_AFTER = 2

type Memory = {
  /** The cached answer of a list about an address; `maxAgeMs` requests a younger one. */
  readonly recall: (address: Subject, index: number, nowMs: number, maxAgeMs: number) => Entry | undefined
  /** `counted` is the answer that counts, which may differ from what the list answered. */
  readonly remember: (
    address: Subject,
    index: number,
    entry: Entry,
    ttlSeconds: number | undefined,
    counted: ListStatus,
  ) => void
  /** Whether the list has left the last queries unanswered. */
  readonly isSuspect: (index: number) => boolean
  /** Answers by status since startup, per list. */
  readonly counts: readonly Readonly<Record<ListStatus, number>>[]
}

/** The cached answers, bounded in addresses, and the counters of each list. */
export function memory(lists: readonly List[], now: () => number): Memory {
  type Slot = { readonly entry: Entry; readonly expiresAtMs: number }
  const addresses = ttlCache<(Slot | undefined)[]>({ maxEntries: MAX_ADDRESSES, now })
  const failures = lists.map(() => 0)
  const counts = lists.map(() => ({ listed: 0, not_listed: 0, blocked: 0, timeout: 0, error: 0, unsupported: 0 }))

  return {
    recall: (address, index, nowMs, maxAgeMs) => {
      const slot = addresses.get(address)?.value[index]
      if (!slot || slot.expiresAtMs <= nowMs) return undefined
      return nowMs - (slot.entry.atMs ?? 0) < maxAgeMs ? slot.entry : undefined
    },
    remember: (address, index, entry, ttlSeconds, counted) => {
      counts[index]![counted] += 1
      failures[index] = ttlSeconds === undefined ? failures[index]! + 1 : 0
      const seconds = keepSeconds(entry.reading.status, ttlSeconds, failures[index]!)
      if (seconds <= 0) return
      const slots = addresses.get(address)?.value ?? []
      slots[index] = { entry, expiresAtMs: now() + seconds * 1_000 }
      addresses.set(address, slots, LISTED_SECONDS * 1_000)
    },
    isSuspect: (index) => failures[index]! >= SUSPECT_AFTER,
    counts,
  }
}

/**
 * Seconds for which an answer is cached: by its TTL, within the bound of its kind; failures longer the more there were
 * in a row.
 */
export function keepSeconds(status: ListStatus, ttlSeconds: number | undefined, failures: number): number {
  if (ttlSeconds === undefined)
    return Math.min(ERROR_SECONDS.most, ERROR_SECONDS.least * 2 ** Math.max(0, failures - 1))
  if (status === 'listed') return Math.min(ttlSeconds, LISTED_SECONDS)
  if (status === 'not_listed') return Math.min(ttlSeconds, NOT_LISTED_SECONDS)
  return Math.max(ERROR_SECONDS.least, Math.min(ttlSeconds, ERROR_SECONDS.most))
}
