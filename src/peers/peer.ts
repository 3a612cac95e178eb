import type { Ip } from '../names/ip.ts'

export const CAPABILITIES = ['verify', 'check', 'blacklist'] as const
export type Capability = (typeof CAPABILITIES)[number]
export type Load = { readonly active: number; readonly capacity: number }

/** `alive`: a heartbeat within its lease; `suspect`: none for up to three leases; `dead`: none for longer. */
export type PeerStatus = 'alive' | 'suspect' | 'dead'

/** A node of the cluster as known to this one. */
export type Peer = {
  readonly id: string
  /** The origin of its URL, without a final slash. */
  readonly url: string
  readonly name: string
  readonly region: string
  /** Its source addresses for verification; at most {@link MAX_ADDRESSES}. */
  readonly addresses: readonly Ip[]
  readonly version: string
  readonly capabilities: readonly Capability[]
  readonly load: Load | undefined
  readonly registeredAtMs: number
  readonly lastSeenAtMs: number
}

/** Number of leases without a heartbeat after which a peer is dead. */
export const DEAD_AFTER_LEASES = 3
/** Time without a heartbeat after which a dead peer is removed, ms. */
export const FORGET_AFTER_MS = 24 * 3_600_000
export const MAX_PEERS = 1_000
/** Maximum number of nodes with the same host name or address, so that one machine cannot fill the registry. */
export const MAX_PER_HOST = 16
/** Maximum number of addresses of a node. */
export const MAX_ADDRESSES = 256

/** The status of a peer by the time since its last heartbeat; a lease is `ttlMs`. */
export function statusOf(peer: Pick<Peer, 'lastSeenAtMs'>, nowMs: number, ttlMs: number): PeerStatus {
  const silentMs = nowMs - peer.lastSeenAtMs
  if (silentMs <= ttlMs) return 'alive'
  return silentMs <= DEAD_AFTER_LEASES * ttlMs ? 'suspect' : 'dead'
}
