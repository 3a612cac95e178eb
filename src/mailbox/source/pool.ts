import { eachAlone } from '../../base/alone.ts'
import { within } from '../../base/deadline.ts'
import { sharedWork } from '../../base/share-work.ts'
import type { Ip } from '../../names/ip.ts'
import { addressOf, isProxy, type PoolEntry, type SourceName } from '../../names/source.ts'
import type { Exit, Proxies, ProxyState } from '../../net/socks/proxies.ts'
import { type OwnListing, refusedBy } from '../provider.ts'
import { unavailableReason } from './circuit-breaker.ts'
import type { ProviderKey, Source, SourceRow } from './source-rows.ts'

/** Maximum age of the known listings of our own addresses, ms. */
const LISTINGS_MAX_AGE_MS = 15 * 60_000
/** A listing that its blacklist has not confirmed for this long is dropped, ms. */
const UNCONFIRMED_MAX_AGE_MS = 24 * 60 * 60_000
const REFRESH_MS = 60_000
/** Maximum number of addresses and proxies whose listings are watched. */
const MAX_WATCHED = 64
const LOOKUPS_AT_ONCE = 4

export type SourcePool = ReturnType<typeof sourcePool>

/** The answer of one blacklist about an address; `unknown`: it did not answer. */
export type ListingAnswer = OwnListing & { readonly status: 'listed' | 'not_listed' | 'unknown' }

export type SourcePoolOptions = {
  readonly now: () => number
  /** Reads the operator's pool; undefined: none is configured. Throws AppError if a file of it cannot be used. */
  readonly read: (() => readonly PoolEntry[]) | undefined
  /** This machine's own public addresses: the pool if none is configured. */
  readonly ownAddresses: () => readonly Ip[]
  readonly proxies: Pick<Proxies, 'use' | 'known' | 'examine'>
  /** Queries every blacklist about an address. Does not reject for faults of the DNS. */
  readonly lookup: (address: Ip, signal: AbortSignal) => Promise<readonly ListingAnswer[]>
}

/** The listings of one address by blacklist; undefined: the blacklist answered that it does not list it. */
type Answers = Map<string, { readonly listing: OwnListing | undefined; readonly atMs: number }>

/** The source pool of a process. Throws AppError if the configured pool cannot be read. */
export function sourcePool({ now, read, ownAddresses, proxies, lookup }: SourcePoolOptions) {
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
  /** Those that are addresses of this machine. */
  const addresses = (): readonly Ip[] => all().flatMap((source) => addressOf(source) ?? [])
  /** The exit address: the address itself, or the one of a proxy; undefined: not known, or a node. */
  const leavesFrom = (source: SourceName): Exit | undefined => {
    const address = addressOf(source)
    if (address !== undefined) return { address, by: 'machine' }
    return isProxy(source) ? proxies.known(source).exit : undefined
  }

  async function lookUp(signal: AbortSignal): Promise<void> {
    const startedAtMs = now()
    const sources = all().slice(0, MAX_WATCHED)
    const faults: unknown[] = []
    const onFault = (error: unknown): void => {
      if (!signal.aborted) faults.push(error)
    }
    const proxied = sources.filter(isProxy)
    if (proxied.length > 0)
      await eachAlone(
        LOOKUPS_AT_ONCE,
        proxied,
        async (proxy) => signal.aborted || proxies.examine(proxy, signal),
        onFault,
      )
    const watched = [...new Set(sources.flatMap((source) => leavesFrom(source)?.address ?? []))]
    for (const address of answers.keys()) if (!watched.includes(address)) answers.delete(address)
    const lookUpOne = async (address: Ip): Promise<void> => {
      if (!signal.aborted) note(address, await lookup(address, signal))
    }
    await eachAlone(LOOKUPS_AT_ONCE, watched, lookUpOne, onFault)
    if (!signal.aborted) refreshedAtMs = startedAtMs
    if (faults.length > 0) throw faults[0]
  }

  /** A blacklist that did not answer keeps its earlier result. */
  function note(address: Ip, said: readonly ListingAnswer[]): void {
    const known: Answers = answers.get(address) ?? new Map()
    for (const { blacklist, meaning, status } of said) {
      if (status === 'unknown') continue
      known.set(blacklist, { listing: status === 'listed' ? { blacklist, meaning } : undefined, atMs: now() })
    }
    if (known.size > 0) answers.set(address, known)
  }

  /**
   * The listings of the exit address, by the last answer of each blacklist; undefined: no blacklist has answered yet.
   */
  function listings(source: SourceName): readonly OwnListing[] | undefined {
    const address = leavesFrom(source)?.address
    const known = address && answers.get(address)
    const recent = [...(known?.values() ?? [])].filter(({ atMs }) => atMs > now() - UNCONFIRMED_MAX_AGE_MS)
    return recent.length === 0 ? undefined : recent.flatMap(({ listing }) => listing ?? [])
  }

  return {
    /** Whether the operator named them; otherwise they are this machine's own public addresses. */
    isConfigured: read !== undefined,
    /** All of them, in their order. */
    sources: all,
    addresses,
    leavesFrom,
    /** Determines the exit address of a proxy, and what makes it unusable. Rejects only with the signal's reason. */
    examine: async (source: SourceName, signal: AbortSignal): Promise<ProxyState> =>
      isProxy(source) ? proxies.examine(source, signal) : {},
    /** Reads the files of the pool again. Throws AppError if one cannot be used; the pool then stays unchanged. */
    reload: (): void => {
      configured = readAll()
      refreshedAtMs = Number.NEGATIVE_INFINITY
    },
    /**
     * Looks up the listings of the addresses if they are older than 15 minutes. Returns when that is done or `signal`
     * fires, whichever is first. A refresh that was cut short does not count, and the next caller starts it again.
     */
    refresh: async (signal: AbortSignal): Promise<void> => {
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
    /** Why a source is not used toward a provider. */
    refusedBy: (source: SourceName, provider: string) =>
      (isProxy(source) ? proxies.known(source).lie : undefined) ?? refusedBy(listings(source) ?? [], provider),
  }
}

/** The state of one source address. */
export type PoolRow = {
  /** Undefined: the system's choice. */
  readonly address: Source
  /** Whether it belongs to the configured pool. */
  readonly configured: boolean
  readonly providers: readonly {
    readonly provider: ProviderKey
    readonly breaker: 'closed' | 'open' | 'half_open'
    /** Why it is not used toward this provider now. */
    readonly pausedReason?: string
    readonly pausedUntilMs?: number
    readonly perMinute: number
    readonly successes: number
    readonly refusals: number
    readonly lastRefusal?: { readonly reason: string; readonly text: string; readonly atMs: number }
    readonly lastUsedMs: number
    readonly latencyMs: number
  }[]
}

/**
 * One row per address: those of the pool first, in their order, then others that were used. At most 100 providers each,
 * the latest used first.
 */
export function poolStatus(
  pool: readonly SourceName[],
  rows: readonly SourceRow[],
  now: number,
  listed: (source: SourceName, provider: ProviderKey) => string | undefined = () => undefined,
): readonly PoolRow[] {
  const addresses = [...new Set<Source>([...pool, ...rows.map(({ source }) => source)])]
  return addresses.map((address) => ({
    address,
    configured: address === undefined ? pool.length === 0 : pool.includes(address),
    providers: rows
      .filter(({ source }) => source === address)
      .toSorted((a, b) => b.state.lastUsedMs - a.state.lastUsedMs)
      .slice(0, 100)
      .map((row) => providerRow(row, now, listed)),
  }))
}

function providerRow(
  { source, provider, state }: SourceRow,
  now: number,
  listed: (source: SourceName, provider: ProviderKey) => string | undefined,
): PoolRow['providers'][number] {
  const pausedReason = (source === undefined ? undefined : listed(source, provider)) ?? unavailableReason(state, now)
  const { breaker, pausedUntilMs, perMinute, successes, refusals, lastRefusal, lastUsedMs, latencyMs } = state
  return {
    provider,
    breaker,
    ...(pausedReason !== undefined && { pausedReason }),
    ...(pausedUntilMs > now && { pausedUntilMs }),
    perMinute,
    successes,
    refusals,
    ...(lastRefusal && { lastRefusal }),
    lastUsedMs,
    latencyMs,
  }
}
