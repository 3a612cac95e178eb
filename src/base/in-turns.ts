import { setImmediate } from 'node:timers/promises'

/** Time after which {@link inTurns} lets the event loop turn, ms. */
const TURN_MS = 10

/**
 * Calls `work` with each item, in order. Others get their turn in between: a long list holds the event loop for no
 * longer than {@link TURN_MS} and one item at a time.
 */
export async function inTurns<T>(items: Iterable<T>, work: (item: T) => void | Promise<void>): Promise<void> {
  let begunMs = performance.now()
  for (const item of items) {
    await work(item)
    if (performance.now() - begunMs < TURN_MS) continue
    await setImmediate()
    begunMs = performance.now()
  }
}
