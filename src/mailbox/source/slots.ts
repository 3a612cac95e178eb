/** A concurrency limiter by key. */
export type Slots = {
  /** Waits for a slot; the returned function frees it (once). Rejects with the signal's reason when that fires first. */
  readonly acquire: (key: string, limit: number, signal: AbortSignal) => Promise<() => void>
  /** Keys in use. */
  readonly size: () => number
}

/** First come, first served. A key that nobody uses takes no memory. */
export function slots(): Slots {
  type Slot = { used: number; waiting: Set<() => void> }
  const slotsByKey = new Map<string, Slot>()

  function releaseOf(key: string, slot: Slot): () => void {
    let released = false
    return () => {
      if (released) return
      released = true
      const next = slot.waiting.values().next().value
      if (next) {
        slot.waiting.delete(next)
        next() // the slot goes on from hand to hand
      } else if (--slot.used === 0) slotsByKey.delete(key)
    }
  }
  function acquire(key: string, limit: number, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason)
    const slot = slotsByKey.get(key) ?? { used: 0, waiting: new Set() }
    slotsByKey.set(key, slot)
    if (slot.used < limit) {
      slot.used++
      return Promise.resolve(releaseOf(key, slot))
    }
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener('abort', stop)
        resolve(releaseOf(key, slot))
      }
      const stop = (): void => {
        slot.waiting.delete(turn)
        reject(signal.reason)
      }
      slot.waiting.add(turn)
      signal.addEventListener('abort', stop, { once: true })
    })
  }
  return { acquire, size: () => slotsByKey.size }
}
