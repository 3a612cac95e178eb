/**
 * How long a wait may take, ms from its start. A function is called again when the time is over, for a limit that may
 * have been extended.
 */
export type TimeLimit = number | (() => number)

/** The lifetime of a socket that several questions use in turn; each question bounds it while it uses the socket. */
export type Lifetime = {
  readonly signal: AbortSignal
  /**
   * Until the returned function is called, the lifetime ends when `limit` is over (with a `TimeoutError`) or `caller`
   * fires.
   */
  readonly bound: (limit: TimeLimit, caller?: AbortSignal) => () => void
  readonly end: () => void
}

/** One for all, because a stack trace is expensive. */
const ENDED = new DOMException('the connection has ended', 'AbortError')

/**
 * One timer and one listener at a time on the caller's signal, both removed afterwards, so a signal that many sockets
 * use collects no listeners.
 */
export function lifetimeOf(): Lifetime {
  const controller = new AbortController()
  return {
    signal: controller.signal,
    bound: (limit, caller) => {
      const stop = (): void => controller.abort(caller?.reason)
      if (caller?.aborted) stop()
      const totalMs = (): number => Math.max(0, Math.ceil(typeof limit === 'number' ? limit : limit()))
      let waitedMs = totalMs()
      const over = (): void => {
        const leftMs = totalMs() - waitedMs
        waitedMs += leftMs
        if (leftMs > 0) timer = setTimeout(over, leftMs)
        else controller.abort(new DOMException('no answer in time', 'TimeoutError'))
      }
      let timer = setTimeout(over, waitedMs)
      caller?.addEventListener('abort', stop, { once: true })
      return () => {
        clearTimeout(timer)
        caller?.removeEventListener('abort', stop)
      }
    },
    end: () => controller.abort(ENDED),
  }
}
