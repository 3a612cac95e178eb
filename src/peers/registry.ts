import { randomBytes } from 'node:crypto'
import { raced, within } from '../base/deadline.ts'
import type { JsonRecord } from '../base/json.ts'
import { fromWall, stepMs, toWall } from '../base/time.ts'
import type { PeerCall, PeerReply } from '../net/peer-call.ts'
import type { World } from '../world.ts'
import { type Capability, MAX_PEERS, type Peer } from './peer.ts'
import {
  applyEvent,
  applyTold,
  choosePeers,
  type NewPeer,
  type PeerChange,
  type PeerEvent,
  type Peers,
} from './peers.ts'
import { type Call, formatProof } from './proof.ts'
import { peersById, presentPeer, type ReadPeer, readPeers } from './record.ts'

/** This node as others see it. Without a URL it cannot be called, and is not listed. */
export type Self = {
  readonly id: string
  readonly url: string | undefined
  readonly name: string
  readonly region: string
  readonly addresses: () => NewPeer['addresses']
  readonly version: string
}

export type PeerRegistryOptions = Pick<World, 'now' | 'monotonic' | 'random' | 'store' | 'log'> & {
  readonly self: Self
  readonly secret: string | undefined
  /** A lease, ms. */
  readonly ttlMs: number
  readonly call: PeerCall
  /** Other nodes write to the same store: it is read again, and contains this node too. */
  readonly isShared?: boolean
}

/** Maximum age of the content of a shared store, ms. */
const SHARED_AGE_MS = 1_000
/** Time limit of a shared store, ms. */
const SHARED_WAIT_MS = 1_000

/** The nodes that this one knows, kept across restarts, and the calls to them. */
export type PeerRegistry = ReturnType<typeof peerRegistry>

/** Maximum size of a node's answer, bytes. */
const MAX_ANSWER = 2 * 1024 * 1024

/** The list of nodes of one node. Its content is read from the store with the first use. */
export function peerRegistry(options: PeerRegistryOptions) {
  const { now, monotonic, random, store, log, self, ttlMs, secret, isShared = false } = options
  let loading: Promise<void> | undefined
  let loadedAtMs = Number.NEGATIVE_INFINITY
  let isAway = false
  let peers: Peers = new Map()
  let stored: Peers = peers
  const clocks = { now, monotonic }
  const moment = () => ({ nowMs: monotonic(), ttlMs })
  /**
   * The peer as it is sent and stored: the times kept here are of the monotonic clock, so a step of the system clock
   * ends no lease.
   */
  const asTold = (peer: Peer): Peer => (stepMs(clocks) === 0 ? peer : moved(peer, (ms) => toWall(clocks, ms)))

  /** A shared store may be unavailable: it is waited for only briefly, because the known nodes are enough. */
  const listed = () => {
    const rows = store.peers.list({ limit: MAX_PEERS })
    return isShared ? raced(within(SHARED_WAIT_MS), rows) : rows
  }

  /** Loads the stored peers once. While they cannot be read, the known nodes are enough; the next call tries again. */
  function load(maxAgeMs = SHARED_AGE_MS): Promise<void> {
    if (isShared && monotonic() - loadedAtMs >= maxAgeMs) loading = undefined
    if (loading === undefined) loadedAtMs = monotonic()
    loading ??= listed().then(
      async (rows) => {
        const read = await readPeers(rows.map(({ value }) => value))
        stored = peersById(
          read.map(({ peer, status }) => ({ peer: moved(peer, (ms) => fromWall(clocks, ms)), status })),
        )
        peers = isShared ? stored : new Map([...stored, ...peers])
        isAway = false
      },
      (error: unknown) => {
        loading = undefined
        if (!isAway || !isShared) log.warn('the stored peers could not be read', { error: String(error) })
        isAway = true
      },
    )
    return loading
  }

  /** Stores what has changed since the last time. A failed write is repeated with the next change. */
  async function keep(): Promise<void> {
    const [before, current] = [stored, peers]
    stored = current
    const changed = [...current.values()].filter((peer) => before.get(peer.id) !== peer)
    const gone = [...before.keys()].filter((id) => !current.has(id))
    try {
      await store.peers.putAll(
        changed.map((peer) => ({ key: peer.id, value: presentPeer(asTold(peer), { nowMs: now(), ttlMs }, undefined) })),
      )
      await Promise.all(gone.map((id) => store.peers.delete(id)))
    } catch (error) {
      stored = before
      log.warn('the peers could not be stored', { error: String(error) })
    }
  }

  function change(event: PeerEvent): PeerChange {
    const changed = applyEvent(peers, event, moment())
    peers = changed.peers
    return changed
  }

  async function apply(event: PeerEvent): Promise<PeerChange> {
    await load(0)
    const changed = change(event)
    await keep()
    return 'peer' in changed ? { ...changed, peer: asTold(changed.peer) } : changed
  }

  /**
   * Takes over the alive nodes that another node knows, with the times by our monotonic clock; this node is left out,
   * and so is one that would take another's id or URL.
   */
  async function learn(told: readonly ReadPeer[]): Promise<void> {
    await load()
    const others = told.filter(({ peer, status }) => status === 'alive' && peer.id !== self.id && peer.url !== self.url)
    peers = applyTold(
      peers,
      others.map(({ peer }) => peer),
      moment(),
    )
    if (others.length > 0) await keep()
  }

  function proven(
    method: 'GET' | 'POST',
    peer: Pick<Peer, 'url'>,
    path: string,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<PeerReply> {
    const call = { method, origin: peer.url, path, body: body ?? '' }
    const headers = proofHeaders(call, { id: self.id, secret, nowMs: now() })
    const sent = body === undefined ? {} : { body }
    return options.call({ method, url: `${peer.url}${path}`, headers, ...sent, maxBytes: MAX_ANSWER }, signal)
  }

  return {
    self,
    ttlMs,
    /** Whether the nodes share one list in a database. */
    isShared,
    all: async (): Promise<Peers> => {
      await load()
      return stepMs(clocks) === 0 ? peers : new Map([...peers].map(([id, peer]) => [id, asTold(peer)]))
    },
    apply,
    learn,
    /** Nodes that are alive and have the capability, the least loaded first. */
    choose: async (capability: Capability): Promise<readonly Peer[]> => {
      await load()
      return choosePeers(peers, capability, moment(), random)
        .filter(({ id }) => id !== self.id)
        .map(asTold)
    },
    /** GET of a path with its query, signed with the secret. Rejects with FetchError. */
    ask: (peer: Pick<Peer, 'url'>, path: string, signal: AbortSignal) => proven('GET', peer, path, undefined, signal),
    /** POST of JSON to a path, signed with the secret. Rejects with FetchError. */
    tell: (peer: Pick<Peer, 'url'>, path: string, body: JsonRecord, signal: AbortSignal) =>
      proven('POST', peer, path, JSON.stringify(body), signal),
  }
}

/** A peer whose times are converted to another clock. */
const moved = (peer: Peer, to: (ms: number) => number): Peer => ({
  ...peer,
  registeredAtMs: to(peer.registeredAtMs),
  lastSeenAtMs: to(peer.lastSeenAtMs),
})

/** The header that signs a call; undefined without a secret. */
export function proofHeaders(
  call: Call,
  by: { readonly id: string; readonly secret: string | undefined; readonly nowMs: number },
): Readonly<Record<string, string>> {
  if (by.secret === undefined) return {}
  const nonce = randomBytes(18).toString('base64url')
  return { authorization: formatProof(call, { id: by.id, nonce, nowMs: by.nowMs }, by.secret) }
}
