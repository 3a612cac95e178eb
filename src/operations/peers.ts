import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { geoAnswer, heartbeatAnswer, type PeerAnswer, peerAnswer, peersAnswer } from '../answers/peers.ts'
import { atMost } from '../base/at-most.ts'
import { parsed, problem } from '../base/problem.ts'
import { valueProblem } from '../base/value-problems.ts'
import { geoDocument, heartbeatDocument, peerDocument, peersDocument } from '../documents/peers.ts'
import { NODE_ID } from '../names/source.ts'
import { refusePrivateUrl } from '../peers/ask.ts'
import { CAPABILITIES, MAX_ADDRESSES, MAX_PEERS, MAX_PER_HOST, type Peer, statusOf } from '../peers/peer.ts'
import { nodeError } from '../peers/problems.ts'
import { parseOrigin, presentPeer } from '../peers/record.ts'
import type { Self } from '../peers/registry.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'
import { type Caller, defineOperation, ok } from './operation.ts'
import { ipParam, lineParam, listParam, objectParam, optional, positional, textParam } from './params.ts'

/** The fields that register and heartbeat share. */

const idParam = (description: string) =>
  textParam<string>(
    'invalid_parameter',
    (text) => (NODE_ID.test(text) ? parsed(text) : problem(valueProblem('node_id', { text }))),
    { description, example: 'node-1' },
  )

const addressesParam = listParam(ipParam('an address').schema, MAX_ADDRESSES, {
  description: 'source addresses that the node verifies from',
})

const count = z.int().min(0).max(1_000_000)
const loadParam = optional(
  objectParam(z.strictObject({ active: count, capacity: count }), {
    description: 'requests in progress, and how many the node allows',
  }),
)

/** The id of the node in a call: a node with a valid proof may name only its own. Throws AppError `forbidden`. */
function ownId<Id extends string | undefined>(caller: Caller | undefined, given: Id): Id | string {
  if (caller?.peer === undefined) return given
  if (given !== undefined && given !== caller.peer)
    throw nodeError('acts_for', { id: caller.peer, other: given }, { parameter: 'id' })
  return caller.peer
}

const peerExample = {
  id: 'node-1',
  url: 'https://node-1.example',
  name: 'node-1',
  region: 'eu-west',
  addresses: ['203.0.113.7'],
  version: '0.1.0',
  capabilities: ['verify', 'check', 'blacklist'],
  geo: [
    {
      ip: '203.0.113.7',
      found: false,
      country: null,
      country_name: null,
      continent: null,
      region: null,
      city: null,
      latitude: null,
      longitude: null,
      timezone: null,
      asn: null,
      as_org: null,
      bogon: 'documentation',
    },
  ],
  status: 'alive',
  registered_at: '2026-11-21T08:00:00.000Z',
  last_seen_at: '2026-11-21T08:00:00.000Z',
  ttl_ms: 30_000,
  load: null,
}

/** All nodes that are known to this one, including itself. */
export const peers = defineOperation({
  name: 'peers',
  method: 'GET',
  path: '/v1/peer/peers',
  summary: 'List the registered nodes and their state',
  scope: 'admin',
  forPeers: true,
  params: {},
  answer: peersAnswer,
  document: peersDocument,
  example: { input: {}, output: { peers: [peerExample], total: 1 } },
  deadlineMs: 10_000,
  uses: ['peers', 'geo'],
  run: async (ctx, deps) => {
    const known = [...(await deps.peers.all()).values()]
    const shown = shownOfEach(known.length)
    const answers = await atMost(8, known, (peer) => answerPeer(ctx, deps, peer, shown))
    const own = selfAsPeer(deps.peers.self, ctx.now())
    return ok({
      peers: answers,
      total: known.length,
      ...(own && { node: await answerPeer(ctx, deps, own) }),
    })
  },
})

function selfAsPeer(self: Self, nowMs: number): Peer | undefined {
  if (self.url === undefined) return undefined
  const { id, url, name, region, version } = self
  const addresses = self.addresses()
  const times = { registeredAtMs: nowMs, lastSeenAtMs: nowMs }
  return { id, url, name, region, version, addresses, capabilities: CAPABILITIES, load: undefined, ...times }
}

/** Registers a node, or renews its registration. */
export const peerRegister = defineOperation({
  name: 'peer-register',
  method: 'POST',
  path: '/v1/peer/register',
  summary: 'Register a node or renew its registration',
  scope: 'admin',
  forPeers: true,
  params: {
    id: optional(idParam('id of the node; generated if omitted')),
    url: textParam<string>('invalid_parameter', parseOrigin, {
      description: 'URL of the node: HTTPS and a public address, except in networks that the operator allowed',
      example: 'https://node-1.example',
    }),
    name: optional(lineParam('display name; default the id', 100)),
    region: optional(lineParam('location, as free text', 100)),
    addresses: addressesParam,
    version: optional(lineParam('version of its software', 100)),
    capabilities: listParam(z.enum(CAPABILITIES), CAPABILITIES.length, {
      description: 'operations that the node offers',
      choices: CAPABILITIES,
      fallback: CAPABILITIES.join(),
    }),
  },
  answer: peerAnswer,
  document: peerDocument,
  statuses: { 201: 'The node was not registered before' },
  example: {
    input: { id: 'node-1', url: 'https://node-1.example', region: 'eu-west', addresses: ['203.0.113.7'] },
    output: peerExample,
  },
  deadlineMs: 10_000,
  uses: ['peers', 'geo', 'mayCall'],
  run: async (ctx, deps, input) => {
    const id = ownId(ctx.caller, input.id) ?? randomUUID()
    if (id === deps.peers.self.id) throw nodeError('own_id', { id }, { parameter: 'id' })
    if (input.url === deps.peers.self.url) throw nodeError('own_url', { url: input.url }, { parameter: 'url' })
    await refusePrivateUrl(ctx, deps, input.url)
    const { url, name = id, region = '', version = '', addresses = [], capabilities = CAPABILITIES } = input
    const change = await deps.peers.apply({
      kind: 'register',
      peer: { id, url, name, region, version, addresses: [...new Set(addresses)], capabilities },
    })
    if (change.outcome === 'taken') throw nodeError('id_taken', { id }, { parameter: 'id' })
    if (change.outcome === 'url_taken') throw nodeError('url_taken', { url }, { parameter: 'url' })
    if (change.outcome === 'crowded') throw nodeError('crowded', { max: MAX_PER_HOST, host: new URL(url).hostname })
    if (!('peer' in change)) throw nodeError('full', { max: MAX_PEERS })
    const answer = await answerPeer(ctx, deps, change.peer)
    return { status: change.outcome === 'created' ? 201 : 200, answer }
  },
})

/** Renews the lease of a node. */
export const peerHeartbeat = defineOperation({
  name: 'peer-heartbeat',
  method: 'POST',
  path: '/v1/peer/heartbeat',
  summary: 'Keep the registration of a node alive',
  scope: 'admin',
  forPeers: true,
  params: {
    id: idParam('id of the node'),
    load: loadParam,
    addresses: addressesParam,
  },
  answer: heartbeatAnswer,
  document: heartbeatDocument,
  example: {
    input: { id: 'node-1', load: { active: 3, capacity: 512 } },
    output: { id: 'node-1', status: 'alive', ttl_ms: 30_000, peers: 3 },
  },
  deadlineMs: 10_000,
  uses: ['peers'],
  run: async (ctx, { peers }, { id: given, load, addresses }) => {
    const id = ownId(ctx.caller, given)
    const change = await peers.apply({
      kind: 'heartbeat',
      id,
      ...(load ? { load } : {}),
      ...(addresses ? { addresses: [...new Set(addresses)] } : {}),
    })
    if (!('peer' in change)) throw nodeError('unknown', { id })
    const status = statusOf(change.peer, ctx.now(), peers.ttlMs)
    return ok({ id, status, ttl_ms: peers.ttlMs, peers: change.peers.size })
  },
})

/** How much of one node is returned: its addresses, and how many of them with geo data. */
type Shown = { readonly addresses: number; readonly geo: number }

const ALL: Shown = { addresses: MAX_ADDRESSES, geo: 32 }
/** The totals for a list of nodes, so that 1,000 nodes are about half a MiB. */
const IN_A_LIST: Shown = { addresses: 5_000, geo: 800 }

/** How much of each node a list of `count` nodes contains. */
const shownOfEach = (count: number): Shown => ({
  addresses: Math.min(ALL.addresses, Math.floor(IN_A_LIST.addresses / Math.max(1, count))),
  geo: Math.min(ALL.geo, Math.floor(IN_A_LIST.geo / Math.max(1, count))),
})

/** The wire record of a peer, with the geo data of its addresses. */
async function answerPeer(
  ctx: Ctx,
  deps: Pick<Deps, 'geo' | 'peers'>,
  peer: Peer,
  shown: Shown = ALL,
): Promise<PeerAnswer> {
  const addresses = peer.addresses.slice(0, shown.addresses)
  const leftOut = peer.addresses.length - addresses.length
  const geo = await atMost(8, addresses.slice(0, shown.geo), deps.geo)
  const record = presentPeer({ ...peer, addresses }, { nowMs: ctx.now(), ttlMs: deps.peers.ttlMs }, geo)
  return leftOut === 0 ? record : { ...record, addresses_left_out: leftOut }
}

/** The location of an address. */
export const geo = defineOperation({
  name: 'geo',
  method: 'GET',
  path: '/v1/peer/geo',
  summary: 'Show country, network and kind of an IP address',
  scope: 'read',
  params: { ip: positional(ipParam('IPv4 or IPv6 address to look up')) },
  answer: geoAnswer,
  document: geoDocument,
  example: { input: { ip: '203.0.113.7' }, output: peerExample.geo[0]! },
  deadlineMs: 10_000,
  uses: ['geo'],
  run: async (_ctx, deps, { ip }) => ok(await deps.geo(ip)),
})
