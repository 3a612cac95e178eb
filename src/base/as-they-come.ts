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
