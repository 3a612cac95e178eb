import { describe, expect, it } from 'vitest'
import { failingStore, labStore, labWorld } from '../../test/lab/world.ts'
import { ip } from '../names/ip.ts'
import type { Store } from '../store/contract.ts'
import { keepAnnounced } from './join.ts'
import { statusOf } from './peer.ts'
import { type PeerRegistryOptions, peerRegistry } from './registry.ts'

const SELF = { id: 'here', url: undefined, name: 'here', region: '', addresses: () => [], version: '0' }
const newPeer = (id: string) => ({
  id,
  url: `https://${id}.example`,
  name: id,
  region: '',
  addresses: [ip('45.53.1.1')],
  version: '0',
  capabilities: ['verify' as const],
})
const open = (store: () => Store, over: Partial<PeerRegistryOptions> = {}) =>
  peerRegistry({
    ...labWorld(),
    store: {
      ...labStore(),
      get peers() {
        return store().peers
      },
    },
    self: SELF,
    secret: undefined,
    ttlMs: 30_000,
    call: async () => Promise.reject(new Error('nobody is called')),
    ...over,
  })

it('two processes on one store keep the peers of both', async () => {
  const store = labStore()
  const [one, other] = [open(() => store), open(() => store)]
  await Promise.all([one.all(), other.all()])
  await one.apply({ kind: 'register', peer: newPeer('a') })
  await other.apply({ kind: 'register', peer: newPeer('b') })
  expect([...(await open(() => store).all()).keys()]).toEqual(['a', 'b'])
})

it('goes on while the store fails, and takes up and stores everything once it works', async () => {
  const store = labStore()
  await open(() => store).apply({ kind: 'register', peer: newPeer('a') })
  let isBroken = true
  const peers = open(() => (isBroken ? failingStore() : store))
  await peers.apply({ kind: 'register', peer: newPeer('b') })
  expect([...(await peers.all()).keys()]).toEqual(['b'])
  isBroken = false
  await peers.apply({ kind: 'heartbeat', id: 'b' })
  expect([...(await peers.all()).keys()].sort()).toEqual(['a', 'b'])
  expect((await store.peers.list({ limit: 10 })).map(({ key }) => key)).toEqual(['a', 'b'])
})

it.each([
  ['of its own, each time until it was read', false, ['away', 'away', 'works', 'away'], 2],
  ['that is shared, once until it is read again', true, ['away', 'away', 'works', 'away', 'away'], 2],
])('warns of a store that cannot be read: %s', async (_, isShared, states, expected) => {
  const { log } = labWorld()
  const store = labStore()
  let now = labWorld().now()
  let state = ''
  let warnings = 0
  const peers = open(() => (state === 'away' ? failingStore() : store), {
    ...{ isShared, now: () => now, monotonic: () => now },
    log: { ...log, warn: () => void warnings++ },
  })
  for (state of states) {
    await peers.all()
    now += 1_000
  }
  expect(warnings).toBe(expected)
})

describe('nodes with a shared store', () => {
  let now = labWorld().now()
  const node = (store: () => Store, id: string) => {
    const self = { ...SELF, id, url: `https://${id}.example`, name: id }
    return open(store, { now: () => now, monotonic: () => now, isShared: true, self })
  }
  const statuses = async (peers: ReturnType<typeof node>) =>
    [...(await peers.all()).values()].map((peer) => `${peer.id} ${statusOf(peer, now, 30_000)}`)
  const announce = async (peers: ReturnType<typeof node>) => {
    const stop = new AbortController()
    const load = () => {
      stop.abort()
      return { active: 1, capacity: 2 }
    }
    await keepAnnounced({ peers, load, random: () => 0.5, log: labWorld().log }, stop.signal)
  }

  it('are in the list by themselves, and every one tells the same of all', async () => {
    const store = labStore()
    const [a, b] = [node(() => store, 'a'), node(() => store, 'b')]
    expect(await statuses(b)).toEqual([])
    await announce(a)
    await announce(b)
    now += 1_000
    expect([await statuses(a), await statuses(b)]).toEqual([
      ['a alive', 'b alive'],
      ['a alive', 'b alive'],
    ])
    expect((await b.all()).get('a')).toMatchObject({ url: 'https://a.example', load: { active: 1, capacity: 2 } })
    expect((await a.choose('verify')).map(({ id }) => id)).toEqual(['b'])
    now += 31_000
    await announce(b)
    expect(await statuses(a)).toEqual(['a suspect', 'b alive'])
  })
  it('a node without a URL is not listed', async () => {
    const store = labStore()
    const peers = open(() => store, { isShared: true })
    await keepAnnounced(
      { peers, load: () => ({ active: 0, capacity: 1 }), random: () => 0.5, log: labWorld().log },
      new AbortController().signal,
    )
    expect(await statuses(peers)).toEqual([])
  })
  it('keep to what they knew while the store is away, and to what it holds afterwards', async () => {
    const store = labStore()
    let isAway = false
    const a = node(() => (isAway ? failingStore() : store), 'a')
    const b = node(() => store, 'b')
    await announce(a)
    isAway = true
    await announce(b)
    now += 1_000
    expect(await statuses(a)).toEqual(['a alive'])
    isAway = false
    now += 1_000
    expect(await statuses(a)).toEqual(['a alive', 'b alive'])
  })
})

it('a lease lasts as long where the system clock steps, and its times are told by that clock', async () => {
  const store = labStore()
  let [stepMs, passedMs] = [0, 0]
  const start = labWorld().now()
  const peers = open(() => store, { now: () => start + passedMs + stepMs, monotonic: () => start + passedMs })
  const seen = async () => {
    const [peer] = [...(await peers.all()).values()]
    const status = statusOf(peer!, start + passedMs + stepMs, 30_000)
    return [status, peer!.lastSeenAtMs - start - stepMs]
  }
  await peers.apply({ kind: 'register', peer: newPeer('a') })
  for (stepMs of [3_600_000, -3_600_000]) expect(await seen()).toEqual(['alive', 0])
  passedMs = 31_000
  expect(await seen()).toEqual(['suspect', 0])
  passedMs = 91_000
  expect(await seen()).toEqual(['dead', 0])
})
