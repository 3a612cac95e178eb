import { FetchError } from '../../src/net/fetch.ts'
import type { PeerCall } from '../../src/net/peer-call.ts'
import { keepJoined } from '../../src/peers/join.ts'
import { applyEvent, type NewPeer, type Peers } from '../../src/peers/peers.ts'
import { nonceMemory } from '../../src/peers/proof.ts'
import { peerRegistry } from '../../src/peers/registry.ts'
import { labProblem } from '../lab/problem.ts'
import { labWorld } from '../lab/world.ts'
import { isTaken, testBounds, times } from './table.ts'

/** Bounds of what nodes tell each other. */
const at = { nowMs: 0, ttlMs: 30_000 }
const peer = (i: number, url: string, addresses: NewPeer['addresses'] = []): NewPeer => ({
  ...{ id: `n${i}`, url, name: '', region: '', addresses, version: '0', capabilities: ['verify'] },
})
function areKnown(peers: readonly NewPeer[]): boolean {
  const known = peers.reduce((all: Peers, one) => applyEvent(all, { kind: 'register', peer: one }, at).peers, new Map())
  return known.size === peers.length
}

/** A node that answers with so many bytes. */
const answering =
  (bytes: number): PeerCall =>
  async ({ maxBytes }) => {
    if (bytes > maxBytes) throw new FetchError('too_large', labProblem('its answer is too large'))
    return { status: 200, body: { ttl_ms: 1 } }
  }
const registryOf = (call: PeerCall) => {
  const self = { id: 'here', url: undefined, name: 'here', region: '', addresses: () => [], version: '0' }
  return peerRegistry({ ...labWorld(), self, secret: undefined, ttlMs: 30_000, call })
}
async function isJoined(bytes: number): Promise<boolean> {
  const stop = new AbortController()
  let said = ''
  const tell = (event: string): void => {
    said = event
    stop.abort()
  }
  const { now, monotonic, random } = labWorld()
  const call = answering(bytes)
  const log = { debug: () => {}, info: tell, warn: tell, error: tell }
  const parts = {
    url: 'https://n1.example',
    peers: registryOf(call),
    secret: undefined,
    call,
    now,
    monotonic,
    random,
    log,
  }
  await keepJoined({ ...parts, load: () => ({ active: 0, capacity: 1 }) }, stop.signal)
  return said === 'joined a node'
}

function isNonceRemembered(n: number): boolean {
  const isSeen = nonceMemory(() => 0)
  for (const i of Array(n).keys()) isSeen(`nonce${i}`)
  return isSeen('nonce0')
}

const { signal } = new AbortController()
testBounds([
  ['src/peers/join.ts MAX_ANSWER', 2 * 1024 * 1024, isJoined],
  ['src/peers/peer.ts MAX_PER_HOST', 16, (n) => areKnown(times(n, (i) => peer(i, `https://a.example:${1_000 + i}`)))],
  ['src/peers/proof.ts MAX_NONCES', 100_000, isNonceRemembered],
  [
    'src/peers/registry.ts MAX_ANSWER',
    2 * 1024 * 1024,
    (n) => isTaken(() => registryOf(answering(n)).ask({ url: 'https://n1.example' }, '/v1/pool', signal)),
  ],
])
