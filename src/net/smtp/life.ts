/** The life of a socket that outlasts the questions asked over it: each question bounds it for as long as it takes. */
export type Life = {
  readonly signal: AbortSignal
  /** Until the returned function is called, the life ends after `ms` (with a `TimeoutError`) or when `caller` fires. */
  readonly bound: (ms: number, caller?: AbortSignal) => () => void
  readonly end: () => void
}

/** One for all: a stack is dear to make. */
const ENDED = new DOMException('it is over', 'AbortError')

/** One timer and one listener at a time on the caller's signal, both removed: a signal that serves many sockets gathers no listeners. */
export function lifeOf(): Life {
  const controller = new AbortController()
  return {
    signal: controller.signal,
    bound: (ms, caller) => {
      const stop = (): void => controller.abort(caller?.reason)
      if (caller?.aborted) stop()
      const late = (): void => controller.abort(new DOMException('no answer in time', 'TimeoutError'))
      const timer = setTimeout(late, Math.max(0, Math.ceil(ms)))
      caller?.addEventListener('abort', stop, { once: true })
      return () => {
        clearTimeout(timer)
        caller?.removeEventListener('abort', stop)
      }
    },
    end: () => controller.abort(ENDED),
  }
}
