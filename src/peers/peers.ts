import type { Ip } from '../names/ip.ts'
import { FORGET_AFTER_MS, type Load, MAX_PEERS, type Peer, statusOf } from './peer.ts'

/** What a node says of itself when it registers. */
export type NewPeer = Omit<Peer, 'registeredAtMs' | 'lastSeenAtMs' | 'load'>

/** The peers that a node knows, by id. */
export type Peers = ReadonlyMap<string, Peer>

export type PeerEvent =
  | { readonly kind: 'register'; readonly peer: NewPeer }
  | { readonly kind: 'heartbeat'; readonly id: string; readonly load?: Load; readonly addresses?: readonly Ip[] }

/** When it happened, and the lease in force, both in ms. */
export type Moment = { readonly nowMs: number; readonly ttlMs: number }

/** What became of an event. `taken`: another URL holds that id and is not dead. */
export type PeerChange =
  | { readonly peers: Peers; readonly outcome: 'created' | 'renewed'; readonly peer: Peer }
  | { readonly peers: Peers; readonly outcome: 'unknown' | 'taken' | 'full' }

/**
 * The peers after an event. A node that registers again under its id and URL renews; under an id that another living URL holds it is
 * refused, so that nobody takes a node's place; the id of a dead node is free. Peers that were silent for a day are forgotten; at most 1,000 are kept.
 */
export function applyEvent(peers: Peers, event: PeerEvent, at: Moment): PeerChange {
  const { nowMs, ttlMs } = at
  const kept = new Map([...peers].filter(([, peer]) => nowMs - peer.lastSeenAtMs <= FORGET_AFTER_MS))
  if (event.kind === 'heartbeat') {
    const known = kept.get(event.id)
    if (!known) return { peers: kept, outcome: 'unknown' }
    const peer: Peer = {
      ...known,
      load: event.load ?? known.load,
      addresses: event.addresses ?? known.addresses,
      lastSeenAtMs: nowMs,
    }
    return { peers: kept.set(peer.id, peer), outcome: 'renewed', peer }
  }
  const known = kept.get(event.peer.id)
  if (known && known.url !== event.peer.url && statusOf(known, nowMs, ttlMs) !== 'dead')
    return { peers: kept, outcome: 'taken' }
  if (!known && kept.size >= MAX_PEERS) return { peers: kept, outcome: 'full' }
  const peer: Peer = {
    ...event.peer,
    load: known?.load,
    registeredAtMs: known?.registeredAtMs ?? nowMs,
    lastSeenAtMs: nowMs,
  }
  return { peers: kept.set(peer.id, peer), outcome: known ? 'renewed' : 'created', peer }
}

/** The peers that may be asked now, the least loaded first; those of an equal load in a random order. `random` gives 0 (included) to 1 (excluded). */
export function choosePeers(
  peers: Peers,
  capability: Peer['capabilities'][number],
  { nowMs, ttlMs }: Moment,
  random: () => number,
): Peer[] {
  return [...peers.values()]
    .filter((peer) => statusOf(peer, nowMs, ttlMs) === 'alive' && peer.capabilities.includes(capability))
    .map((peer) => ({
      peer,
      busy: peer.load ? peer.load.active / Math.max(1, peer.load.capacity) : 0,
      chance: random(),
    }))
    .filter(({ busy }) => busy < 1)
    .sort((a, b) => a.busy - b.busy || a.chance - b.chance)
    .map(({ peer }) => peer)
}
