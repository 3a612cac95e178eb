import type { Ip } from '../names/ip.ts'

export const CAPABILITIES = ['verify', 'check', 'blacklist'] as const
export type Capability = (typeof CAPABILITIES)[number]
export type Load = { readonly active: number; readonly capacity: number }

/** `alive`: heard of within its lease; `suspect`: the lease ran out; `dead`: it ran out three times over. */
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

/** A lease: a heartbeat is due within it. */
export const TTL_MS = 30_000
/** Silence after which a peer is dead. */
export const DEAD_AFTER_MS = 3 * TTL_MS
/** Silence after which a dead peer is forgotten. */
export const FORGET_AFTER_MS = 24 * 3_600_000
export const MAX_PEERS = 1_000
export const MAX_ADDRESSES = 256

export function statusOf(peer: Peer, nowMs: number): PeerStatus {
  const silentMs = nowMs - peer.lastSeenAtMs
  if (silentMs <= TTL_MS) return 'alive'
  return silentMs <= DEAD_AFTER_MS ? 'suspect' : 'dead'
}
