import { expect, it } from 'vitest'
import { failingStore, labStore, labWorld } from '../../test/lab/world.ts'
import { ip } from '../names/ip.ts'
import type { Store } from '../store/contract.ts'
import { peerRegistry } from './registry.ts'

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
const open = (store: () => Store) =>
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
