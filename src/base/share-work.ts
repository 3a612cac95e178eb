type Caller<W> = {
  /** Ends the wait of this caller only. */
  readonly signal: AbortSignal
  /** Ends the wait of this caller with a `TimeoutError` after this time, ms. */
  readonly withinMs?: number
  /** When this caller stops waiting, in ms of the work's clock; undefined: not known. */
  readonly untilMs?: number
  /**
   * Whether the running work is fresh enough for this caller. If not, new work starts, and later callers are offered
   * that.
   */
  readonly accepts?: (work: W) => boolean
}

/** How long shared work has to continue: while at least one caller waits for it. */
export type Lifetime = {
  /** Fires when no caller waits any more. */
  readonly signal: AbortSignal
  /** The latest `untilMs` of the present callers; Infinity if one of them set none. */
  readonly untilMs: () => number
  /** Fires `signal`; the callers go on waiting for the result. */
  readonly abort: (reason: unknown) => void
}

/** Work with a result. It may have more that callers can read, for example what is known so far. */
export type Work<T> = { readonly result: Promise<T> }

/**
 * Joins the work that runs under `key`, or starts it. `result` is that of the work, or rejects with the signal's reason
 * as soon as the caller's signal fires, and with a `TimeoutError` when its time is over; the work continues for the
 * others. Throws the signal's reason if it has already fired; nothing is started then.
 */
export type ShareWork<T, W extends Work<T>> = (
  key: string,
  begin: (lifetime: Lifetime) => W,
  caller: Caller<W>,
) => { readonly work: W; readonly result: Promise<T> }

/**
 * Creates a {@link ShareWork}: work with equal keys runs once at a time. It caches nothing: when work has ended, or
 * nobody waits for it, its key is free. `running` returns the work under a key. `longestMs` bounds all work, whatever
 * its callers set: its signal then fires with a `TimeoutError`.
 */
export function sharedWork<T, W extends Work<T> = Work<T>>(
  options: { readonly longestMs?: number } = {},
): ShareWork<T, W> & { readonly size: () => number; readonly running: (key: string) => W | undefined } {
  const { longestMs } = options
  type Running = {
    readonly work: W
    readonly callers: Caller<W>[]
    readonly control: AbortController
    ended: boolean
  }
  const running = new Map<string, Running>()

  function begin(key: string, start: (lifetime: Lifetime) => W, first: Caller<W>): Running {
    const control = new AbortController()
    const callers = [first]
    const untilMs = (): number => {
      let latestMs = Number.NEGATIVE_INFINITY
      for (const caller of callers) latestMs = Math.max(latestMs, caller.untilMs ?? Number.POSITIVE_INFINITY)
      return latestMs
    }
    const tooLong = (): void => control.abort(new DOMException('The shared work took too long', 'TimeoutError'))
    const timer = longestMs === undefined ? undefined : setTimeout(tooLong, longestMs)
    const work = start({ signal: control.signal, untilMs, abort: (reason) => control.abort(reason) })
    const own: Running = { work, callers, control, ended: false }
    running.set(key, own)
    const end = (): void => {
      clearTimeout(timer)
      own.ended = true
      forget(key, own)
    }
    work.result.then(end, end) // also handles a rejection that nobody waits for
    return own
  }

  function forget(key: string, own: Running): void {
    if (running.get(key) === own) running.delete(key)
  }

  function leave(key: string, own: Running, caller: Caller<W>): void {
    const at = own.callers.indexOf(caller)
    if (at >= 0) own.callers.splice(at, 1)
    if (own.ended || own.callers.length > 0) return
    forget(key, own)
    own.control.abort()
  }

  function share(key: string, start: (lifetime: Lifetime) => W, caller: Caller<W>) {
    caller.signal.throwIfAborted()
    let own = running.get(key)
    if (own && (caller.accepts?.(own.work) ?? true)) own.callers.push(caller)
    else own = begin(key, start, caller)
    return { work: own.work, result: waitFor(key, own, caller) }
  }

  function waitFor(key: string, own: Running, caller: Caller<W>): Promise<T> {
    const { signal, withinMs } = caller
    return new Promise<T>((resolve, reject) => {
      const settled = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        leave(key, own, caller)
      }
      const stop = (): void => {
        settled()
        reject(signal.reason)
      }
      const late = (): void => {
        settled()
        reject(new DOMException('no result in time', 'TimeoutError'))
      }
      const timer = withinMs === undefined ? undefined : setTimeout(late, withinMs)
      signal.addEventListener('abort', stop, { once: true })
      // Not `finally`, which creates three more promises for each DNS query.
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
  }
  return Object.assign(share, { size: () => running.size, running: (key: string) => running.get(key)?.work })
}

/** A function that calls `make` only once, with the first call; every call returns the same value. */
export const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Work that is done once, with the first call; the next call repeats failed work. */
export const onceUnlessFailed = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<T> | undefined
  return () => {
    running ??= work().catch((error: unknown) => {
      running = undefined
      throw error
    })
    return running
  }
}
