import { expect, it } from 'vitest'
import { ip } from '../names/ip.ts'
import { DEAD_AFTER_LEASES, FORGET_AFTER_MS, MAX_PEERS, type Peer, statusOf, DEFAULT_TTL_MS as TTL_MS } from './peer.ts'
import { applyEvent, choosePeers, type Peers } from './peers.ts'

const node = (id: string, url = `https://${id}.example`) => ({
  id,
  url,
  name: id,
  region: '',
  addresses: [ip('192.0.2.1')],
  version: '',
  capabilities: ['verify'] as const,
})
const DEAD_AFTER_MS = DEAD_AFTER_LEASES * TTL_MS
const at = (nowMs: number) => ({ nowMs, ttlMs: TTL_MS })
const T = 1_000_000
const EMPTY: Peers = new Map()
const register = (peers: Peers, id: string, atMs: number, url?: string) =>
  applyEvent(peers, { kind: 'register', peer: node(id, url) }, at(atMs))

it('registers, renews, and keeps the time of the first registration', () => {
  const first = register(EMPTY, 'a', T)
  const second = register(first.peers, 'a', T + 5)
  expect([first.outcome, second.outcome]).toEqual(['created', 'renewed'])
  expect(second.peers.get('a')).toMatchObject({ registeredAtMs: T, lastSeenAtMs: T + 5 })
})

it.each([
  [T + TTL_MS, 'taken', 'alive'],
  [T + DEAD_AFTER_MS, 'taken', 'only suspect'],
  [T + DEAD_AFTER_MS + 1, 'renewed', 'dead: its id is free'],
])('at %d another URL under a known id is %s (%s)', (atMs, outcome) => {
  const { peers } = register(EMPTY, 'a', T)
  expect(register(peers, 'a', atMs, 'https://other.example').outcome).toBe(outcome)
})

it('answers unknown to a heartbeat of a node it does not know', () => {
  expect(applyEvent(EMPTY, { kind: 'heartbeat', id: 'a' }, at(T)).outcome).toBe('unknown')
})

it('is alive, then suspect, then dead, and alive again at the next heartbeat', () => {
  const { peers } = register(EMPTY, 'a', T)
  const states = [0, TTL_MS, TTL_MS + 1, DEAD_AFTER_MS, DEAD_AFTER_MS + 1].map((ms) =>
    statusOf(peers.get('a')!, T + ms, TTL_MS),
  )
  expect(states).toEqual(['alive', 'alive', 'suspect', 'suspect', 'dead'])
  const again = applyEvent(
    peers,
    { kind: 'heartbeat', id: 'a', load: { active: 1, capacity: 10 } },
    at(T + DEAD_AFTER_MS + 1),
  )
  expect(statusOf(again.peers.get('a')!, T + DEAD_AFTER_MS + 1, TTL_MS)).toBe('alive')
})

it('keeps at most its number of peers, and forgets who was silent for a day', () => {
  let peers: Peers = EMPTY
  for (let i = 0; i < MAX_PEERS; i++) peers = register(peers, `n${i}`, T).peers
  expect(register(peers, 'late', T).outcome).toBe('full')
  expect(register(peers, 'late', T + FORGET_AFTER_MS + 1)).toMatchObject({ outcome: 'created' })
})

it('chooses living peers that can, the least loaded first, none that is full', () => {
  const peer = (id: string, active: number, lastSeenAtMs = T): [string, Peer] => [
    id,
    { ...node(id), load: { active, capacity: 4 }, registeredAtMs: T, lastSeenAtMs },
  ]
  const peers = new Map([peer('busy', 3), peer('full', 4), peer('gone', 0, T - TTL_MS - 1), peer('idle', 0)])
  expect(choosePeers(peers, 'verify', at(T), () => 0.5).map(({ id }) => id)).toEqual(['idle', 'busy'])
  expect(choosePeers(peers, 'blacklist', at(T), () => 0.5)).toEqual([])
})
