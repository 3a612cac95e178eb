import { expect, it } from 'vitest'
import { exampleOf } from '../../test/lab/answer.ts'
import { labDeps } from '../../test/lab/app.ts'
import { labWorld } from '../../test/lab/world.ts'
import { type GeoRecord, mergeGeo } from '../geo/record.ts'
import { type Ip, ip } from '../names/ip.ts'
import { nodeName } from '../names/source.ts'
import { verify } from '../operations/verify.ts'
import type { Peer } from './peer.ts'
import type { PeerRegistry } from './registry.ts'
import { askNodeOf, distanceSteps, nearestNodes, verifyElsewhere } from './verify-elsewhere.ts'

const FRANKFURT: GeoRecord = { country: 'DE', continent: 'Europe', latitude: 50.1, longitude: 8.7 }
const BERLIN: GeoRecord = { country: 'DE', continent: 'Europe', latitude: 52.5, longitude: 13.4 }
const MADRID: GeoRecord = { country: 'ES', continent: 'Europe', latitude: 40.4, longitude: -3.7 }
const NEW_YORK: GeoRecord = { country: 'US', continent: 'North America', latitude: 40.7, longitude: -74 }
const AUCKLAND: GeoRecord = { country: 'NZ', continent: 'Oceania', latitude: -36.8, longitude: 174.8 }
const geoOf = (record: GeoRecord) => mergeGeo(ip('45.53.1.1'), [record])
const country = ({ country: code, continent }: GeoRecord): GeoRecord => ({
  ...(code && { country: code }),
  ...(continent && { continent }),
})

it.each<[string, GeoRecord, GeoRecord, number]>([
  ['Frankfurt and Berlin, 420 km', FRANKFURT, BERLIN, 0],
  ['Frankfurt and Madrid, 1,450 km', FRANKFURT, MADRID, 2],
  ['Frankfurt and New York, 6,200 km', FRANKFURT, NEW_YORK, 12],
  ['New York and Auckland, over the date line, 14,200 km', NEW_YORK, AUCKLAND, 28],
  ['one country', country(FRANKFURT), BERLIN, 1],
  ['one continent', country(FRANKFURT), country(MADRID), 6],
  ['two continents', country(FRANKFURT), country(NEW_YORK), 16],
  ['a place that is not known', {}, FRANKFURT, 17],
])('%s', (_, a, b, steps) => {
  expect([distanceSteps(geoOf(a), geoOf(b)), distanceSteps(geoOf(b), geoOf(a))]).toEqual([steps, steps])
})

it.each<[what: string, id: string, problem: string]>([
  ['this node', 'here', 'node.this_node'],
  ['one that nobody knows', 'nowhere', 'node.not_registered'],
  ['one that is dead', 'dead', 'node.dead'],
  ['one that does not verify', 'badge', 'node.no_capability'],
  ['one that is alive is asked', 'alive', 'node.status'],
])('a node of the pool: %s', async (_, id, problem) => {
  const known = [
    { ...node('alive', '45.53.2.1'), lastSeenAtMs: 99_000 },
    node('dead', '45.53.2.2'),
    { ...node('badge', '45.53.2.3'), lastSeenAtMs: 99_000, capabilities: ['check'] as const },
  ]
  const peers = {
    ...{ self: { id: 'here' }, ttlMs: 30_000 },
    all: async () => new Map(known.map((one) => [one.id, one])),
    ask: async () => ({ status: 503, body: {} }),
  } as unknown as PeerRegistry
  const ctx = { ...labWorld({}, { now: () => 100_000 }), signal: new AbortController().signal }
  const answer = await askNodeOf(peers)(ctx, { node: nodeName(id), email: 'joe@a.example', timeoutMs: 2_000 })
  expect(answer).toMatchObject({ ok: false, problem: { id: problem } })
})

const PLACES: Readonly<Record<string, GeoRecord>> = {
  '45.53.5.1': BERLIN, // the mail host
  '45.53.2.1': NEW_YORK,
  '45.53.2.2': FRANKFURT,
  '45.53.2.3': MADRID,
  '45.53.2.4': BERLIN,
}
const geo = async (address: Ip) => mergeGeo(address, [PLACES[address] ?? {}])
const node = (id: string, address: string): Peer => ({
  ...{ id, url: `https://${id}.example`, name: id, region: '', addresses: [ip(address)], version: '0' },
  ...{ capabilities: ['verify'], load: undefined, registeredAtMs: 0, lastSeenAtMs: 0 },
})
/** By load, the least first. */
const NODES = [node('york', '45.53.2.1'), node('frankfurt', '45.53.2.2'), node('madrid', '45.53.2.3')]
const TO = { address: ip('45.53.5.1'), provider: { key: 'x.example', perMinute: 60 } }

it.each<[string, readonly string[], readonly string[]]>([
  ['the nearest first', [], ['frankfurt', 'madrid', 'york']],
  ['one that was refused rests and is left out', ['frankfurt'], ['madrid', 'york']],
  ['all rest', ['york', 'frankfurt', 'madrid'], []],
])('%s', async (_, refused, expected) => {
  const { verifier } = labDeps(labWorld())
  for (const id of refused) {
    const use = verifier.sources.begin(nodeName(id), TO.provider, true)
    if (use.ok) use.end({ kind: 'refused', reason: 'source_blocked', text: 'listed' })
  }
  expect((await nearestNodes({ geo, verifier }, NODES, TO)).map(({ id }) => id)).toEqual(expected)
})

it('one that is due for a trial comes after the healthy, however near', async () => {
  let now = 0
  const { verifier } = labDeps(labWorld({}, { now: () => now }))
  const use = verifier.sources.begin(nodeName('frankfurt'), TO.provider, true)
  if (use.ok) use.end({ kind: 'refused', reason: 'source_blocked', text: 'listed' })
  now = 11 * 60_000
  const nodes = await nearestNodes({ geo, verifier }, NODES, TO)
  expect(nodes.map(({ id }) => id)).toEqual(['madrid', 'york', 'frankfurt'])
})

it('of two that are equally near the less loaded stays first; without a destination the order stays', async () => {
  const { verifier } = labDeps(labWorld())
  const nodes = [node('frankfurt', '45.53.2.2'), node('berlin', '45.53.2.4')]
  expect((await nearestNodes({ geo, verifier }, nodes, TO)).map(({ id }) => id)).toEqual(['frankfurt', 'berlin'])
  expect(await nearestNodes({ geo, verifier }, NODES, undefined)).toEqual(NODES)
})

it.each<[what: string, asked: { readonly peer?: string; readonly pool: boolean }, timeouts: readonly string[]]>([
  ['the best node', { peer: 'auto', pool: false }, ['30000ms', '15000ms', '7500ms']],
  ['another after this one was refused', { pool: true }, ['30000ms', '15000ms', '15000ms']],
])('%s: a node gets half of the time that is left, the last of the pool all of it', async (_, asked, timeouts) => {
  let nowMs = 0
  const told: (string | null)[] = []
  const peers = {
    self: { id: 'here' },
    choose: async () => NODES,
    ask: async (_node: Peer, path: string) => {
      const timeout = new URLSearchParams(path.slice(path.indexOf('?'))).get('timeout')
      told.push(timeout)
      nowMs += Number.parseInt(timeout ?? '', 10)
      return { status: 503, body: {} }
    },
  } as unknown as PeerRegistry
  const world = labWorld({}, { monotonic: () => nowMs })
  const { verifier } = labDeps(world)
  const own = { ...exampleOf(verify), result: 'blocked', reason: 'source_blocked' } as const
  const answer = await verifyElsewhere(
    { ...world, signal: new AbortController().signal },
    { peers, geo, verifier },
    { peer: asked.peer, pool: asked.pool, email: 'joe@a.example', query: () => ({}), timeoutMs: 60_000 },
    async () => own,
  )
  expect([told, answer]).toEqual([timeouts, own])
})
