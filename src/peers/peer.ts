import type { Ip } from '../names/ip.ts'

export const CAPABILITIES = ['verify', 'check', 'blacklist'] as const
export type Capability = (typeof CAPABILITIES)[number]
export type Load = { readonly active: number; readonly capacity: number }

/** `alive`: heard of within its lease; `suspect`: silent for up to three leases; `dead`: silent for longer. */
export type PeerStatus = 'alive' | 'suspect' | 'dead'

/** A node of the cluster as this one knows it. */
export type Peer = {
  readonly id: string
  /** Origin that it is reached at, without a trailing slash. */
  readonly url: string
  readonly name: string
  readonly region: string
  /** Source addresses that it verifies from; at most {@link MAX_ADDRESSES}. */
  readonly addresses: readonly Ip[]
  readonly version: string
  readonly capabilities: readonly Capability[]
  readonly load: Load | undefined
  readonly registeredAtMs: number
  readonly lastSeenAtMs: number
}

/** Leases of silence after which a peer is dead. */
export const DEAD_AFTER_LEASES = 3
/** Silence after which a dead peer is forgotten, ms. */
export const FORGET_AFTER_MS = 24 * 3_600_000
export const MAX_PEERS = 1_000
/** Maximum number of nodes with the same host name or address, so that one machine cannot fill the registry. */
export const MAX_PER_HOST = 16
export const MAX_ADDRESSES = 256

/** The status of a peer by the time since it was last heard of; a lease is `ttlMs`. */
export function statusOf(peer: Pick<Peer, 'lastSeenAtMs'>, nowMs: number, ttlMs: number): PeerStatus {
  const silentMs = nowMs - peer.lastSeenAtMs
  if (silentMs <= ttlMs) return 'alive'
  return silentMs <= DEAD_AFTER_LEASES * ttlMs ? 'suspect' : 'dead'
}
