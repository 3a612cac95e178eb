import { ttlCache } from '../base/ttl-cache.ts'
import type { SharedHttp } from './options.ts'

/** Maximum number of callers that are counted; the least recently counted one is forgotten first. */
const MAX_CALLERS = 10_000

type Told = (error: Error | null, result: { readonly current: number; readonly ttl: number }) => void
/** Counts the requests of each caller in a window of time that starts with its first request. */
type RateWindows = {
  readonly incr: (key: string, tell: Told, windowMs: number) => void
  readonly child: () => RateWindows
}

/**
 * The windows of callers in memory: counts a request and returns how many there were, and the time until its window
 * ends, ms.
 */
export function windowsOf(
  monotonic: () => number,
): (key: string, windowMs: number) => { readonly current: number; readonly ttl: number } {
  const windows = ttlCache<{ count: number }>({ maxEntries: MAX_CALLERS, now: monotonic })
  return (key, windowMs) => {
    const known = windows.get(key)
    if (!known) windows.set(key, { count: 1 }, windowMs)
    else known.value.count += 1
    return { current: known?.value.count ?? 1, ttl: known ? known.expiresAtMs - monotonic() : windowMs }
  }
}

/**
 * The store of `@fastify/rate-limit` with a clock that does not step. Its own store uses the system clock, and would
 * refuse a caller for an hour if that clock steps back.
 */
export function rateWindows(monotonic: () => number, shared?: Pick<SharedHttp, 'count'>): new () => RateWindows {
  const count = shared?.count ?? windowsOf(monotonic)
  return class {
    incr(key: string, tell: Told, windowMs: number): void {
      const counted = count(key, windowMs)
      if (counted instanceof Promise)
        counted.then(
          (result) => tell(null, result),
          (error: Error) => tell(error, { current: 0, ttl: 0 }),
        )
      else tell(null, counted)
    }
    child(): RateWindows {
      return this
    }
  }
}
