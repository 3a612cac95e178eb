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

/** A lifetime that ends by `control`; by default one of its own. */
export const lifetimeOf = (control: Control = new AbortController()): Lifetime => ({
  signal: control.signal,
  bound: (limit, caller) => new UseBounds(control, limit, caller),
})

/**
 * One timer and one listener on the caller's signal for all waits of a use, both removed afterwards, so a signal that
 * many sockets use collects no listeners. A limit that ends after the timer leaves it as it is: it looks again then. A
 * class, because thousands are in use at a time: closures would take three times the memory.
 */
class UseBounds implements Bounds {
  readonly #control: Control
  readonly #caller: AbortSignal | undefined
  #limit: TimeLimit
  #begunMs = 0
  #dueMs = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(control: Control, limit: TimeLimit, caller: AbortSignal | undefined) {
    this.#control = control
    this.#caller = caller
    this.#limit = limit
    if (caller?.aborted) this.handleEvent()
    else caller?.addEventListener('abort', this, { once: true })
    this.next(limit)
  }

  next(following: TimeLimit): void {
    this.#limit = following
    this.#begunMs = performance.now()
    const ms = msOf(following)
    if (this.#begunMs + ms >= this.#dueMs) return
    clearTimeout(this.#timer)
    this.#wait(ms, this.#begunMs)
  }

  release(): void {
    clearTimeout(this.#timer)
    this.#caller?.removeEventListener('abort', this)
  }

  /** The caller's signal has fired. */
  handleEvent(): void {
    this.#control.abort(this.#caller?.reason)
  }

  #wait(ms: number, nowMs: number): void {
    this.#dueMs = nowMs + ms
    this.#timer = setTimeout(UseBounds.#over, Math.ceil(ms), this)
  }

  static #over(bounds: UseBounds): void {
    const nowMs = performance.now()
    const leftMs = msOf(bounds.#limit) - (nowMs - bounds.#begunMs)
    if (leftMs > 0) bounds.#wait(leftMs, nowMs)
    else bounds.#control.abort(new DOMException('no answer in time', 'TimeoutError'))
  }
}

const msOf = (limit: TimeLimit): number => Math.max(0, typeof limit === 'number' ? limit : limit())
