import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { labStore, labWorld } from '../../test/lab/world.ts'
import { ip } from '../names/ip.ts'
import type { Log } from '../world.ts'
import { keepAnnounced } from './announce.ts'
import { MAX_PEERS, MAX_PER_HOST } from './peer.ts'
import { peerRegistry } from './registry.ts'

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
