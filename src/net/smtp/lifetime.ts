/**
 * How long a wait may take, ms from its start. A function is called again when the time is over, for a limit that may
 * have been extended.
 */
export type TimeLimit = number | (() => number)

/** The lifetime of a socket that several questions use in turn; each question bounds it while it uses the socket. */
export type Lifetime = {
  readonly signal: AbortSignal
  /**
   * Until the bounds are released, the lifetime ends when `limit` is over (with a `TimeoutError`) or `caller` fires.
   */
  readonly bound: (limit: TimeLimit, caller?: AbortSignal) => Bounds
}

/** What ends a lifetime: an AbortController, or that of shared work. */
type Control = { readonly signal: AbortSignal; readonly abort: (reason?: unknown) => void }

/** The bounds of a lifetime during one use. */
export type Bounds = {
  /** Begins the next wait: `limit` from now on replaces the limit before it. */
  readonly next: (limit: TimeLimit) => void
  readonly release: () => void
}

/**
 * One timer and one listener on the caller's signal for all waits of a use, both removed afterwards, so a signal that
 * many sockets use collects no listeners. A limit that ends after the timer leaves it as it is: it looks again then.
 */
export function lifetimeOf(controller: Control = new AbortController()): Lifetime {
  return {
    signal: controller.signal,
    bound: (first, caller) => {
      let limit = first
      let begunMs = 0
      let dueMs = Number.POSITIVE_INFINITY
      let timer: NodeJS.Timeout | undefined
      const stop = (): void => controller.abort(caller?.reason)
      const over = (): void => {
        const nowMs = performance.now()
        const leftMs = msOf(limit) - (nowMs - begunMs)
        if (leftMs > 0) wait(leftMs, nowMs)
        else controller.abort(new DOMException('no answer in time', 'TimeoutError'))
      }
      function wait(ms: number, nowMs: number): void {
        dueMs = nowMs + ms
        timer = setTimeout(over, Math.ceil(ms))
      }
      function next(following: TimeLimit): void {
        limit = following
        begunMs = performance.now()
        const ms = msOf(limit)
        if (begunMs + ms >= dueMs) return
        clearTimeout(timer)
        wait(ms, begunMs)
      }
      if (caller?.aborted) stop()
      else caller?.addEventListener('abort', stop, { once: true })
      next(first)
      return {
        next,
        release: () => {
          clearTimeout(timer)
          caller?.removeEventListener('abort', stop)
        },
      }
    },
  }
}

const msOf = (limit: TimeLimit): number => Math.max(0, typeof limit === 'number' ? limit : limit())
