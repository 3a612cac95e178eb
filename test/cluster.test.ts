import type { FastifyInstance } from 'fastify'
import { afterEach, expect, it, vi } from 'vitest'
import { isJsonRecord } from '../src/base/json.ts'
import { FetchError } from '../src/net/fetch.ts'
import type { PeerCall } from '../src/net/peer-call.ts'
import { keepJoined } from '../src/peers/join.ts'
import { DEAD_AFTER_LEASES, type PeerStatus, statusOf } from '../src/peers/peer.ts'
import { type PeerRegistry, peerRegistry, proofHeaders } from '../src/peers/registry.ts'
import { LAB_SECRET, labApp, labDeps } from './lab/app.ts'
import { labProblem } from './lab/problem.ts'
import { labWorld } from './lab/world.ts'

/** Nodes that really join each other: each is the HTTP service, and calls between them are requests to it. */

const TTL_MS = 30_000
afterEach(() => void vi.useRealTimers())

type Node = {
  readonly peers: PeerRegistry
  readonly app: FastifyInstance
  /** Whether others reach it. */
  isUp: boolean
}

/** A cluster whose nodes are started by name; their clocks are the fake one, each ahead by its own milliseconds. */
function cluster() {
  const nodes = new Map<string, Node>()
  const urlOf = (name: string): string => `https://${name}.example`
  const call: PeerCall = async ({ method, url, headers = {}, body }) => {
    const { origin, pathname, search, hostname } = new URL(url)
    const node = nodes.get(hostname.split('.')[0]!)
    if (!node?.isUp) throw new FetchError('connect', labProblem(`${origin} refuses the connection`))
    const response = await node.app.inject({
      method,
      url: `${pathname}${search}`,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { payload: body }),
    })
    return { status: response.statusCode, body: response.json() }
  }

  /** Starts a node that joins others by their names; gives how to stop it. */
  async function start(name: string, joins: readonly string[], aheadMs = 0): Promise<{ readonly stop: () => void }> {
    const now = (): number => Date.now() + aheadMs
    const world = labWorld(
      Object.fromEntries(['a', 'b', 'c'].map((one, i) => [`${one}.example`, { A: [`45.53.1.${i + 1}`] }])),
      { now },
    )
    const self = { id: name, url: urlOf(name), name, region: '', addresses: () => [], version: '0' }
    const peers = peerRegistry({ ...world, self, secret: LAB_SECRET, ttlMs: TTL_MS, call })
    const deps = labDeps(world, { peers })
    // Each node remembers two answers and whether a domain accepts any mailbox, of whomever is forgotten.
    const verifier = { ...deps.verifier, forget: () => ({ answers: 2, catch_all: 1 }) }
    const options = { deps: { ...deps, verifier }, peerSecret: LAB_SECRET, origin: urlOf(name) }
    const node: Node = { peers, app: await labApp(world, options), isUp: true }
    nodes.set(name, node)
    const leaving = new AbortController()
    const load = () => ({ active: 0, capacity: 1 })
    for (const other of joins) {
      const joining = { ...world, url: urlOf(other), peers, secret: LAB_SECRET, call, load }
      void keepJoined(joining, leaving.signal)
    }
    return {
      stop: () => {
        leaving.abort()
        node.isUp = false
      },
    }
  }

  /** Lets time pass: requests end in real time, waits in fake time. */
  async function pass(ms: number): Promise<void> {
    for (let gone = 0; gone < ms; gone += 1_000) {
      await vi.advanceTimersByTimeAsync(1_000)
      await new Promise(setImmediate)
    }
  }

  async function seen(by: string, ahead = 0): Promise<Record<string, PeerStatus>> {
    const all = await nodes.get(by)!.peers.all()
    return Object.fromEntries([...all].map(([id, peer]) => [id, statusOf(peer, Date.now() + ahead, TTL_MS)]))
  }
  return { start, pass, seen, nodes }
}

const fakeTime = (): void => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })

it.each([
  ['with clocks that agree', 0],
  ['with a clock that is 50 s ahead', 50_000],
  ['with a clock that is 50 s behind', -50_000],
])('two nodes that join each other do not keep a dead third one alive, %s', async (_, aheadMs) => {
  fakeTime()
  const { start, pass, seen, nodes } = cluster()
  await start('a', ['b'])
  await start('b', ['a'], aheadMs)
  const third = await start('c', ['a', 'b'])
  await pass(60_000)
  expect(await seen('a')).toEqual({ b: 'alive', c: 'alive' })
  expect(await seen('b', aheadMs)).toEqual({ a: 'alive', c: 'alive' })
  third.stop()
  await pass((DEAD_AFTER_LEASES + 1) * TTL_MS)
  expect(await seen('a')).toEqual({ b: 'alive', c: 'dead' })
  expect(await seen('b', aheadMs)).toEqual({ a: 'alive', c: 'dead' })
  // Its id and URL are free.
  const peer = { id: 'c', url: 'https://c2.example', name: 'c', region: '', addresses: [], version: '' }
  const event = { kind: 'register', peer: { ...peer, capabilities: [] } } as const
  expect((await nodes.get('a')!.peers.apply(event)).outcome).toBe('renewed')
})

it('a third node is known to one that it did not join', async () => {
  fakeTime()
  const { start, pass, seen } = cluster()
  await start('a', ['b'])
  await start('b', ['a'])
  await start('c', ['a'])
  await pass(60_000)
  expect(await seen('b')).toEqual({ a: 'alive', c: 'alive' })
})

it('nobody registers the URL of the very node', async () => {
  const { start, nodes } = cluster()
  await start('a', [])
  const body = JSON.stringify({ id: 'x', url: 'https://a.example' })
  const call = { method: 'POST', origin: 'https://a.example', path: '/v1/peer/register', body }
  const headers = proofHeaders(call, { id: 'x', secret: LAB_SECRET, nowMs: Date.now() })
  const response = await nodes.get('a')!.app.inject({
    method: 'POST',
    url: call.path,
    headers: { ...headers, 'content-type': 'application/json' },
    payload: body,
  })
  expect([response.statusCode, response.json().parameter]).toEqual([403, 'url'])
})

it('a call that was made for another node is refused', async () => {
  fakeTime()
  const { start, nodes } = cluster()
  await start('a', [])
  await start('b', [])
  const { app, peers } = nodes.get('b')!
  let header = ''
  const thief: PeerCall = async ({ headers = {} }) => {
    header = headers.authorization ?? ''
    return { status: 200, body: {} }
  }
  const self = { ...peers.self, id: 'a' }
  const caller = peerRegistry({ ...labWorld(), now: Date.now, self, secret: LAB_SECRET, ttlMs: TTL_MS, call: thief })
  await caller.ask({ url: 'https://a.example' }, '/v1/peer/peers', AbortSignal.timeout(1_000))
  const ask = (to: FastifyInstance) => to.inject({ url: '/v1/peer/peers', headers: { authorization: header } })
  const refused = await ask(app)
  expect([refused.statusCode, refused.json().detail]).toEqual([401, expect.stringContaining('https://b.example')])
  const taken = (await ask(nodes.get('a')!.app)).json()
  expect(isJsonRecord(taken) && taken.total).toBe(0)
})

it('what is forgotten on one node is forgotten by all that are reached, and the others are named', async () => {
  fakeTime()
  const { start, pass, nodes } = cluster()
  await start('a', [])
  const stops = [await start('b', ['a']), await start('c', ['a'])]
  await pass(5_000)
  const forget = async () => {
    const payload = { email: 'joe@x.example' }
    return (await nodes.get('a')!.app.inject({ method: 'POST', url: '/v1/forget', payload })).json()
  }
  const all = await forget()
  expect(all).toMatchObject({ places: { remembered_answers: 2, remembered_domains: 1, other_nodes: 6 } })
  expect(all.not_reached).toBeUndefined()
  stops[1]!.stop()
  expect(await forget()).toMatchObject({ places: { other_nodes: 3 }, not_reached: ['c'] })
  stops[0]!.stop()
})

it('forgetting is for nodes that know the secret, and for keys of the operator', async () => {
  fakeTime()
  const { start, nodes } = cluster()
  await start('a', [])
  const { app } = nodes.get('a')!
  const asked = async (headers: Readonly<Record<string, string>>) =>
    (await app.inject({ method: 'POST', url: '/v1/peer/forget', headers, payload: { domain: 'x.example' } })).statusCode
  const call = { method: 'POST', origin: 'https://a.example', path: '/v1/peer/forget', body: '{"domain":"x.example"}' }
  const by = { id: 'b', nowMs: Date.now() }
  expect([
    await asked({}),
    await asked(proofHeaders(call, { ...by, secret: 'a guess' })),
    await asked(proofHeaders({ ...call, body: '{}' }, { ...by, secret: LAB_SECRET })),
    await asked(proofHeaders(call, { ...by, secret: LAB_SECRET })),
  ]).toEqual([401, 401, 401, 200])
})
