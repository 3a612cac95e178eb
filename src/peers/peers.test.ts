import { expect, it } from 'vitest'
import { ip } from '../names/ip.ts'
import { DEAD_AFTER_LEASES, FORGET_AFTER_MS, MAX_PEERS, MAX_PER_HOST, type Peer, statusOf } from './peer.ts'
import { applyEvent, applyTold, choosePeers, type Peers } from './peers.ts'

const node = (id: string, url = `https://${id}.example`) => ({
  id,
  url,
  name: id,
  region: '',
  addresses: [ip('192.0.2.1')],
  version: '',
  capabilities: ['verify'] as const,
})
const TTL_MS = 30_000
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

it.each([
  [T + DEAD_AFTER_MS, 'url_taken', ['a']],
  [T + DEAD_AFTER_MS + 1, 'created', ['b']],
])('at %d another id at a known URL is %s', (atMs, outcome, ids) => {
  const { peers } = register(EMPTY, 'a', T)
  const changed = register(peers, 'b', atMs, 'https://a.example')
  expect([changed.outcome, [...changed.peers.keys()]]).toEqual([outcome, ids])
})

it('one host cannot fill the registry, whatever its ports and ids', () => {
  let peers: Peers = EMPTY
  const outcomes = Array.from({ length: MAX_PER_HOST + 1 }, (_, i) => {
    const changed = register(peers, `n${i}`, T, `https://one.example:${8_000 + i}`)
    peers = changed.peers
    return changed.outcome
  })
  expect(outcomes.slice(-2)).toEqual(['created', 'crowded'])
  expect(register(peers, 'n0', T + 1, 'https://one.example:8000').outcome).toBe('renewed')
  // Nor by taking up the ids of nodes that are dead.
  const old = register(peers, 'old', T - DEAD_AFTER_MS - 2, 'https://other.example').peers
  expect(register(old, 'old', T, 'https://one.example:9000').outcome).toBe('crowded')
  expect(register(peers, 'next', T, 'https://two.example').outcome).toBe('created')
})

const told = (id: string, lastSeenAtMs: number, over: Partial<Peer> = {}): Peer => ({
  ...{ ...node(id), load: { active: 1, capacity: 2 }, registeredAtMs: 0, lastSeenAtMs },
  ...over,
})
it.each<[string, Peer, Partial<Peer> | undefined]>([
  ['a new peer, with the time of who heard of it', told('b', T - 5), { lastSeenAtMs: T - 5, registeredAtMs: T }],
  ['a dead one', told('b', T - DEAD_AFTER_MS - 1), undefined],
  [
    'news of a known one',
    told('a', T - 4, { name: 'new' }),
    { lastSeenAtMs: T - 4, name: 'new', registeredAtMs: T - 9 },
  ],
  ['what is older than what is known', told('a', T - 10, { name: 'old' }), { lastSeenAtMs: T - 9, name: 'a' }],
  ['the id of a living one', told('a', T, { url: 'https://evil.example' }), { url: 'https://a.example' }],
  ['the URL of a living one', told('b', T, { url: 'https://a.example' }), undefined],
])('is told of %s', (_, peer, expected) => {
  const { peers } = register(EMPTY, 'a', T - 9)
  const after = applyTold(peers, [peer], at(T)).get(peer.id)
  if (expected === undefined) expect(after).toBeUndefined()
  else expect(after).toMatchObject(expected)
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

// Bound: src/peers/peer.ts MAX_PEERS
it('keeps at most its number of peers, and forgets who was silent for a day', () => {
  let peers: Peers = EMPTY
  for (let i = 0; i < MAX_PEERS; i++) peers = register(peers, `n${i}`, T).peers
  expect(register(peers, 'late', T).outcome).toBe('full')
  expect(register(peers, 'late', T + FORGET_AFTER_MS + 1)).toMatchObject({ outcome: 'created' })
})

it.each([
  [86_400_000, ['a']],
  [86_400_001, []],
])('a node without a heartbeat for %d ms: the list has %j', (ms, ids) => {
  const { peers } = register(EMPTY, 'a', T)
  expect([...applyTold(peers, [], at(T + ms)).keys()]).toEqual(ids)
})

it('the dead make room for the living, the longest silent first', () => {
  let peers: Peers = register(register(EMPTY, 'older', T - DEAD_AFTER_MS - 2).peers, 'old', T - DEAD_AFTER_MS - 1).peers
  for (let i = 2; i < MAX_PEERS; i++) peers = register(peers, `n${i}`, T).peers
  const { outcome, peers: after } = register(peers, 'new', T)
  expect([outcome, after.size, after.has('older'), after.has('old')]).toEqual(['created', MAX_PEERS, false, true])
  const told = applyTold(after, [{ ...node('newer'), load: undefined, registeredAtMs: 0, lastSeenAtMs: T }], at(T))
  expect([told.size, told.has('old'), told.has('newer')]).toEqual([MAX_PEERS, false, true])
  expect(register(told, 'late', T).outcome).toBe('full')
})

it('the dead at a host leave room for the living there', () => {
  let peers: Peers = EMPTY
  const at = (i: number) => `https://one.example:${8_000 + i}`
  for (let i = 0; i < MAX_PER_HOST; i++) peers = register(peers, `n${i}`, T, at(i)).peers
  expect(register(peers, 'late', T + DEAD_AFTER_MS, at(99)).outcome).toBe('crowded')
  expect(register(peers, 'late', T + DEAD_AFTER_MS + 1, at(99)).outcome).toBe('created')
})

it('chooses living peers that can, the least loaded first, none that is full', () => {
  const peer = (id: string, active: number, lastSeenAtMs = T): [string, Peer] => [
    id,
    { ...node(id), load: { active, capacity: 4 }, registeredAtMs: T, lastSeenAtMs },
  ]
  const peers = new Map([peer('busy', 3), peer('full', 4), peer('gone', 0, T - TTL_MS - 1), peer('idle', 0)])
  expect(choosePeers(peers, 'verify', at(T), () => 0.5).map(({ id }) => id)).toEqual(['idle', 'busy'])
  expect(choosePeers(peers, 'blacklist', at(T), () => 0.5)).toEqual([])
  // A load below zero is none: whoever claims it comes before nobody.
  const claims = new Map([peer('boasts', -100), peer('idle', 0)])
  const turns = [0.9, 0.1]
  expect(choosePeers(claims, 'verify', at(T), () => turns.shift()!).map(({ id }) => id)).toEqual(['idle', 'boasts'])
  // Among equals chance decides.
  const equals = new Map(['a', 'b', 'c'].map((id) => peer(id, 1)))
  const chances = [0.5, 0.9, 0.1]
  expect(choosePeers(equals, 'verify', at(T), () => chances.shift()!).map(({ id }) => id)).toEqual(['c', 'a', 'b'])
})
