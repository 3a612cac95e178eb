import { randomUUID } from 'node:crypto'
import { getCACertificates } from 'node:tls'
import type { Config } from '../config.ts'
import { contains } from '../names/cidr.ts'
import type { Ip } from '../names/ip.ts'
import { ownPublicAddresses } from '../net/local-addresses.ts'
import { mayDial, peerCaller } from '../net/peer-call.ts'
import { guard } from '../net/public-only.ts'
import { MAX_ADDRESSES } from '../peers/peer.ts'
import { type PeerRoom, peerRoom, type Self } from '../peers/room.ts'
import type { World } from '../world.ts'

/** The room of the nodes, and the rule about which of them may be called. */
export async function createPeers(
  config: Config,
  world: World,
  version: string,
): Promise<{ readonly peers: PeerRoom; readonly mayCall: (url: URL, address: Ip) => boolean }> {
  const rules = {
    reachable: guard({ allowed: config.allowNetworks }),
    plain: (address: Ip): boolean => config.allowNetworks.some((network) => contains(network, address)),
  }
  const call = peerCaller({
    ...rules,
    resolve: world.resolve,
    ca: getCACertificates('extra'),
    userAgent: `mailsonde/${version}`,
  })
  const self = await selfOf(config, world, version)
  const { peerSecret: secret, peerTtl: ttlMs } = config
  const peers = peerRoom({ now: world.now, random: world.random, store: world.store, self, secret, ttlMs, call })
  return { peers, mayCall: (url, address) => mayDial(rules, url, address) }
}

async function selfOf(config: Config, { store }: World, version: string): Promise<Self> {
  const id = config.nodeId ?? (await keptId(store))
  return {
    id,
    url: config.nodeUrl === undefined ? undefined : new URL(config.nodeUrl).origin,
    name: id,
    region: config.region,
    addresses: () => (config.pool.length > 0 ? config.pool : ownPublicAddresses()).slice(0, MAX_ADDRESSES),
    version,
  }
}

/** The id that was made at the first start, so that a restart is the same node. */
async function keptId(store: World['store']): Promise<string> {
  const kept = await store.get('node-id')
  if (typeof kept === 'string') return kept
  const made = randomUUID()
  await store.set('node-id', made)
  return made
}
