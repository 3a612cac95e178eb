/** Somebody who waits for shared work. */
export type Caller<W> = {
  /** Ends this caller's wait, and nobody else's. */
  readonly signal: AbortSignal
  /** When this caller stops waiting, in ms of the clock that the work uses; unknown when left out. */
  readonly untilMs?: number
  /** Whether the running work is fresh enough for this caller. Otherwise new work begins, and later callers are offered that. */
  readonly accepts?: (work: W) => boolean
}

/** How long shared work has to go on: while at least one caller waits for it. */
export type Lifetime = {
  /** Fires when nobody waits any more. */
  readonly signal: AbortSignal
  /** The latest `untilMs` of the callers that wait now; Infinity where one of them gave none. */
  readonly untilMs: () => number
}

/** Work with a result. It may have more that callers look at, for example what is known so far. */
export type Work<T> = { readonly result: Promise<T> }

/**
 * Joins the work that runs under `key`, or begins it. `result` is that of the work, or rejects with the signal's reason as soon as the caller's
 * signal fires; the work goes on for the others. Throws the signal's reason when it has fired already: then nothing begins.
 */
export type ShareWork<T, W extends Work<T>> = (
  key: string,
  begin: (lifetime: Lifetime) => W,
  caller: Caller<W>,
) => { readonly work: W; readonly result: Promise<T> }

/**
 * Makes a {@link ShareWork}: work with equal keys runs once at a time. It remembers nothing: when work has ended, or nobody waits for it, its key is free.
 * `running` gives the work under a key. `longestMs` bounds all work, whatever its callers say: then its signal fires with a `TimeoutError`.
 */
export function sharedWork<T, W extends Work<T> = Work<T>>(
  options: { readonly longestMs?: number } = {},
): ShareWork<T, W> & { readonly size: () => number; readonly running: (key: string) => W | undefined } {
  const { longestMs } = options
  type Running = {
    readonly work: W
    readonly callers: Set<Caller<W>>
    readonly control: AbortController
    ended: boolean
  }
  const running = new Map<string, Running>()

  function begin(key: string, start: (lifetime: Lifetime) => W, first: Caller<W>): Running {
    const control = new AbortController()
    const callers = new Set([first])
    const untilMs = (): number => Math.max(...[...callers].map((caller) => caller.untilMs ?? Number.POSITIVE_INFINITY))
    const tooLong = (): void => control.abort(new DOMException('The shared work took too long', 'TimeoutError'))
    const timer = longestMs === undefined ? undefined : setTimeout(tooLong, longestMs)
    const work = start({ signal: control.signal, untilMs })
    const own: Running = { work, callers, control, ended: false }
    running.set(key, own)
    const end = (): void => {
      clearTimeout(timer)
      own.ended = true
      forget(key, own)
    }
    work.result.then(end, end) // also keeps a rejection that nobody waits for from being unhandled
    return own
  }

  function forget(key: string, own: Running): void {
    if (running.get(key) === own) running.delete(key)
  }

  function leave(key: string, own: Running, caller: Caller<W>): void {
    own.callers.delete(caller)
    if (own.ended || own.callers.size > 0) return
    forget(key, own)
    own.control.abort()
  }

  function share(key: string, start: (lifetime: Lifetime) => W, given: Caller<W>) {
    given.signal.throwIfAborted()
    const caller = { ...given } // one object may call several times
    const known = running.get(key)
    const own = known && (caller.accepts?.(known.work) ?? true) ? known : begin(key, start, caller)
    own.callers.add(caller)
    const result = new Promise<T>((resolve, reject) => {
      const stop = (): void => {
        leave(key, own, caller)
        reject(caller.signal.reason)
      }
      const settled = (): void => {
        caller.signal.removeEventListener('abort', stop)
        leave(key, own, caller)
      }
      caller.signal.addEventListener('abort', stop, { once: true })
      // Not `finally`, which makes three more promises for each question of the DNS.
      own.work.result.then(
        (value) => {
          settled()
          resolve(value)
        },
        (error) => {
          settled()
          reject(error)
        },
      )
    })
    return { work: own.work, result }
  }
  return Object.assign(share, { size: () => running.size, running: (key: string) => running.get(key)?.work })
}
