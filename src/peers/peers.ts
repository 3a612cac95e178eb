import type { Ip } from '../names/ip.ts'
import { FORGET_AFTER_MS, type Load, MAX_PEERS, MAX_PER_HOST, type Peer, statusOf } from './peer.ts'

/** The data that a node registers. */
export type NewPeer = Omit<Peer, 'registeredAtMs' | 'lastSeenAtMs' | 'load'>

/** The peers that a node knows, by id. */
export type Peers = ReadonlyMap<string, Peer>

export type PeerEvent =
  | { readonly kind: 'register'; readonly peer: NewPeer }
  | { readonly kind: 'heartbeat'; readonly id: string; readonly load?: Load; readonly addresses?: readonly Ip[] }

/** The time of the event, and the present lease, both in ms. */
export type Moment = { readonly nowMs: number; readonly ttlMs: number }

/**
 * The result of an event. `taken`: another URL has that id and is not dead; `url_taken`: another id has that URL and is
 * not dead; `crowded`: 16 alive peers are known at that host; `full`: 1,000 alive peers are known.
 */
export type PeerChange =
  | { readonly peers: Peers; readonly outcome: 'created' | 'renewed'; readonly peer: Peer }
  | { readonly peers: Peers; readonly outcome: 'unknown' | Refusal }
type Refusal = 'taken' | 'url_taken' | 'crowded' | 'full'

/**
 * The peers after an event. A node that registers again under its id and URL renews its lease. Under an id of another
 * alive URL, or at a URL of another alive id, it is refused, so that nobody takes a node's place; those of a dead node
 * are free. Peers without a heartbeat for a day are removed, dead ones earlier if there is no room.
 */
export function applyEvent(peers: Peers, event: PeerEvent, at: Moment): PeerChange {
  const index = indexed(peers, at)
  const change = event.kind === 'heartbeat' ? heartbeat(index, event, at) : register(index, event.peer, at)
  if (typeof change === 'string') return { peers: index.byId, outcome: change }
  const known = peers.has(change.id)
  put(index, change)
  makeRoom(index)
  return { peers: index.byId, outcome: known ? 'renewed' : 'created', peer: change }
}

/**
 * The peers after another node reported those that it knows; `lastSeenAtMs` is the time of each node's last heartbeat
 * there, by our clock. A report never makes a peer younger than it is: times older than the known ones and dead peers
 * are ignored, so that two nodes that report a third to each other do not keep it alive.
 */
export function applyTold(peers: Peers, told: readonly Peer[], at: Moment): Peers {
  const index = indexed(peers, at)
  for (const peer of told) {
    const known = index.byId.get(peer.id)
    if (statusOf(peer, at.nowMs, at.ttlMs) === 'dead') continue
    if (known && peer.lastSeenAtMs <= known.lastSeenAtMs) continue
    if (refusalOf(index, peer, at) !== undefined) continue
    put(index, { ...peer, registeredAtMs: known?.registeredAtMs ?? at.nowMs })
    makeRoom(index)
  }
  return index.byId
}

/** The peers by id, by URL and counted by host, without those that had no heartbeat for a day. */
type Index = {
  readonly byId: Map<string, Peer>
  readonly idAt: Map<string, string>
  readonly hosts: Map<string, number>
}

function indexed(peers: Peers, { nowMs }: Moment): Index {
  const index: Index = { byId: new Map(), idAt: new Map(), hosts: new Map() }
  for (const peer of peers.values()) if (nowMs - peer.lastSeenAtMs <= FORGET_AFTER_MS) put(index, peer)
  return index
}

/** Replaces the peer with this id, and the one at this URL: a URL is one node. */
function put(index: Index, peer: Peer): void {
  const replaced = [index.byId.get(peer.id), index.byId.get(index.idAt.get(peer.url) ?? '')]
  for (const other of new Set(replaced)) if (other) remove(index, other, peer.id)
  index.byId.set(peer.id, peer)
  index.idAt.set(peer.url, peer.id)
  count(index, peer, 1)
}

function remove(index: Index, peer: Peer, keptId: string): void {
  if (peer.id !== keptId) index.byId.delete(peer.id) // the one with this id keeps its position in the order
  index.idAt.delete(peer.url)
  count(index, peer, -1)
}

const count = ({ hosts }: Index, { url }: Peer, by: number): void =>
  void hosts.set(hostOf(url), (hosts.get(hostOf(url)) ?? 0) + by)

const hostOf = (url: string): string => new URL(url).hostname

function heartbeat(
  { byId }: Index,
  { id, load, addresses }: PeerEvent & { readonly kind: 'heartbeat' },
  { nowMs }: Moment,
): Peer | 'unknown' {
  const known = byId.get(id)
  if (!known) return 'unknown'
  return { ...known, load: load ?? known.load, addresses: addresses ?? known.addresses, lastSeenAtMs: nowMs }
}

function register(index: Index, peer: NewPeer, at: Moment): Peer | Refusal {
  const known = index.byId.get(peer.id)
  const times = { registeredAtMs: known?.registeredAtMs ?? at.nowMs, lastSeenAtMs: at.nowMs }
  return refusalOf(index, peer, at) ?? { ...peer, load: known?.load, ...times }
}

function refusalOf(index: Index, { id, url }: NewPeer, { nowMs, ttlMs }: Moment): Refusal | undefined {
  const isLiving = (peer: Peer): boolean => statusOf(peer, nowMs, ttlMs) !== 'dead'
  const known = index.byId.get(id)
  if (known?.url === url) return undefined
  if (known && isLiving(known)) return 'taken'
  const there = index.byId.get(index.idAt.get(url) ?? '')
  if (there && isLiving(there)) return 'url_taken'
  if (there) return undefined
  const living = (): readonly Peer[] => [...index.byId.values()].filter(isLiving)
  const host = hostOf(url)
  const isCrowded = (index.hosts.get(host) ?? 0) >= MAX_PER_HOST
  if (isCrowded && living().filter((peer) => hostOf(peer.url) === host).length >= MAX_PER_HOST) return 'crowded'
  return !known && index.byId.size >= MAX_PEERS && living().length >= MAX_PEERS ? 'full' : undefined
}

/** Makes room by removing the peer with the oldest heartbeat: it is dead, or {@link refusalOf} had refused. */
function makeRoom(index: Index): void {
  if (index.byId.size <= MAX_PEERS) return
  const oldest = [...index.byId.values()].reduce((a, b) => (b.lastSeenAtMs < a.lastSeenAtMs ? b : a))
  remove(index, oldest, '')
}

/**
 * The peers that may be called now, the least loaded first; those of equal load in a random order. `random` returns 0
 * (included) to 1 (excluded).
 */
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
      busy: peer.load ? Math.max(0, peer.load.active) / Math.max(1, peer.load.capacity) : 0,
      chance: random(),
    }))
    .filter(({ busy }) => busy < 1)
    .sort((a, b) => a.busy - b.busy || a.chance - b.chance)
    .map(({ peer }) => peer)
}
