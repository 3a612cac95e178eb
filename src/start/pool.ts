import { invalidFlag } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { readPool } from '../config-options.ts'
import type { Blacklists } from '../dnsbl/blacklists.ts'
import { type SourcePool, type SourcePoolOptions, sourcePool } from '../mailbox/source/pool.ts'
import type { PoolEntry } from '../names/source.ts'
import { ownPublicAddresses } from '../net/local-addresses.ts'
import { connectionOver } from '../net/smtp/tcp-dial.ts'
import { proxies } from '../net/socks/proxies.ts'
import type { World } from '../world.ts'
import type { Outside } from './world.ts'

/** Mail hosts that name the client's address in their reply to EHLO. */
const ECHO_HOSTS = ['gmail-smtp-in.l.google.com', 'outlook-com.olc.protection.outlook.com']

/**
 * The sources: those of `--pool`, otherwise this machine's public addresses. Throws AppError if `--pool` cannot be used.
 */
export function createSourcePool(
  config: Config,
  { world, dialByProxies }: Pick<Outside, 'world' | 'dialByProxies'>,
  blacklists: Blacklists,
): SourcePool {
  const named = proxies({
    resolve: world.resolve,
    now: world.monotonic,
    echoHosts: config.addressEcho.length > 0 ? config.addressEcho : ECHO_HOSTS,
    port: config.smtpPort,
    connectionOver: (socket, signal, seenAs) => connectionOver(socket, signal, noTls, seenAs),
  })
  dialByProxies(named.connect)
  return sourcePool({
    now: world.monotonic,
    read: config.pool.length > 0 ? () => read(config.pool) : undefined,
    ownAddresses: ownPublicAddresses,
    proxies: named,
    lookup: listingLookup(world, blacklists),
  })
}

const noTls = (): never => {
  throw new Error('an echo host is greeted without TLS')
}

/** The answers of every blacklist about one of our addresses. */
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

function read(texts: readonly string[]): readonly PoolEntry[] {
  const pool = readPool(texts)
  if (!pool.ok) throw invalidFlag('pool', pool.problem)
  return pool.value
}
