import { ttlCache } from '../base/ttl-cache.ts'

/** Maximum number of callers that are counted; the least recently counted one is forgotten first. */
const MAX_CALLERS = 10_000

type Told = (error: Error | null, result: { readonly current: number; readonly ttl: number }) => void
/** Counts the requests of each caller in a window of time that starts with its first request. */
type RateWindows = {
  readonly incr: (key: string, tell: Told, windowMs: number) => void
  readonly child: () => RateWindows
}

/**
 * The store of `@fastify/rate-limit` with a clock that does not step. Its own store uses the system clock, and would
 * refuse a caller for an hour if that clock steps back.
 */
export function rateWindows(monotonic: () => number): new () => RateWindows {
  const windows = ttlCache<{ count: number }>({ maxEntries: MAX_CALLERS, now: monotonic })
  return class {
    incr(key: string, tell: Told, windowMs: number): void {
      const known = windows.get(key)
      if (!known) windows.set(key, { count: 1 }, windowMs)
      else known.value.count += 1
      tell(null, { current: known?.value.count ?? 1, ttl: known ? known.expiresAtMs - monotonic() : windowMs })
    }
    child(): RateWindows {
      return this
    }
  }
}
