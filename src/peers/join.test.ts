import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { labProblem } from '../../test/lab/problem.ts'
import { labStore, labWorld } from '../../test/lab/world.ts'
import { ip } from '../names/ip.ts'
import { FetchError } from '../net/fetch.ts'
import type { PeerCall, PeerReply } from '../net/peer-call.ts'
import type { Log } from '../world.ts'
import { keepAnnounced, keepJoined } from './join.ts'
import { MAX_PEERS, MAX_PER_HOST } from './peer.ts'
import { parseProof, refuteProof } from './proof.ts'
import { peerRegistry } from './registry.ts'

const SECRET = 'the secret of the cluster'
const PEER = {
  ...{ id: 'n2', url: 'https://n2.example', name: 'n2', region: '', addresses: ['45.53.1.7'], version: '' },
  ...{ capabilities: ['verify'], status: 'alive', load: null },
  ...{ registered_at: '2026-01-02T03:04:05.000Z', last_seen_at: '2026-01-02T03:04:05.000Z' },
}
const at = (id: string, url: string) => ({ ...PEER, id, url })
/** What the other node knows: a node, this one, what is no node, and nodes whose URLs carry more than an origin. */
const KNOWN = [
  ...[PEER, { ...PEER, id: 'here' }, { id: 'odd' }],
  ...[
    at('n6', 'https://here.example'),
    at('n3', 'https://n3.example/v1/pool'),
    at('n4', 'https://n4.example/?a='),
    at('n5', 'https://a:b@n5.example'),
  ],
]
const list: PeerReply = { status: 200, body: { peers: KNOWN, total: KNOWN.length } }
/** The system clock of this node. */
const NOW = labWorld().now()
/** What a node tells whose clock is `aheadMs` ahead: itself, and one that it heard of `silentMs` ago. */
function toldBy(aheadMs: number, silentMs: number): PeerReply {
  const time = (ms: number): string => new Date(NOW + aheadMs + ms).toISOString()
  const teller = { ...at('a', 'https://a.example'), last_seen_at: time(0) }
  return { status: 200, body: { peers: [{ ...PEER, last_seen_at: time(-silentMs) }], node: teller } }
}
const fine = (status = 200): PeerReply => ({ status, body: { ttl_ms: 1 } })

type Answer = PeerReply | 'gone' | 'bug'

afterEach(() => void vi.useRealTimers())

/** What `work` gives, while the fake clock goes on by tenths of a second. */
async function inFakeTime<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  let isDone = false
  const result = work().finally(() => (isDone = true))
  while (!isDone) {
    await vi.advanceTimersByTimeAsync(100)
    await new Promise(setImmediate)
  }
  return result
}

/**
 * Joins a node, in fake time, that answers register and heartbeat with `answers` in turn, until they are used up, and
 * tells of the nodes in `known`. `random` decides how far a wait is from its mean.
 */
const join = (answers: readonly Answer[], random = 0, known = list) => inFakeTime(() => joined(answers, random, known))

async function joined(answers: readonly Answer[], random: number, known: PeerReply) {
  const world = labWorld()
  const asked: string[] = []
  const askedAt: number[] = []
  const logged: string[] = []
  const said: unknown[] = []
  const stop = new AbortController()
  let turn = 0
  const call: PeerCall = async ({ method, url, body = '', headers }) => {
    const { origin, pathname } = new URL(url)
    const proof = parseProof(headers?.authorization ?? '')!
    const against = { secret: SECRET, nowMs: world.now(), seen: () => false }
    expect(refuteProof(proof, { method, origin, path: pathname, body }, against)).toBeUndefined()
    if (method === 'GET') return known
    asked.push(pathname.slice('/v1/peer/'.length))
    askedAt.push(Date.now())
    said.push(JSON.parse(body))
    const answer = answers[turn++]!
    if (turn === answers.length) stop.abort()
    if (answer === 'bug') throw new TypeError('a fault of ours')
    if (answer === 'gone') throw new FetchError('connect', labProblem('refused'))
    return answer
  }
  const self = {
    id: 'here',
    url: 'https://here.example',
    name: 'here',
    region: 'eu',
    addresses: () => [ip('45.53.1.1')],
    version: '0',
  }
  const peers = peerRegistry({ ...world, store: labStore(), self, secret: SECRET, ttlMs: 30_000, call })
  const load = () => ({ active: 1, capacity: 2 })
  const note = (event: string): void => void logged.push(event)
  const log = { debug: note, info: note, warn: note, error: note }
  const { now, monotonic } = world
  await keepJoined(
    { url: 'https://a.example', peers, secret: SECRET, call, load, now, monotonic, log, random: () => random },
    stop.signal,
  )
  return { asked, askedAt, logged, said, peers }
}

it.each<[string, readonly Answer[], readonly string[]]>([
  ['registers, then keeps its heartbeat', [fine(201), fine(), fine()], ['register', 'heartbeat', 'heartbeat']],
  [
    'registers again where it is not known (any more)',
    [fine(201), { status: 404, body: {} }, fine(201)],
    ['register', 'heartbeat', 'register'],
  ],
  ['keeps on after a heartbeat that was lost', [fine(201), 'gone', fine()], ['register', 'heartbeat', 'heartbeat']],
  ['keeps on after a fault of ours', [fine(201), 'bug', fine()], ['register', 'heartbeat', 'heartbeat']],
  ['tries again where it was refused', [{ status: 403, body: { detail: 'no' } }, fine(201)], ['register', 'register']],
  ['tries again where an answer is none', [{ status: 200, body: 'what?' }, fine(201)], ['register', 'register']],
])('%s', async (_, answers, asked) => {
  expect((await join(answers)).asked).toEqual(asked)
})

it('says who it is, and then how busy', async () => {
  const { said } = await join([fine(201), fine()])
  const { id, url, addresses } = { id: 'here', url: 'https://here.example', addresses: ['45.53.1.1'] }
  const capabilities = ['verify', 'check', 'blacklist']
  expect(said).toEqual([
    { id, url, name: 'here', region: 'eu', addresses, version: '0', capabilities },
    { id, load: { active: 1, capacity: 2 }, addresses },
  ])
})

it('takes up the nodes that the other one knows, but not itself and not what is not in order', async () => {
  const { peers } = await join([fine(201), fine()])
  expect([...(await peers.all()).keys()]).toEqual(['n2'])
})

const HOUR_MS = 3_600_000
it.each<[string, number, number, number | undefined]>([
  ['the same time', 0, 5_000, 5_000],
  ['an hour ahead', HOUR_MS, 5_000, 5_000],
  ['an hour behind', -HOUR_MS, 5_000, 5_000],
  ['a heartbeat after its own time: not younger than now', 0, -5_000, 0],
  ['an hour ahead, of a node that is dead', HOUR_MS, 91_000, undefined],
])('the times of the nodes are those of our clock: %s', async (_, aheadMs, silentMs, expected) => {
  const { peers } = await join([fine(201), fine()], 0, toldBy(aheadMs, silentMs))
  const known = (await peers.all()).get('n2')
  expect(known && NOW - known.lastSeenAtMs).toBe(expected)
})

it('takes up no nodes of an answer that failed', async () => {
  const { peers } = await join([fine(201), fine()], 0, { ...toldBy(0, 0), status: 500 })
  expect([...(await peers.all()).keys()]).toEqual([])
})

/** Seconds between the calls, in halves: reading an answer takes a little of the fake time. */
const waits = (askedAt: readonly number[]) => askedAt.slice(1).map((at, i) => Math.floor((at - askedAt[i]!) / 500) / 2)

const lease = (ttl_ms: number): PeerReply => ({ status: 200, body: { ttl_ms } })
it.each<[string, readonly Answer[], number, readonly number[]]>([
  [
    'a node that is gone: twice as long each time, at most a minute',
    Array(9).fill('gone'),
    0.5,
    [1, 2, 4, 8, 16, 32, 60, 60],
  ],
  ['a fifth less', ['gone', 'gone', 'gone'], 0, [0.5, 1.5]],
  ['a third of the lease', [lease(30_000), lease(30_000), lease(30_000)], 0.5, [10, 10]],
  ['at most a lease', [lease(6_000), 'gone', 'gone', 'gone', 'gone', 'gone'], 0.5, [2, 1, 2, 4, 6]],
  ['from the first again', ['gone', 'gone', lease(3_000), 'gone', 'gone'], 0.5, [1, 2, 1, 1]],
  ['a lease of nothing is a second', [lease(0), lease(0)], 0.5, [0]],
  ['nothing where it is not known any more', [lease(30_000), { status: 404, body: {} }, lease(30_000)], 0.5, [10, 0]],
  ['a second after any other refusal', [lease(30_000), { status: 405, body: {} }, lease(30_000)], 0.5, [10, 1]],
  ['a second where it was never known', [{ status: 404, body: {} }, lease(30_000)], 0.5, [1]],
])('waits for %s', async (_, answers, random, seconds) => {
  expect(waits((await join(answers, random)).askedAt)).toEqual(seconds)
})

it('logs what has changed, and not each turn', async () => {
  const refused: PeerReply = { status: 403, body: { detail: 'no' } }
  const unknown: PeerReply = { status: 404, body: {} }
  const answers = ['gone', 'gone', refused, fine(), fine(), 'gone', fine(), unknown, fine(), fine()] as const
  const { logged } = await join(answers)
  const failed = 'joining a node failed and will be retried'
  expect(logged).toEqual([failed, failed, 'joined a node', failed, 'joined a node'])
})

const HERE = { id: 'here', url: 'https://here.example' }
const WARNING = 'this node is not in the shared list of nodes'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

type Other = { readonly id: string; readonly url: string }
const others = (n: number, url: (i: number) => string): readonly Other[] =>
  Array.from({ length: n }, (_, i) => ({ id: `n${i}`, url: url(i) }))

/**
 * Announces this node for some seconds in a list that has `known`, whose leases begin at the start; a lease is 30 s.
 */
async function announced(known: readonly Other[], seconds: number, random = 0.5) {
  const startMs = Date.now()
  const clock = () => Date.now()
  const calls: string[] = []
  const logged: unknown[] = []
  const note: Log['warn'] = (event, fields) => void logged.push([event, fields])
  const quiet = (): void => {}
  const log = { debug: quiet, info: quiet, warn: note, error: note }
  const parts = { name: 'node', region: '', version: '0' }
  const addresses = [ip('45.53.1.1')]
  const peers = peerRegistry({
    ...labWorld({}, { now: clock }),
    store: labStore(),
    self: { ...HERE, ...parts, addresses: () => addresses },
    secret: undefined,
    ttlMs: 30_000,
    call: async () => Promise.reject(new Error('nobody is called')),
  })
  for (const one of known)
    await peers.apply({ kind: 'register', peer: { ...one, ...parts, addresses, capabilities: ['verify'] } })
  const apply: typeof peers.apply = (event) => {
    calls.push(`${(Date.now() - startMs) / 1_000} ${event.kind}`)
    return peers.apply(event)
  }
  const stop = new AbortController()
  const load = () => ({ active: 1, capacity: 2 })
  const running = keepAnnounced({ peers: { ...peers, apply }, load, random: () => random, log }, stop.signal)
  await vi.advanceTimersByTimeAsync(seconds * 1_000)
  const listed = (await peers.all()).get(HERE.id)
  stop.abort()
  await running
  return { calls, logged, listed }
}

describe('registers, and then reports its load', () => {
  it.each<[string, number, readonly string[]]>([
    [
      'every third of a lease',
      0.5,
      ['0 register', '0 heartbeat', '10 register', '10 heartbeat', '20 register', '20 heartbeat'],
    ],
    ['a fifth earlier', 0, ['0 register', '0 heartbeat', '8 register', '8 heartbeat', '16 register', '16 heartbeat']],
    ['a fifth later', 1, ['0 register', '0 heartbeat', '12 register', '12 heartbeat']],
  ])('%s', async (_, random, calls) => {
    const seen = await announced([], 23, random)
    expect(seen.calls).toEqual(calls)
    expect(seen.listed).toMatchObject({ ...HERE, load: { active: 1, capacity: 2 } })
    expect(seen.logged).toEqual([])
  })
})

describe('says once why it is not in the list, and tries again', () => {
  it.each<[string, readonly Other[], string]>([
    ['its id', [{ ...HERE, url: 'https://b.example' }], 'its id belongs to a live node at another URL'],
    ['its URL', [{ ...HERE, id: 'b' }], 'its URL belongs to a live node with another id'],
    [
      'a host with too many nodes',
      others(MAX_PER_HOST, (i) => `https://here.example:${8_000 + i}`),
      'too many nodes are registered at its host',
    ],
    ['a full list', others(MAX_PEERS, (i) => `https://n${i}.example`), 'too many nodes are registered'],
  ])('%s', async (_, known, reason) => {
    const { calls, logged } = await announced(known, 25)
    expect(calls).toEqual(['0 register', '10 register', '20 register'])
    expect(logged).toEqual([[WARNING, { reason }]])
  })
  it('is in the list once its place is free: the other node is dead after three leases', async () => {
    const { calls, logged, listed } = await announced([{ ...HERE, url: 'https://b.example' }], 105)
    expect(calls.slice(-3)).toEqual(['90 register', '100 register', '100 heartbeat'])
    expect(logged).toHaveLength(1)
    expect(listed).toMatchObject(HERE)
  })
})
