import { randomUUID } from 'node:crypto'
import tls from 'node:tls'
import type { Config } from '../config.ts'
import { contains } from '../names/cidr.ts'
import type { Ip } from '../names/ip.ts'
import { isPublic, rangeOf } from '../names/ip-range.ts'
import { mayDial } from '../net/guarded-request.ts'
import { peerCaller } from '../net/peer-call.ts'
import { guard } from '../net/public-only.ts'
import type { Deps } from '../operations/deps.ts'
import { keepAnnounced, keepJoined } from '../peers/join.ts'
import { type Load, MAX_ADDRESSES } from '../peers/peer.ts'
import { type PeerRegistry, peerRegistry, type Self } from '../peers/registry.ts'
import { type Repository, StoreError } from '../store/contract.ts'
import type { World } from '../world.ts'
import { optionError } from './problems.ts'
import type { Outside } from './world.ts'

/** The list of the other nodes, and the rule about which of them may be called. */
export async function createPeers(
  config: Config,
  { world, version, shared }: { readonly world: World; readonly version: string; readonly shared?: Repository },
  addresses: () => readonly Ip[],
): Promise<{ readonly peers: PeerRegistry; readonly mayCall: (url: URL, address: Ip) => boolean }> {
  const rules = {
    reachable: guard({ allowed: config.allowNetworks }),
    plain: (address: Ip): boolean => config.allowNetworks.some((network) => contains(network, address)),
  }
  const call = peerCaller({ ...rules, ...callsOf({ world, version }) })
  const self = await selfOf(config, world, { version, addresses })
  const { peerSecret: secret, peerTtl: ttlMs } = config
  const peers = peerRegistry({
    now: world.now,
    monotonic: world.monotonic,
    random: world.random,
    store: shared ? { ...world.store, peers: shared } : world.store,
    isShared: shared !== undefined,
    log: world.log,
    self,
    secret,
    ttlMs,
    call,
  })
  return { peers, mayCall: (url, address) => mayDial(rules, url, address) }
}

/**
 * Starts joining the nodes of --join. The operator named them, so loopback addresses are allowed too, with plain HTTP.
 * Ends when `signal` fires. Throws AppError without --node-url.
 */
export function startJoining(
  config: Config,
  { world, version }: Outside,
  { peers }: Pick<Deps, 'peers'>,
  { load, signal }: { readonly load: () => Load; readonly signal: AbortSignal },
): void {
  const { random, log, now, monotonic } = world
  if (peers.isShared) void keepAnnounced({ peers, load, random, log }, signal)
  if (config.join.length === 0) return
  if (peers.self.url === undefined) throw optionError('join')
  const allowed = (address: Ip): boolean => config.allowNetworks.some((network) => contains(network, address))
  const isLoopback = (address: Ip): boolean => rangeOf(address) === 'loopback'
  const call = peerCaller({
    ...callsOf({ world, version }),
    reachable: (address) => isPublic(address) || allowed(address) || isLoopback(address),
    plain: (address) => allowed(address) || isLoopback(address),
  })
  for (const url of config.join)
    void keepJoined(
      { url: new URL(url).origin, peers, secret: config.peerSecret, call, load, now, monotonic, random, log },
      signal,
    )
}

const callsOf = ({ world, version }: Pick<Outside, 'world' | 'version'>) => ({
  resolve: world.resolve,
  ca: tls.getCACertificates('extra'),
  userAgent: `mailsonde/${version}`,
})

async function selfOf(
  config: Config,
  { store, log }: World,
  { version, addresses }: Pick<Self, 'version' | 'addresses'>,
): Promise<Self> {
  const id = config.nodeId ?? (await keptId(store, log))
  return {
    id,
    url: config.nodeUrl === undefined ? undefined : new URL(config.nodeUrl).origin,
    name: id,
    region: config.region,
    addresses: () => addresses().slice(0, MAX_ADDRESSES),
    version,
  }
}

/**
 * The id that was generated with the first start, so that a restarted node keeps its id. If it cannot be read or
 * stored, the node has another one until it stops.
 */
async function keptId({ node }: World['store'], log: World['log']): Promise<string> {
  const made = randomUUID()
  try {
    const kept = (await node.get('id'))?.value
    if (typeof kept === 'string') return kept
    if (await node.add('id', made)) return made
    return String((await node.get('id'))?.value ?? made) // another process was faster
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    log.warn('the id of this node could not be read; it has another one until it stops', { reason: error.message })
    return made
  }
}
