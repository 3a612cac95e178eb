import { timedOut } from '../../base/deadline.ts'
import { LimitError, limiter, type Release } from '../../base/limiter.ts'
import { type Lifetime, sharedWork, type Work } from '../../base/share-work.ts'
import { type TtlCache, ttlCache } from '../../base/ttl-cache.ts'
import { canonicalName } from '../../names/domain.ts'
import { type Answer, DnsError, type RecordType, type Resolve, type ResolveOptions } from './resolver.ts'

const DAY_S = 86_400
/** The longest time for which a negative answer is cached (RFC 2308 §5: one to three hours). */
const NEGATIVE_S = 10_800
/**
 * How long the first, second … consecutive failure is cached (RFC 9520 §3.2: at least 1 s, growing, at most 5 minutes).
 */
const FAILURE_MS = [1_000, 2_000, 4_000, 5_000] as const
/** How long the number of consecutive failures of a query is remembered. */
const FAILURES_MS = 60_000
/** The bound on a shared query, independent of its callers. */
const SHARED_MS = 15_000

type Failure = { readonly error: DnsError; readonly count: number; readonly untilMs: number }

/**
 * Caches answers for their TTL, at most a day, and negative answers for at most three hours (RFC 2308 §5); failures for
 * 1 to 5 s (RFC 9520), except those caused by the caller's own signal. TTL 0 is not cached. The TTL of an answer counts
 * down in the cache. Bounded in entries and bytes; the least recently used entry is removed first. Use it outermost, so
 * that a cached answer costs nothing more: `cached(merged(limited(resolve)))`.
 */
export function cached(
  resolve: Resolve,
  options: {
    readonly now: () => number
    readonly maxEntries: number
    readonly maxBytes: number
    /** NXDOMAIN that was cached before this time is queried again, ms. */
    readonly nxdomainSinceMs?: () => number
  },
): Resolve {
  const { now, maxEntries, maxBytes, nxdomainSinceMs } = options
  const isRevoked = ({ value, keptAtMs }: { readonly value: Kept; readonly keptAtMs: number }): boolean =>
    value.kind === 'nxdomain' && nxdomainSinceMs !== undefined && keptAtMs <= nxdomainSinceMs()
  const answers = ttlCache<Kept>({ now, maxEntries, maxBytes, bytesOf })
  const shared = sharedNegatives()
  const failures = ttlCache<Failure>({ now, maxEntries: Math.max(1, maxEntries >> 3) })

  async function ask<T extends RecordType>(
    key: string,
    question: readonly [name: string, type: T, signal: AbortSignal, options: ResolveOptions | undefined],
  ): Promise<Answer<T>> {
    try {
      const [name, type, signal, asked] = question
      const answer = await (asked ? resolve(name, type, signal, asked) : resolve(name, type, signal))
      const mostS = answer.kind === 'found' ? DAY_S : NEGATIVE_S
      answers.set(key, shared(answer), Math.min(answer.ttlSeconds, mostS) * 1_000)
      failures.delete(key)
      return answer
    } catch (error) {
      if (error instanceof DnsError && isKept(error, question[2])) keepFailure(failures, key, error, now())
      throw error
    }
  }

  // Not async, as are the wrappers around it: most queries of a check are answered here.
  return (name, type, signal, asked) => {
    const key = keyOf(name, type, asked)
    const kept = answers.get(key)
    if (kept && !signal.aborted && !isRevoked(kept))
      return Promise.resolve(answerOf(kept.value, name, type, now() - kept.keptAtMs) as Answer<typeof type>)
    const failure = failures.get(key)?.value
    if (failure && failure.untilMs > now() && !signal.aborted) return Promise.reject(failure.error)
    return ask(key, [name, type, signal, asked])
  }
}

/**
 * Equal queries at the same time are sent once. Each caller waits until its own signal fires; the query is given up
 * when no caller waits any more, and after 15 s in any case.
 */
export function merged(resolve: Resolve): Resolve {
  const share = sharedWork<Answer>({ longestMs: SHARED_MS })
  return async <T extends RecordType>(name: string, type: T, signal: AbortSignal, asked?: ResolveOptions) => {
    try {
      const begin = (shared: Lifetime): Work<Answer> => ({ result: resolve(name, type, shared.signal, asked) })
      return (await share(keyOf(name, type, asked), begin, { signal }).result) as Answer<T>
    } catch (error) {
      throw error instanceof DnsError || !signal.aborted ? error : givenUp(signal, { name, type })
    }
  }
}

/**
 * At most `most` queries are in progress; more wait in order, at most `mostWaiting`. Beyond that a query fails at once
 * (reason `aborted`, with the cause).
 */
export function limited(resolve: Resolve, most: number, mostWaiting = 20_000): Resolve {
  const places = limiter({ maxWaiting: mostWaiting })
  const limit = { concurrent: most }

  async function wait(signal: AbortSignal, question: { name: string; type: string }): Promise<Release> {
    try {
      return await places.enter('', limit, signal)
    } catch (cause) {
      if (cause instanceof LimitError) throw new DnsError('aborted', question, { cause })
      throw signal.aborted ? givenUp(signal, question) : cause
    }
  }

  return async (name, type, signal, asked) => {
    if (signal.aborted) throw givenUp(signal, { name, type })
    const release = places.tryEnter('', limit) ?? (await wait(signal, { name, type }))
    try {
      return await resolve(name, type, signal, asked)
    } finally {
      release()
    }
  }
}

const keyOf = (name: string, type: RecordType, asked: ResolveOptions | undefined): string =>
  `${type}${asked?.checkingDisabled === true ? '!' : ' '}${canonicalName(name)}`

const givenUp = (signal: AbortSignal, question: { name: string; type: string }): DnsError =>
  new DnsError(timedOut(signal) ? 'timeout' : 'aborted', question)

/** A negative answer without its question: nearly all that are cached differ in nothing else. */
type Negative = Omit<Answer, 'name' | 'type'>
type Kept = Answer | Negative

/** Maximum number of negative answers that share their memory; they differ in kind, TTL and validation. */
const MAX_NEGATIVES = 1_000

/** The answer as it is cached: one object for all negative ones that are equal but for their question. */
function sharedNegatives(): (answer: Answer) => Kept {
  const known = new Map<string, Negative>()
  return (answer) => {
    const { kind, records, ttlSeconds, cname, secure, ede } = answer
    if (kind === 'found' || cname.length > 0 || ede.length > 0) return answer
    const key = `${kind} ${secure} ${ttlSeconds}`
    const same = known.get(key)
    if (same) return same
    if (known.size >= MAX_NEGATIVES) return answer
    const negative = { kind, records, ttlSeconds, cname, secure, ede }
    known.set(key, negative)
    return negative
  }
}

/** The cached answer to a query, with the TTL that is left. */
function answerOf(kept: Kept, name: string, type: RecordType, ageMs: number): Answer {
  if (ageMs < 1_000 && 'name' in kept) return kept
  const { kind, records, cname, secure, ede } = kept
  const ttlSeconds = Math.max(0, kept.ttlSeconds - Math.floor(ageMs / 1_000))
  return { kind, name: canonicalName(name), type, records, ttlSeconds, cname, secure, ede }
}

/** A failure is about the query only if the caller waited for it and the name could be queried. */
const isKept = (error: DnsError, signal: AbortSignal): boolean =>
  !signal.aborted && error.reason !== 'aborted' && error.reason !== 'invalid_name'

function keepFailure(failures: TtlCache<Failure>, key: string, error: DnsError, nowMs: number): void {
  const before = failures.get(key)?.value
  if (before && before.untilMs > nowMs) return // several callers waited for it
  const count = (before?.count ?? 0) + 1
  const keptMs = FAILURE_MS[Math.min(count, FAILURE_MS.length) - 1]!
  failures.set(key, { error, count, untilMs: nowMs + keptMs }, FAILURES_MS)
}

/** The approximate memory of an entry: its text, and a constant for each object. */
function bytesOf(answer: Kept, key: string): number {
  let bytes = 220 + 2 * key.length
  if (!('name' in answer)) return bytes
  bytes += 180 + answer.name.length
  for (const name of answer.cname) bytes += 32 + 2 * name.length
  for (const { text } of answer.ede) bytes += 64 + 2 * text.length
  for (const record of answer.records) bytes += 32 + sizeOf(record)
  return bytes
}

function sizeOf(record: Answer['records'][number]): number {
  if (typeof record === 'string') return 2 * record.length
  let bytes = 32
  for (const value of Object.values(record)) bytes += typeof value === 'string' ? 24 + 2 * value.length : 8
  return bytes
}
