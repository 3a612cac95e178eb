import type { Cidr } from '../../src/names/cidr.ts'
import { ip } from '../../src/names/ip.ts'
import { dnsClient } from '../../src/net/dns/client.ts'
import type { RecordType, Resolve } from '../../src/net/dns/resolver.ts'
import { cached, limited, merged } from '../../src/net/dns/wrap.ts'
import { guard } from '../../src/net/public-only.ts'
import { tcpDial } from '../../src/net/smtp/tcp-dial.ts'
import type { World } from '../../src/world.ts'
import { labStore, labWorld } from '../lab/world.ts'
import { RESOLVER } from './addresses.ts'

/** A world with real DNS and real mail hosts for a verifier in this process, and how to let go of it. */
export type InProcess = { readonly world: World; readonly close: () => void }

/**
 * The parts of the program beneath its operations, put together as the program does. `allowed`: private networks that
 * may be dialled.
 */
export function inProcess(allowed: readonly Cidr[] = []): InProcess {
  const now = (): number => Date.now()
  const client = dnsClient({ servers: [{ ip: ip(RESOLVER), port: 53 }], trustAd: true, random: Math.random })
  const uncached = merged(limited(client.resolve, 5_000))
  const resolve = cached(uncached, { now, maxEntries: 100_000, maxBytes: 32 * 1024 * 1024 })
  const dial = tcpDial({ reachable: guard({ allowed }) })
  const world = labWorld({}, { resolve, dial, now, random: Math.random, store: labStore() })
  return { world, close: client.close }
}

/** The same DNS, in which no name has records of a type. */
export const without =
  (resolve: Resolve, hidden: RecordType | undefined): Resolve =>
  async (name, type, signal, options) => {
    const answer = await resolve(name, type, signal, options)
    return type === hidden && answer.kind === 'found' ? { ...answer, kind: 'nodata', records: [] } : answer
  }
