import { atMost } from '../../base/at-most.ts'
import type { Ip } from '../../names/ip.ts'
import { type OwnListing, refusedBy } from '../provider/blacklists.ts'

/** How old the known listings of our own addresses may be, ms. */
const LISTINGS_MAX_AGE_MS = 15 * 60_000
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
  /** Looks the listings of the addresses up when what is known is older than 15 minutes. */
  readonly refresh: (signal: AbortSignal) => Promise<void>
  /** The listings last seen; undefined: not known yet. */
  readonly listings: (address: Ip) => readonly OwnListing[] | undefined
  /** Why an address is not used toward a provider. */
  readonly refusedBy: (address: Ip, provider: string) => string | undefined
}

export type SourcePoolOptions = {
  readonly now: () => number
  /** Reads the operator's pool; undefined: none is configured. Throws AppError when a file of it cannot be used. */
  readonly read: (() => readonly Ip[]) | undefined
  /** This machine's own public addresses: the pool when none is configured. */
  readonly ownAddresses: () => readonly Ip[]
  /** Looks an address up on the blacklists. */
  readonly lookupListings: (address: Ip, signal: AbortSignal) => Promise<readonly OwnListing[]>
}

/** The source pool of a process. Throws AppError when the configured pool cannot be read. */
export function sourcePool({ now, read, ownAddresses, lookupListings }: SourcePoolOptions): SourcePool {
  let configured = read?.()
  let seen = new Map<Ip, readonly OwnListing[]>()
  let seenAtMs = Number.NEGATIVE_INFINITY

  const addresses = (): readonly Ip[] => configured ?? ownAddresses()

  async function lookUp(signal: AbortSignal): Promise<void> {
    seenAtMs = now()
    const watched = addresses().slice(0, MAX_WATCHED)
    const lookup = async (address: Ip) => [address, await lookupListings(address, signal)] as const
    seen = new Map(await atMost(LOOKUPS_AT_ONCE, watched, lookup))
  }
  return {
    isConfigured: read !== undefined,
    addresses,
    reload: () => {
      configured = read?.()
      seenAtMs = Number.NEGATIVE_INFINITY
    },
    refresh: async (signal) => {
      if (now() - seenAtMs >= LISTINGS_MAX_AGE_MS) await lookUp(signal)
    },
    listings: (address) => seen.get(address),
    refusedBy: (address, provider) => refusedBy(seen.get(address) ?? [], provider),
  }
}
