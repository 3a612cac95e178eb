import { setImmediate } from 'node:timers/promises'

/**
 * Runs `work` over `items` with at most `limit` in progress, and returns the results in the order of the items. Rejects
 * with the first rejection, after which no further item is started.
 */
export function atMost<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  return items.length <= limit ? Promise.all(items.map(work)) : byWorkers(limit, items, work)
}

async function byWorkers<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  let next = 0
  let failed = false
  async function worker(): Promise<void> {
    while (!failed && next < items.length) {
      const index = next++
      try {
        results[index] = await work(items[index]!, index)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
  return results
}

/**
 * Yields the results of `work` over `items` in the order of the items, with at most `limit` in progress; items are read
 * as they are needed. Rejects with the first rejection in that order. Nothing new is started after the reader has
 * stopped.
 */
export async function* inOrder<T, R>(
  limit: number,
  items: AsyncIterable<T> | Iterable<T>,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const underWay: Promise<R>[] = []
  for await (const item of items) {
    const result = work(item)
    result.catch(() => undefined) // reported when its turn comes, or ignored once the reader has stopped
    underWay.push(result)
    if (underWay.length >= limit) yield await underWay.shift()!
  }
  while (underWay.length > 0) yield await underWay.shift()!
}

/**
 * Yields the results of `work` over `items` as they become available, with at most `limit` in progress; nothing new is
 * started before the reader requests more, or after it has stopped reading. Rejects with the first rejection.
 */
export async function* asTheyCome<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const underWay = new Map<number, Promise<readonly [index: number, result: R]>>()
  let next = 0
  while (next < items.length || underWay.size > 0) {
    while (underWay.size < limit && next < items.length) {
      const index = next++
      const result = work(items[index]!).then((value) => [index, value] as const)
      result.catch(() => undefined) // reported by the race below, or ignored once the reader has stopped
      underWay.set(index, result)
    }
    const [index, result] = await Promise.race(underWay.values())
    underWay.delete(index)
    yield result
  }
}

/** A stream of one item. */
export async function* only<T>(item: T): AsyncGenerator<T, void, undefined> {
  yield item
}

/** Time after which {@link inTurns} lets the event loop turn, ms. */
const TURN_MS = 10

/**
 * Calls `work` with each item, in order. Others get their turn in between: a long list holds the event loop for no
 * longer than {@link TURN_MS} and one item at a time.
 */
export async function inTurns<T>(items: Iterable<T>, work: (item: T) => void | Promise<void>): Promise<void> {
  let begunMs = performance.now()
  for (const item of items) {
    const waiting = work(item)
    // a promise for each item would cost more than most of the work
    if (waiting !== undefined) await waiting
    if (performance.now() - begunMs < TURN_MS) continue
    await setImmediate()
    begunMs = performance.now()
  }
}
