import { timedOut } from '../../base/deadline.ts'
import { OutsideError } from '../../base/errors.ts'
import { sharedWork, type Work } from '../../base/share-work.ts'
import { ttlCache } from '../../base/ttl-cache.ts'
import { labelsOf } from '../../names/domain.ts'
import { isTopLevelDomain } from '../../names/suffix.ts'
import { type Answer, DnsError, type DnsReason, type RecordType, type Resolve, settled } from './resolver.ts'

/** How long it is cached that the resolver knows a top-level domain. */
const KNOWN_MS = 3_600_000
/**
 * The same for an NXDOMAIN without an SOA record (TTL 0, RFC 2308 §5), which filters, captive portals and some caches
 * send.
 */
const KNOWN_WITHOUT_SOA_MS = 60_000
/**
 * How long a resolver that denied a top-level domain is not trusted, ms. If it denies everything again within an hour,
 * the time doubles.
 */
const DENIED_MS = 60_000
/** Maximum time for which such a resolver is not trusted, ms. */
const MOST_DENIED_MS = 3_600_000
/** How long it is cached that a top-level domain could not be queried (RFC 9520 §3.2). */
const FAILED_MS = 2_000
/** Longest time of a query for a top-level domain, independent of its callers. */
const LONGEST_MS = 10_000
/** Maximum number of top-level domains that are cached. */
const MAX_KEPT = 2_000

/** Exists in every public resolver: it tests a resolver that denies another top-level domain. */
const CONTROL = 'com'

type Known = { readonly verdict: 'known' | 'denied' | 'absent' | DnsError; readonly atMs: number }

/** What is known about a resolver and top-level domains. */
type TopLevelDomains = ReturnType<typeof topLevelDomains>

/**
 * Queries `resolve` for each top-level domain at most once an hour (once a minute after NXDOMAIN without an SOA
 * record). A resolver that denies a top-level domain of the shipped suffix list, and .com as well, is not trusted for a
 * minute, and longer if it does so again. A resolver that knows .com is wrong about that domain only.
 */
export function topLevelDomains(resolve: Resolve, now: () => number) {
  let kept = ttlCache<Known>({ maxEntries: MAX_KEPT, now })
  const share = sharedWork<Known>({ longestMs: LONGEST_MS })
  const never = new AbortController().signal
  const preparing = new Set<string>()
  let deniedAtMs = Number.NEGATIVE_INFINITY
  let denials = 0

  async function look(tld: string, signal: AbortSignal): Promise<Known> {
    const answer = await settled(askFor(resolve, tld, signal))
    if (answer instanceof DnsError) return keep(tld, answer, signal.aborted ? 0 : FAILED_MS)
    if (answer.kind !== 'nxdomain') return keep(tld, 'known', KNOWN_MS)
    if (tld === CONTROL) {
      kept = ttlCache<Known>({ maxEntries: MAX_KEPT, now }) // earlier answers are no longer credible
      denials = now() - deniedAtMs < MOST_DENIED_MS ? denials + 1 : 0
      deniedAtMs = now()
      return keep(tld, 'denied', Math.min(MOST_DENIED_MS, DENIED_MS * 2 ** denials))
    }
    const control = await look(CONTROL, signal)
    if (control.verdict !== 'known') return keep(tld, control.verdict, FAILED_MS)
    return keep(tld, isDelegated(tld) ? 'denied' : 'absent', DENIED_MS)
  }

  function keep(tld: string, verdict: Known['verdict'], ms: number): Known {
    const known = { verdict, atMs: now() }
    kept.set(tld, known, ms)
    return known
  }

  const shared = (tld: string, signal: AbortSignal): Promise<Known> => {
    const begin = (all: { readonly signal: AbortSignal }): Work<Known> => ({ result: look(tld, all.signal) })
    return share(tld, begin, { signal }).result
  }

  /** What is known about a domain, not older than `maxAgeMs`; a resolver that denies the control domain denies all. */
  function recall(tld: string, maxAgeMs: number): Known | undefined {
    const control = kept.get(CONTROL)?.value
    if (control?.verdict === 'denied') return control
    const known = kept.get(tld)?.value
    return known && now() - known.atMs < maxAgeMs ? known : undefined
  }

  return {
    /** When the resolver was last found to deny everything, ms; -Infinity: never. Earlier denials may be false too. */
    deniedAtMs: () => deniedAtMs,
    /** Queries the top-level domain of `name`, unless the result is cached. Never fails. */
    prepare: (name: string): void => {
      const tld = topLevelOf(name)
      if (preparing.has(tld) || recall(tld, KNOWN_MS)) return
      preparing.add(tld)
      void shared(tld, never).finally(() => preparing.delete(tld))
    },
    /**
     * Whether the NXDOMAIN `answer` is credible. Otherwise rejects with {@link DnsError}: reason
     * `resolver_denies_everything` if the resolver denies an existing top-level domain, otherwise the reason of that
     * query.
     */
    confirm: async (answer: Answer, signal: AbortSignal): Promise<void> => {
      const { name, type } = answer
      const tld = topLevelOf(answer.cname.at(-1) ?? name)
      const maxAgeMs = answer.ttlSeconds === 0 ? KNOWN_WITHOUT_SOA_MS : KNOWN_MS
      const { verdict } = recall(tld, maxAgeMs) ?? (await waited(shared, tld, signal, { name, type }))
      if (verdict === 'known' || verdict === 'absent') return
      if (verdict !== 'denied') throw new DnsError(verdict.reason, { name, type }, { cause: verdict })
      const cause = new OutsideError(`the resolver denies that the top-level domain ${tld} exists`)
      throw new DnsError('resolver_denies_everything', { name, type }, { cause })
    },
  }
}

/**
 * `resolve` with NXDOMAIN only if it is credible: the resolver knows the top-level domain of the missing name, or that
 * domain does not exist. Otherwise rejects with {@link DnsError}. The query for a top-level domain is sent together
 * with the first query below it, so an answer waits for it only if it arrives earlier. A validated answer (`secure`)
 * needs no other proof. Use it below {@link cached}, so that no false denial is cached.
 */
export const believable = (resolve: Resolve, domains: TopLevelDomains): Resolve => {
  async function checked<T extends RecordType>(answer: Answer<T>, signal: AbortSignal): Promise<Answer<T>> {
    await domains.confirm(answer, signal)
    return answer
  }
  return (name, type, signal, options) => {
    const answer = resolve(name, type, signal, options)
    if (!signal.aborted) domains.prepare(name)
    return answer.then((one) => (one.kind === 'nxdomain' && !one.secure ? checked(one, signal) : one))
  }
}

/** NS, and SOA for resolvers that do not answer NS. */
async function askFor(resolve: Resolve, tld: string, signal: AbortSignal): Promise<Answer> {
  try {
    return await resolve(tld, 'NS', signal)
  } catch (error) {
    if (!(error instanceof DnsError) || !OF_THE_TYPE.has(error.reason)) throw error
    return resolve(tld, 'SOA', signal)
  }
}

/** Refusals that may concern only the type of the query. */
const OF_THE_TYPE: ReadonlySet<DnsReason> = new Set(['refused', 'notimp', 'formerr', 'malformed'])

async function waited(
  shared: (tld: string, signal: AbortSignal) => Promise<Known>,
  tld: string,
  signal: AbortSignal,
  question: { readonly name: string; readonly type: string },
): Promise<Known> {
  try {
    return await shared(tld, signal)
  } catch (error) {
    if (!signal.aborted) throw error
    throw new DnsError(timedOut(signal) ? 'timeout' : 'aborted', question)
  }
}

/** The last label, lower case; the root has none and stands for all of them. */
function topLevelOf(name: string): string {
  const end = name.endsWith('.') ? name.length - 1 : name.length
  const last = name.includes('\\') ? (labelsOf(name).at(-1) ?? '') : name.slice(name.lastIndexOf('.', end - 1) + 1, end)
  return last === '' ? CONTROL : last.toLowerCase()
}

/**
 * In the root zone according to the suffix list. The list contains `onion`, which no resolver may know (RFC 7686 §2).
 */
const isDelegated = (tld: string): boolean => tld !== 'onion' && isTopLevelDomain(tld)
