import { AppError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { readPool } from '../config-options.ts'
import type { Blacklists } from '../dnsbl/blacklists.ts'
import { type SourcePool, type SourcePoolOptions, sourcePool } from '../mailbox/source/pool.ts'
import type { Ip } from '../names/ip.ts'
import { ownPublicAddresses } from '../net/local-addresses.ts'
import type { World } from '../world.ts'

/** The source addresses: those of `--pool`, else this machine's public ones. Throws AppError when `--pool` cannot be used. */
export const createSourcePool = (config: Config, world: World, blacklists: Blacklists): SourcePool =>
  sourcePool({
    now: world.now,
    read: config.pool.length > 0 ? () => read(config.pool) : undefined,
    ownAddresses: ownPublicAddresses,
    lookup: listingLookup(world, blacklists),
  })

/** What every blacklist says of an address of ours. */
export const listingLookup =
  (world: World, blacklists: Blacklists): SourcePoolOptions['lookup'] =>
  async (address, signal) => {
    const { entries } = await blacklists.lookup({ ...world, signal }, address)
    return entries.map(({ list, reading: { status, meaning } }) => ({
      blacklist: list.name,
      meaning: meaning[0] ?? '',
      status: status === 'listed' || status === 'not_listed' ? status : 'unknown',
    }))
  }

function read(texts: readonly string[]): readonly Ip[] {
  const pool = readPool(texts)
  if (!pool.ok) throw new AppError('invalid_parameter', `--pool: ${pool.problem}`)
  return pool.value
}
