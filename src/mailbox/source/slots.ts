/** Places that are taken and given back, some at a time for each key. */
export type Slots = {
  /** Waits for a place; the returned function gives it back (once). Rejects with the signal's reason when that fires first. */
  readonly enter: (key: string, limit: number, signal: AbortSignal) => Promise<() => void>
  /** Keys in use. */
  readonly size: () => number
}

/** Waiters are served in the order in which they came. A key that nobody uses takes no memory. */
export function slots(): Slots {
  type Place = { used: number; waiting: Set<() => void> }
  const places = new Map<string, Place>()

  function leave(key: string, place: Place): () => void {
    let left = false
    return () => {
      if (left) return
      left = true
      const next = place.waiting.values().next().value
      if (next) {
        place.waiting.delete(next)
        next() // the place goes on from hand to hand
      } else if (--place.used === 0) places.delete(key)
    }
  }
  function enter(key: string, limit: number, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason)
    const place = places.get(key) ?? { used: 0, waiting: new Set() }
    places.set(key, place)
    if (place.used < limit) {
      place.used++
      return Promise.resolve(leave(key, place))
    }
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener('abort', stop)
        resolve(leave(key, place))
      }
      const stop = (): void => {
        place.waiting.delete(turn)
        reject(signal.reason)
      }
      place.waiting.add(turn)
      signal.addEventListener('abort', stop, { once: true })
    })
  }
  return { enter, size: () => places.size }
}
