import { z } from 'zod'
import { atMost } from '../base/at-most.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { presentGeo } from '../geo/present.ts'
import type { Peer } from '../peers/peer.ts'
import { presentPeer } from '../peers/record.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'

/** Addresses of one node that are told with where they stand. */
const MAX_GEO = 32

const nullable = { text: z.string().nullable(), number: z.number().nullable() }

export const geoAnswer = z.looseObject({
  ip: z.string(),
  found: z.boolean(),
  country: nullable.text,
  country_name: nullable.text,
  continent: nullable.text,
  region: nullable.text,
  city: nullable.text,
  latitude: nullable.number,
  longitude: nullable.number,
  timezone: nullable.text,
  asn: nullable.number,
  as_org: nullable.text,
  bogon: nullable.text,
})

/** A peer record, as register and list answer it. */
export const peerAnswer = z.looseObject({
  id: z.string(),
  url: z.string(),
  name: z.string(),
  region: z.string(),
  addresses: z.array(z.string()),
  version: z.string(),
  capabilities: z.array(z.enum(['verify', 'check', 'blacklist'])),
  geo: z.array(geoAnswer).meta({ description: `where its addresses stand; the first ${MAX_GEO}` }),
  status: z.enum(['alive', 'suspect', 'dead']),
  registered_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
  ttl_ms: z.int(),
  load: z.object({ active: z.int(), capacity: z.int() }).nullable(),
})

/** A peer as it is answered, with where its addresses stand. */
export async function answerPeer(ctx: Ctx, deps: Deps, peer: Peer): Promise<JsonObject> {
  const geo = await atMost(8, peer.addresses.slice(0, MAX_GEO), async (address) => presentGeo(await deps.geo(address)))
  return presentPeer(peer, { nowMs: ctx.now(), ttlMs: deps.peers.ttlMs }, geo as Json)
}

export const peerExample = {
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
