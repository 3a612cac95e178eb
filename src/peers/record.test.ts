import { expect, it } from 'vitest'
import type { JsonRecord } from '../base/json.ts'
import { ip } from '../names/ip.ts'
import { MAX_ADDRESSES, MAX_PEERS, type Peer } from './peer.ts'
import { parseOrigin, presentPeer, readPeers } from './record.ts'

const NOW = Date.UTC(2026, 0, 2)
const PEER: Peer = {
  id: 'n1',
  url: 'https://n1.example',
  name: 'one',
  region: 'eu',
  addresses: [ip('45.53.1.7'), ip('2a01:4f8::1')],
  version: '1',
  capabilities: ['verify', 'check'],
  load: { active: 1, capacity: 2 },
  registeredAtMs: NOW - 5_000,
  lastSeenAtMs: NOW - 1_000,
}
const RECORD: JsonRecord = JSON.parse(JSON.stringify(presentPeer(PEER, { nowMs: NOW, ttlMs: 30_000 }, undefined)))

it('reads what it presents', async () => {
  expect(await readPeers([RECORD])).toEqual([{ peer: PEER, status: 'alive' }])
})

it.each<[string, unknown]>([
  ['a path in its URL', { ...RECORD, url: 'https://n1.example/v1/pool' }],
  ['a query in its URL', { ...RECORD, url: 'https://n1.example?a=b' }],
  ['a password in its URL', { ...RECORD, url: 'https://a:b@n1.example' }],
  ['another scheme', { ...RECORD, url: 'ftp://n1.example' }],
  ['an id that is none', { ...RECORD, id: '../n1' }],
  ['an address that is none', { ...RECORD, addresses: ['45.53.1'] }],
  ['one address too many', { ...RECORD, addresses: Array.from({ length: MAX_ADDRESSES + 1 }, () => '45.53.1.7') }],
  ['a time that is none', { ...RECORD, last_seen_at: 'yesterday' }],
  ['no object', 'n1'],
])('leaves out a record with %s', async (_, value) => {
  expect(await readPeers([value, RECORD])).toHaveLength(1)
})

it.each(['name', 'region', 'version'])('reads 100 characters of its %s, and cuts what is longer', async (field) => {
  const texts = ['x'.repeat(100), 'x'.repeat(101)]
  const read = await readPeers(texts.map((text) => ({ ...RECORD, [field]: text })))
  expect(read.map(({ peer }) => Reflect.get(peer, field))).toEqual([texts[0], `${'x'.repeat(99)}…`])
})

it('reads as many addresses and peers as there may be, and no more', async () => {
  const addresses = Array.from({ length: MAX_ADDRESSES }, (_, i) => `45.53.1.${i}`)
  expect((await readPeers([{ ...RECORD, addresses }]))[0]?.peer.addresses).toHaveLength(MAX_ADDRESSES)
  const many = Array.from({ length: MAX_PEERS + 1 }, (_, i) => ({ ...RECORD, id: `n${i}` }))
  expect(await readPeers(many)).toHaveLength(MAX_PEERS)
  expect(await readPeers({ peers: [] })).toEqual([])
})

it('other work runs while a long list is read', async () => {
  const addresses = Array.from({ length: MAX_ADDRESSES }, (_, i) => `45.53.1.${i}`)
  let turns = 0
  let isRead = false
  const reading = readPeers(Array.from({ length: 160 }, () => ({ ...RECORD, addresses }))).then(() => {
    isRead = true
  })
  while (!isRead) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }
  await reading
  expect(turns).toBeGreaterThanOrEqual(10)
})

it.each<[string, string | undefined]>([
  ['https://b.example', 'https://b.example'],
  ['https://b.example:8443/', 'https://b.example:8443'],
  ['https://user@b.example', undefined],
  ['https://:password@b.example', undefined],
  ['https://user:password@b.example', undefined],
  ['https://b.example/path', undefined],
  ['https://b.example/?query', undefined],
  ['ftp://b.example', undefined],
  ['b.example', undefined],
])('%s', (text, origin) => {
  const reading = parseOrigin(text)
  expect(reading.ok ? reading.value : undefined).toEqual(origin)
})
