/** The least pace at which a body arrives. */
type Pace = {
  /** Octets that arrive while they are waited for, in each span of `ms`. */
  readonly least: number
  readonly ms: number
}

/**
 * The same octets; fails with `late()` if fewer than the least arrive in a span. Only the time in which octets are
 * waited for counts: whoever reads them slowly does not make their sender late.
 */
export async function* paced(
  octets: AsyncIterable<Uint8Array>,
  { least, ms }: Pace,
  late: () => Error,
): AsyncGenerator<Uint8Array> {
  const source = octets[Symbol.asyncIterator]()
  let [arrived, waitedMs] = [0, 0]
  try {
    for (;;) {
      const begun = performance.now()
      const { done, value } = await inTime(source.next(), ms - waitedMs, late)
      if (done) return
      waitedMs += performance.now() - begun
      arrived += value.length
      if (arrived >= least) [arrived, waitedMs] = [0, 0]
      else if (waitedMs >= ms) throw late()
      yield value
    }
  } finally {
    source.return?.().catch(() => {}) // not awaited: a source that has stalled never ends
  }
}

function inTime<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
