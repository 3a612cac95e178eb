import { atMost } from './at-most.ts'

/**
 * Runs `work` over items, at most `limit` at a time. An item that throws anything is given to `onFault`, and the others
 * go on. Rejects only with what `onFault` throws: a fault that concerns all items.
 */
export async function eachAlone<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  onFault: (error: unknown, item: T) => unknown,
): Promise<void> {
  await atMost(limit, items, async (item) => {
    try {
      await work(item)
    } catch (error) {
      await onFault(error, item)
    }
  })
}

/** Items that failed and are put off, by key. */
type PutOff<K> = {
  readonly isDue: (key: K) => boolean
  readonly waiting: () => readonly K[]
  /** Notes a failure. Returns after how many ms the item may be tried again; undefined: it is given up. */
  readonly failed: (key: K) => number | undefined
  /** An item did well: its next failure is the first one again. */
  readonly ended: (key: K) => void
}

/** Maximum number of items of a list that are remembered: beyond it the oldest is tried again too early. */
const MAX_ITEMS = 1_000

/**
 * Puts items off that fail: after the n-th failure in a row for the n-th of `delaysMs`, and after one more it gives
 * them up. In memory: a restart begins anew.
 */
export function putOff<K>(delaysMs: readonly number[], now: () => number): PutOff<K> {
  const failures = new Map<K, { readonly count: number; readonly atMs: number; readonly waitMs: number }>()
  const isDue = (key: K): boolean => {
    const last = failures.get(key)
    const sinceMs = last ? now() - last.atMs : 0
    return !last || sinceMs >= last.waitMs || sinceMs < 0 // the clock stepped back
  }
  return {
    isDue,
    waiting: () => [...failures.keys()].filter((key) => !isDue(key)),
    failed: (key) => {
      const count = (failures.get(key)?.count ?? 0) + 1
      failures.delete(key)
      const waitMs = delaysMs[count - 1]
      if (waitMs === undefined) return undefined
      failures.set(key, { count, atMs: now(), waitMs })
      if (failures.size > MAX_ITEMS) failures.delete(failures.keys().next().value!)
      return waitMs
    },
    ended: (key) => void failures.delete(key),
  }
}
