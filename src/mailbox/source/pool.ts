import { atMost } from '../../base/at-most.ts'
import { within } from '../../base/deadline.ts'
import { sharedWork } from '../../base/share-work.ts'
import type { Ip } from '../../names/ip.ts'
import { type OwnListing, refusedBy } from '../provider/blacklists.ts'

/** How old the known listings of our own addresses may be, ms. */
const LISTINGS_MAX_AGE_MS = 15 * 60_000
/** A listing that its blacklist has not confirmed for this long is dropped, ms. */
const UNCONFIRMED_MAX_AGE_MS = 24 * 60 * 60_000
/** The longest refresh, ms. */
const REFRESH_MS = 60_000
/** Addresses whose listings are watched. */
const MAX_WATCHED = 64
const LOOKUPS_AT_ONCE = 4

/** The source addresses of verification. */
export type SourcePool = {
  /** Whether the operator has named them; else they are this machine's own public addresses. */
  readonly isConfigured: boolean
  readonly addresses: () => readonly Ip[]
  /** Reads the files of the pool again. Throws AppError when one cannot be used; the pool then stays as it was. */
  readonly reload: () => void
  /**
   * Looks the listings of the addresses up when what is known is older than 15 minutes. Returns when that is done or `signal` fires, whichever is first;
   * a refresh that was cut short counts for nothing, and the next caller begins it again.
   */
  readonly refresh: (signal: AbortSignal) => Promise<void>
  /** The listings by the last answer of each blacklist; undefined: no blacklist has answered yet. */
  readonly listings: (address: Ip) => readonly OwnListing[] | undefined
  /** Why an address is not used toward a provider. */
  readonly refusedBy: (address: Ip, provider: string) => string | undefined
}

/** What one blacklist says of an address; `unknown`: it did not answer. */
export type ListingAnswer = OwnListing & { readonly status: 'listed' | 'not_listed' | 'unknown' }

export type SourcePoolOptions = {
  readonly now: () => number
  /** Reads the operator's pool; undefined: none is configured. Throws AppError when a file of it cannot be used. */
  readonly read: (() => readonly Ip[]) | undefined
  /** This machine's own public addresses: the pool when none is configured. */
  readonly ownAddresses: () => readonly Ip[]
  /** Asks every blacklist about an address. Does not reject for faults of the DNS. */
  readonly lookup: (address: Ip, signal: AbortSignal) => Promise<readonly ListingAnswer[]>
}

/** The listings of one address by blacklist; undefined: the blacklist answered that it does not list it. */
type Answers = Map<string, { readonly listing: OwnListing | undefined; readonly atMs: number }>

/** The source pool of a process. Throws AppError when the configured pool cannot be read. */
export function sourcePool({ now, read, ownAddresses, lookup }: SourcePoolOptions): SourcePool {
  let configured = read?.()
  const answers = new Map<Ip, Answers>() // at most MAX_WATCHED
  const shared = sharedWork<void>()
  let refreshedAtMs = Number.NEGATIVE_INFINITY

  const addresses = (): readonly Ip[] => configured ?? ownAddresses()

  async function lookUp(signal: AbortSignal): Promise<void> {
    const startedAtMs = now()
    const watched = addresses().slice(0, MAX_WATCHED)
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

  function listings(address: Ip): readonly OwnListing[] | undefined {
    const known = answers.get(address)
    const recent = [...(known?.values() ?? [])].filter(({ atMs }) => atMs > now() - UNCONFIRMED_MAX_AGE_MS)
    return recent.length === 0 ? undefined : recent.flatMap(({ listing }) => listing ?? [])
  }

  return {
    isConfigured: read !== undefined,
    addresses,
    reload: () => {
      configured = read?.()
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
    refusedBy: (address, provider) => refusedBy(listings(address) ?? [], provider),
  }
}
