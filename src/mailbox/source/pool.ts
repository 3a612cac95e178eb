import { atMost } from '../../base/at-most.ts'
import { within } from '../../base/deadline.ts'
import { sharedWork } from '../../base/share-work.ts'
import type { Ip } from '../../names/ip.ts'
import { addressOf, isProxy, type PoolEntry, type SourceName } from '../../names/source.ts'
import type { Exit, Proxies, ProxyState } from '../../net/socks/proxies.ts'
import { type OwnListing, refusedBy } from '../provider/blacklists.ts'

/** How old the known listings of our own addresses may be, ms. */
const LISTINGS_MAX_AGE_MS = 15 * 60_000
/** A listing that its blacklist has not confirmed for this long is dropped, ms. */
const UNCONFIRMED_MAX_AGE_MS = 24 * 60 * 60_000
/** The longest refresh, ms. */
const REFRESH_MS = 60_000
/** Maximum number of addresses and proxies whose listings are watched. */
const MAX_WATCHED = 64
const LOOKUPS_AT_ONCE = 4

/** The sources of verification. */
export type SourcePool = {
  /** Whether the operator has named them; else they are this machine's own public addresses. */
  readonly isConfigured: boolean
  /** All of them, in their order. */
  readonly sources: () => readonly SourceName[]
  /** Those that are addresses of this machine. */
  readonly addresses: () => readonly Ip[]
  /** Where connections leave from: the address itself, or the one of a proxy; undefined: not known, or a node. */
  readonly leavesFrom: (source: SourceName) => Exit | undefined
  /** Finds out where a proxy leaves from, and what speaks against it. Rejects only with the signal's reason. */
  readonly examine: (source: SourceName, signal: AbortSignal) => Promise<ProxyState>
  /** Reads the files of the pool again. Throws AppError when one cannot be used; the pool then stays as it was. */
  readonly reload: () => void
  /**
   * Looks the listings of the addresses up when what is known is older than 15 minutes. Returns when that is done or `signal` fires, whichever is first;
   * a refresh that was cut short counts for nothing, and the next caller begins it again.
   */
  readonly refresh: (signal: AbortSignal) => Promise<void>
  /** The listings of the address that connections leave from, by the last answer of each blacklist; undefined: no blacklist has answered yet. */
  readonly listings: (source: SourceName) => readonly OwnListing[] | undefined
  /** Why a source is not used toward a provider. */
  readonly refusedBy: (source: SourceName, provider: string) => string | undefined
}

/** What one blacklist says of an address; `unknown`: it did not answer. */
export type ListingAnswer = OwnListing & { readonly status: 'listed' | 'not_listed' | 'unknown' }

export type SourcePoolOptions = {
  readonly now: () => number
  /** Reads the operator's pool; undefined: none is configured. Throws AppError when a file of it cannot be used. */
  readonly read: (() => readonly PoolEntry[]) | undefined
  /** This machine's own public addresses: the pool when none is configured. */
  readonly ownAddresses: () => readonly Ip[]
  readonly proxies: Pick<Proxies, 'use' | 'known' | 'examine'>
  /** Asks every blacklist about an address. Does not reject for faults of the DNS. */
  readonly lookup: (address: Ip, signal: AbortSignal) => Promise<readonly ListingAnswer[]>
}

/** The listings of one address by blacklist; undefined: the blacklist answered that it does not list it. */
type Answers = Map<string, { readonly listing: OwnListing | undefined; readonly atMs: number }>

/** The source pool of a process. Throws AppError when the configured pool cannot be read. */
export function sourcePool({ now, read, ownAddresses, proxies, lookup }: SourcePoolOptions): SourcePool {
  let configured = readAll()
  const answers = new Map<Ip, Answers>() // at most MAX_WATCHED
  const shared = sharedWork<void>()
  let refreshedAtMs = Number.NEGATIVE_INFINITY

  function readAll(): readonly SourceName[] | undefined {
    const entries = read?.()
    proxies.use((entries ?? []).flatMap((entry) => (entry.kind === 'proxy' ? [entry.proxy] : [])))
    return entries?.map(({ name }) => name)
  }
  const all = (): readonly SourceName[] => configured ?? ownAddresses()
  const addresses = (): readonly Ip[] => all().flatMap((source) => addressOf(source) ?? [])
  const leavesFrom = (source: SourceName): Exit | undefined => {
    const address = addressOf(source)
    if (address !== undefined) return { address, by: 'machine' }
    return isProxy(source) ? proxies.known(source).exit : undefined
  }

  async function lookUp(signal: AbortSignal): Promise<void> {
    const startedAtMs = now()
    const sources = all().slice(0, MAX_WATCHED)
    const proxied = sources.filter(isProxy)
    if (proxied.length > 0)
      await atMost(LOOKUPS_AT_ONCE, proxied, async (proxy) => {
        if (!signal.aborted) await proxies.examine(proxy, signal).catch(unlessAborted(signal))
      })
    const watched = [...new Set(sources.flatMap((source) => leavesFrom(source)?.address ?? []))]
    for (const address of answers.keys()) if (!watched.includes(address)) answers.delete(address)
    await atMost(LOOKUPS_AT_ONCE, watched, async (address) => {
      if (!signal.aborted) note(address, await lookup(address, signal))
    })
    if (!signal.aborted) refreshedAtMs = startedAtMs
  }

  /** A blacklist that did not answer keeps what it said before. */
  function note(address: Ip, said: readonly ListingAnswer[]): void {
    const known: Answers = answers.get(address) ?? new Map()
    for (const { blacklist, meaning, status } of said) {
      if (status === 'unknown') continue
      known.set(blacklist, { listing: status === 'listed' ? { blacklist, meaning } : undefined, atMs: now() })
    }
    if (known.size > 0) answers.set(address, known)
  }

  function listings(source: SourceName): readonly OwnListing[] | undefined {
    const address = leavesFrom(source)?.address
    const known = address && answers.get(address)
    const recent = [...(known?.values() ?? [])].filter(({ atMs }) => atMs > now() - UNCONFIRMED_MAX_AGE_MS)
    return recent.length === 0 ? undefined : recent.flatMap(({ listing }) => listing ?? [])
  }

  return {
    isConfigured: read !== undefined,
    sources: all,
    addresses,
    leavesFrom,
    examine: async (source, signal) => (isProxy(source) ? proxies.examine(source, signal) : {}),
    reload: () => {
      configured = readAll()
      refreshedAtMs = Number.NEGATIVE_INFINITY
    },
    refresh: async (signal) => {
      if (signal.aborted || now() - refreshedAtMs < LISTINGS_MAX_AGE_MS) return
      const begin = (lifetime: { readonly signal: AbortSignal }) => ({
        result: lookUp(within(REFRESH_MS, lifetime.signal)),
      })
      try {
        await shared('', begin, { signal }).result
      } catch (error) {
        if (!signal.aborted) throw error
      }
    },
    listings,
    refusedBy: (source, provider) =>
      (isProxy(source) ? proxies.known(source).lie : undefined) ?? refusedBy(listings(source) ?? [], provider),
  }
}

/** Passes over a rejection of work whose signal has fired. */
const unlessAborted =
  (signal: AbortSignal) =>
  (error: unknown): void => {
    if (!signal.aborted) throw error
  }
