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
