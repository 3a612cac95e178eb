import { atMost } from '../base/at-most.ts'
import { AppError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { readPool } from '../config-options.ts'
import type { Blacklists } from '../dnsbl/blacklists.ts'
import { type OwnListing, refusedBy } from '../mailbox/provider/blacklists.ts'
import type { Ip } from '../names/ip.ts'
import { ownPublicAddresses } from '../net/local-addresses.ts'
import type { SourcePool } from '../operations/deps.ts'
import type { World } from '../world.ts'

/** How old what is known of the listings of our own addresses may be, ms. */
const LISTINGS_MS = 15 * 60_000
/** Addresses whose listings are watched. */
const MAX_WATCHED = 64

/** The source addresses: those of `--pool`, else this machine's public ones. Files among them are read again by `reload`. */
export function createSourcePool(config: Config, world: World, blacklists: Blacklists): SourcePool {
  const isConfigured = config.pool.length > 0
  let configured: readonly Ip[] = isConfigured ? read(config.pool) : []
  let seen = new Map<Ip, readonly OwnListing[]>()
  let seenAtMs = Number.NEGATIVE_INFINITY

  const addresses = (): readonly Ip[] => (isConfigured ? configured : ownPublicAddresses())

  async function lookUp(signal: AbortSignal): Promise<void> {
    seenAtMs = world.now()
    const watched = addresses().slice(0, MAX_WATCHED)
    const listings = await atMost(
      4,
      watched,
      async (address) => [address, listingsIn(await blacklists.lookup({ ...world, signal }, address))] as const,
    )
    seen = new Map(listings)
  }
  return {
    isConfigured,
    addresses,
    reload: () => {
      if (isConfigured) configured = read(config.pool)
      seenAtMs = Number.NEGATIVE_INFINITY
    },
    refresh: async (signal) => {
      if (world.now() - seenAtMs >= LISTINGS_MS) await lookUp(signal)
    },
    listings: (address) => seen.get(address),
    refusedBy: (address, provider) => refusedBy(seen.get(address) ?? [], provider),
  }
}

const listingsIn = ({ entries }: Awaited<ReturnType<Blacklists['lookup']>>): readonly OwnListing[] =>
  entries.flatMap(({ list, reading }) =>
    reading.status === 'listed' ? [{ blacklist: list.name, meaning: reading.meaning[0] ?? '' }] : [],
  )

function read(texts: readonly string[]): readonly Ip[] {
  const pool = readPool(texts)
  if (!pool.ok) throw new AppError('invalid_parameter', `--pool: ${pool.problem}`)
  return pool.value
}
