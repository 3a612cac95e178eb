/**
 * A signal that fires after `ms`, or with `parent` if that comes first. Its reason is a `TimeoutError` if the time ran
 * out.
 */
export const within = (ms: number, parent?: AbortSignal): AbortSignal => {
  const timer = AbortSignal.timeout(Math.max(0, Math.ceil(ms)))
  return parent ? AbortSignal.any([parent, timer]) : timer
}

/** A deadline that can be cleared, which costs a third of {@link within} and leaves no timer behind. */
export type Deadline = ReturnType<typeof firstOf>

/** The same as {@link within} for work that reports its end. */
export function deadlineOf(ms: number, parent?: AbortSignal): Deadline {
  const controller = new AbortController()
  const { signal } = controller
  if (parent?.aborted) {
    controller.abort(parent.reason)
    return { signal, clear: () => {} }
  }
  const withParent = (): void => {
    clearTimeout(timer)
    controller.abort(parent?.reason)
  }
  const timer = setTimeout(
    () => {
      parent?.removeEventListener('abort', withParent)
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
    },
    Math.max(0, Math.ceil(ms)),
  ).unref()
  parent?.addEventListener('abort', withParent, { once: true })
  return {
    signal,
    clear: () => {
      clearTimeout(timer)
      parent?.removeEventListener('abort', withParent)
    },
  }
}

/** The result of work whose signal fires as that of {@link deadlineOf}, which is cleared when the work ends. */
export async function withDeadline<T>(
  ms: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, clear } = deadlineOf(ms, parent)
  try {
    return await work(signal)
  } finally {
    clear()
  }
}

/**
 * A signal that fires with the first of `parents`, for work that reports its end: work with many listeners costs less
 * than with `AbortSignal.any`.
 */
export function firstOf(parents: readonly AbortSignal[]): { readonly signal: AbortSignal; readonly clear: () => void } {
  const controller = new AbortController()
  const stops = parents.map((parent) => [parent, () => controller.abort(parent.reason)] as const)
  const fired = parents.find((parent) => parent.aborted)
  if (fired) controller.abort(fired.reason)
  else for (const [parent, stop] of stops) parent.addEventListener('abort', stop, { once: true })
  return {
    signal: controller.signal,
    /** The work has ended: the signal does not fire any more, whatever `parent` does. */
    clear: (): void => {
      for (const [parent, stop] of stops) parent.removeEventListener('abort', stop)
    },
  }
}

/** Whether a signal fired because the time ran out (and not because the client disconnected). */
export const timedOut = (signal: AbortSignal): boolean => signal.aborted && isTimeout(signal.reason)

/** Whether an error says that the time ran out. */
export const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError'

/** Settles as `work` does, or rejects with the signal's reason as soon as it fires. Work that ends later is ignored. */
export function raced<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {})
    return Promise.reject(signal.reason)
  }
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Waits `ms`, or rejects with the signal's reason if that fires first. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}

/** The pauses of a loop that looks for work again and again, and that others may wake. */
export function wakeable() {
  let isWoken = false
  let interrupt = (): void => {}
  return {
    /** Begins a look: calls of `wake` before it do not shorten the pause after it. */
    begin: (): void => {
      isWoken = false
    },
    /** Ends the pause, or prevents the next one if a look is in progress. */
    wake: (): void => {
      if (isWoken) return
      isWoken = true
      interrupt()
    },
    /** Waits `ms`, or until `wake` or the signal; returns whether the loop was woken. */
    pause: async (ms: number, signal: AbortSignal): Promise<boolean> => {
      if (isWoken) return true
      const woken = new AbortController()
      interrupt = () => woken.abort()
      await sleep(ms, AbortSignal.any([woken.signal, signal])).catch(() => {})
      return isWoken
    },
  }
}
