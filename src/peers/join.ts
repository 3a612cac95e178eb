import { sleep, within } from '../base/deadline.ts'
import { messageOf } from '../base/errors.ts'
import { isJsonRecord, type Json, type JsonRecord } from '../base/json.ts'
import { FetchError } from '../net/fetch.ts'
import type { PeerCall, PeerReply } from '../net/peer-call.ts'
import type { World } from '../world.ts'
import { CAPABILITIES, type Load, type Peer } from './peer.ts'
import { readPeers } from './record.ts'
import { type PeerRegistry, proofHeaders } from './registry.ts'

const CALL_MS = 10_000
/** The first delay after a failure and the longest, ms. */
const RETRY_MS = { first: 1_000, most: 60_000 }
/** Maximum size of a node's answer, bytes. */
const MAX_ANSWER = 2 * 1024 * 1024

type Joining = Pick<World, 'now' | 'monotonic' | 'random' | 'log'> & {
  /** Origin of the node at which to register. */
  readonly url: string
  readonly peers: PeerRegistry
  readonly secret: string | undefined
  readonly call: PeerCall
  readonly load: () => Load
}

/**
 * Registers at a node and sends heartbeats until `signal` fires: one every third of the node's lease, ± 20 %. Registers
 * again at a node that does not know this one (any more); retries one that does not answer after 1 s, 2 s, 4 s … up to
 * a lease, at most 60 s. Takes over the nodes that it knows. Never rejects.
 */
export async function keepJoined(joining: Joining, signal: AbortSignal): Promise<void> {
  const { log, url } = joining
  let isRegistered = false
  let waitMs = RETRY_MS.first
  let mostMs = RETRY_MS.most
  let said = ''
  while (!signal.aborted) {
    const turn = await oneTurn(joining, isRegistered, signal)
    if (signal.aborted) return
    isRegistered = turn.isRegistered
    const state = turn.problem ?? (isRegistered ? 'joined' : '')
    if (state !== '' && state !== said) {
      if (turn.problem === undefined) log.info('joined a node', { url })
      else log.warn('joining a node failed and will be retried', { url, reason: turn.problem })
      said = state
    }
    if (turn.ttlMs > 0) mostMs = Math.min(RETRY_MS.most, turn.ttlMs)
    const pauseMs = turn.problem === undefined ? turn.ttlMs / 3 : waitMs
    waitMs = turn.problem === undefined ? RETRY_MS.first : Math.min(waitMs * 2, mostMs)
    const restMs = isRegistered || turn.problem !== undefined ? jittered(pauseMs, joining.random()) : 0
    await sleep(restMs, signal).catch(() => {}) // it rejects only when the signal fires
  }
}

const jittered = (ms: number, chance: number): number => ms * (0.8 + 0.4 * chance)

type Turn = { readonly isRegistered: boolean; readonly ttlMs: number; readonly problem?: string }

/** Registers or sends one heartbeat, then takes over the nodes that the other one knows. */
async function oneTurn(joining: Joining, isRegistered: boolean, signal: AbortSignal): Promise<Turn> {
  try {
    const reply = isRegistered ? await heartbeat(joining, signal) : await register(joining, signal)
    // it was restarted: register at once
    if (isRegistered && reply.status === 404) return { isRegistered: false, ttlMs: 0 }
    const { ttl_ms, detail } = fields(reply.body)
    if (reply.status > 201 || typeof ttl_ms !== 'number')
      return {
        isRegistered: false,
        ttlMs: 0,
        problem: `status ${reply.status}: ${String(detail ?? '').slice(0, 200)}`,
      }
    await learn(joining, signal)
    return { isRegistered: true, ttlMs: Math.min(Math.max(ttl_ms, 1_000), 3_600_000) }
  } catch (error) {
    // Joining runs for the whole life of the service: a fault of ours is logged and retried like one of the other node.
    if (!(error instanceof FetchError)) joining.log.error('joining a node failed', { url: joining.url, err: error })
    return { isRegistered, ttlMs: 0, problem: messageOf(error) }
  }
}

const register = (joining: Joining, signal: AbortSignal): Promise<PeerReply> => {
  const { id, url, name, region, version, addresses } = joining.peers.self
  const said = {
    id,
    url: url!,
    name,
    ...(region === '' ? {} : { region }),
    addresses: addresses(),
    version,
    capabilities: CAPABILITIES,
  }
  return send(joining, 'POST', '/v1/peer/register', signal, said)
}

const heartbeat = (joining: Joining, signal: AbortSignal): Promise<PeerReply> => {
  const { id, addresses } = joining.peers.self
  return send(joining, 'POST', '/v1/peer/heartbeat', signal, { id, load: joining.load(), addresses: addresses() })
}

async function learn(joining: Joining, signal: AbortSignal): Promise<void> {
  const askedMs = joining.monotonic()
  const { status, body } = await send(joining, 'GET', '/v1/peer/peers', signal)
  if (status !== 200) return
  const { peers, node } = fields(body)
  const [teller] = await readPeers([node])
  const aheadMs = (teller?.peer.lastSeenAtMs ?? askedMs) - askedMs
  const told = [...(await readPeers(peers)), ...(teller ? [teller] : [])]
  await joining.peers.learn(told.map((one) => ({ ...one, peer: byOurClock(one.peer, aheadMs, askedMs) })))
}

/**
 * A peer whose times come from a clock that is `aheadMs` ahead of our monotonic one. The time of the request counts as
 * now, so a slow response makes nothing younger.
 */
const byOurClock = (peer: Peer, aheadMs: number, askedMs: number): Peer => ({
  ...peer,
  lastSeenAtMs: Math.min(peer.lastSeenAtMs - aheadMs, askedMs),
})

function send(
  { url, peers, secret, call, now }: Joining,
  method: 'GET' | 'POST',
  path: string,
  signal: AbortSignal,
  said?: Json,
): Promise<PeerReply> {
  const body = said === undefined ? undefined : JSON.stringify(said)
  const headers = proofHeaders(
    { method, origin: url, path, body: body ?? '' },
    { id: peers.self.id, secret, nowMs: now() },
  )
  const request = { method, url: `${url}${path}`, headers, maxBytes: MAX_ANSWER }
  return call({ ...request, ...(body === undefined ? {} : { body }) }, within(CALL_MS, signal))
}

const fields = (value: Json): JsonRecord => (isJsonRecord(value) ? value : {})

type Announcing = Pick<World, 'random' | 'log'> & { readonly peers: PeerRegistry; readonly load: () => Load }

/**
 * Registers this node in the shared list and renews its lease every third of it, ± 20 %, until `signal` fires: nodes on
 * one database need no --join. A node without a URL cannot be called and is not listed. Never rejects.
 */
export async function keepAnnounced({ peers, load, random, log }: Announcing, signal: AbortSignal): Promise<void> {
  const { id, url, name, region, version, addresses } = peers.self
  if (url === undefined) return
  let said = ''
  while (!signal.aborted) {
    const state = await announce().catch((error: unknown) => String(error))
    if (state !== said && state !== '') log.warn('this node is not in the shared list of nodes', { reason: state })
    said = state
    await sleep((peers.ttlMs / 3) * (0.8 + 0.4 * random()), signal).catch(() => {})
  }

  /** Why it failed; empty if it succeeded. */
  async function announce(): Promise<string> {
    const peer = { id, url: url!, name, region, version, addresses: addresses(), capabilities: CAPABILITIES }
    const { outcome } = await peers.apply({ kind: 'register', peer })
    if (outcome !== 'created' && outcome !== 'renewed') return REFUSED[outcome]
    await peers.apply({ kind: 'heartbeat', id, load: load() })
    return ''
  }
}

const REFUSED = {
  taken: 'its id belongs to a live node at another URL',
  url_taken: 'its URL belongs to a live node with another id',
  crowded: 'too many nodes are registered at its host',
  full: 'too many nodes are registered',
  unknown: 'it is not registered',
} as const
