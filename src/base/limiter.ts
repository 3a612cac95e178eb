/** The maximum number of tokens, and how many are added per second. */
export type Rate = { readonly capacity: number; readonly perSecond: number }

/** The limits of one key. A missing part is unlimited. */
export type Limit = {
  readonly concurrent?: number
  /** A token bucket: one token for each entry. */
  readonly rate?: Rate
}

/** Releases the slot; further calls do nothing. */
export type Release = () => void

/**
 * The limiter refused without waiting: the queue is full (`queue_full`), or the rate cannot admit the caller in time
 * (`too_late`).
 */
export class LimitError extends Error {
  readonly reason: 'queue_full' | 'too_late'
  /** Milliseconds until the rate alone would admit the caller. */
  readonly retryAfterMs: number

  constructor(reason: LimitError['reason'], message: string, retryAfterMs: number) {
    super(message)
    this.name = 'LimitError'
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** Concurrency and rate per key. Callers of a key enter first come, first served; keys do not affect each other. */
export type Limiter = ReturnType<typeof limiter>

type Waiter = { readonly limit: Limit; readonly start: () => void }
type KeyState = {
  used: number
  bucket: Bucket | undefined
  readonly waiting: Set<Waiter>
  timer: NodeJS.Timeout | undefined
}

/** Maximum delay of a timer of the platform, ms; a longer wait is repeated. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * `now`: milliseconds by a clock that does not step, for rates; that of the process by default. `maxWaiting`: callers
 * that may wait for one key, default 20,000. `maxIdleKeys`: keys without callers whose bucket is kept, default 10,000;
 * the longest idle one is dropped first, and starts with a full bucket when it returns. A key without a rate is dropped
 * when it is not used.
 */
export function limiter(options: {
  readonly now?: () => number
  readonly maxWaiting?: number
  readonly maxIdleKeys?: number
}) {
  const { now = () => performance.now(), maxWaiting = 20_000, maxIdleKeys = 10_000 } = options
  const states = new Map<string, KeyState>()
  const idle = new Set<string>()

  function stateOf(key: string): KeyState {
    idle.delete(key)
    const known = states.get(key)
    if (known) return known
    const made: KeyState = { used: 0, bucket: undefined, waiting: new Set(), timer: undefined }
    states.set(key, made)
    return made
  }

  /**
   * Takes a slot and a token: 0 on success, otherwise how long the rate makes the caller wait, or Infinity if there is
   * no free slot.
   */
  function admit(state: KeyState, { concurrent = Number.POSITIVE_INFINITY, rate }: Limit): number {
    if (state.used >= concurrent) return Number.POSITIVE_INFINITY
    if (rate) {
      const taken = takeToken(state.bucket ?? fullBucket(rate, now()), rate, now())
      state.bucket = taken.bucket
      if (taken.waitMs > 0) return taken.waitMs
    }
    state.used++
    return 0
  }

  function serve(key: string, state: KeyState): void {
    clearTimeout(state.timer)
    state.timer = undefined
    for (const waiter of state.waiting) {
      const waitMs = admit(state, waiter.limit)
      if (waitMs > 0) {
        const ms = Math.min(waitMs, LONGEST_TIMER_MS)
        if (waitMs < Number.POSITIVE_INFINITY) state.timer = setTimeout(() => serve(key, state), ms)
        return
      }
      state.waiting.delete(waiter)
      waiter.start()
    }
    if (state.used === 0) rest(key, state)
  }

  /** The key is not in use: its state is kept only for its bucket. */
  function rest(key: string, state: KeyState): void {
    if (state.bucket === undefined) {
      states.delete(key)
      return
    }
    idle.add(key)
    const [oldest] = idle
    if (oldest === undefined || idle.size <= maxIdleKeys) return
    idle.delete(oldest)
    states.delete(oldest)
  }

  function releaseOf(key: string, state: KeyState): Release {
    let released = false
    return () => {
      if (released) return
      released = true
      state.used--
      serve(key, state)
    }
  }

  function aheadMs(state: KeyState | undefined, { rate }: Limit): number {
    if (!rate) return 0
    const { bucket, waitMs } = takeToken(state?.bucket ?? fullBucket(rate, now()), rate, now())
    const tokens = bucket.tokens + (waitMs === 0 ? 1 : 0)
    const needed = (state?.waiting.size ?? 0) + 1
    return Math.max(0, Math.ceil(((needed - tokens) / rate.perSecond) * 1_000))
  }

  /** Enters without waiting, or returns undefined: the key is at its limit, or other callers are waiting. */
  function tryEnter(key: string, limit: Limit): Release | undefined {
    const state = stateOf(key)
    if (state.waiting.size === 0 && admit(state, limit) === 0) return releaseOf(key, state)
    if (state.used === 0 && state.waiting.size === 0) rest(key, state)
    return undefined
  }

  function wait(key: string, limit: Limit, signal: AbortSignal): Promise<Release> {
    const state = stateOf(key)
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', stop)
        resolve(releaseOf(key, state))
      }
      const waiter: Waiter = { limit, start }
      const stop = (): void => {
        state.waiting.delete(waiter)
        reject(signal.reason)
        serve(key, state) // the next may need less
      }
      signal.addEventListener('abort', stop, { once: true })
      state.waiting.add(waiter)
      if (state.waiting.size === 1) serve(key, state)
    })
  }

  function refusal(key: string, limit: Limit, withinMs: number): LimitError | undefined {
    const state = states.get(key)
    const waitMs = aheadMs(state, limit)
    if ((state?.waiting.size ?? 0) >= maxWaiting)
      return new LimitError('queue_full', `${maxWaiting} callers are already waiting`, waitMs)
    if (waitMs > withinMs)
      return new LimitError('too_late', `the rate limit allows this only in ${waitMs} ms, after the deadline`, waitMs)
    return undefined
  }

  return {
    tryEnter,
    /**
     * Enters, after a wait if the limit requires one. Rejects with the signal's reason if that fires first, and with
     * {@link LimitError} at once if too many wait, or if the rate needs more than `withinMs`.
     */
    enter: (key: string, limit: Limit, signal: AbortSignal, withinMs = Number.POSITIVE_INFINITY): Promise<Release> => {
      if (signal.aborted) return Promise.reject(signal.reason)
      const release = tryEnter(key, limit)
      if (release) return Promise.resolve(release)
      const refused = refusal(key, limit, withinMs)
      return refused ? Promise.reject(refused) : wait(key, limit, signal)
    },
    /** Milliseconds that the rate would make a new caller wait, behind those who wait now; 0: none. Takes nothing. */
    retryAfterMs: (key: string, limit: Limit) => aheadMs(states.get(key), limit),
    /** Keys that are in use or have an unfilled bucket. */
    size: () => states.size,
  }
}

/** A token bucket as data: it had `tokens` at `atMs`. */
type Bucket = { readonly tokens: number; readonly atMs: number }

export const fullBucket = (rate: Rate, nowMs: number): Bucket => ({ tokens: rate.capacity, atMs: nowMs })

/**
 * Takes one token: the resulting bucket, and the waiting time in ms (0: the token was taken). A clock that steps back
 * refills nothing.
 */
export function takeToken(bucket: Bucket, rate: Rate, nowMs: number): { bucket: Bucket; waitMs: number } {
  const elapsedMs = Math.max(0, nowMs - bucket.atMs)
  const tokens = Math.min(rate.capacity, bucket.tokens + (elapsedMs * rate.perSecond) / 1_000)
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, atMs: nowMs }, waitMs: 0 }
  return { bucket: { tokens, atMs: nowMs }, waitMs: Math.ceil(((1 - tokens) / rate.perSecond) * 1_000) }
}
