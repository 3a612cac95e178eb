import type { PeerAnswer } from '../answers/peers.ts'
import { atMost } from '../base/at-most.ts'
import { presentGeo } from '../geo/present.ts'
import type { Peer } from '../peers/peer.ts'
import { presentPeer } from '../peers/record.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'

/** The most addresses of one node that are answered with their geo data. */
const MAX_GEO = 32

/** The wire record of a peer, with the geo data of its addresses. */
export async function answerPeer(ctx: Ctx, deps: Pick<Deps, 'geo' | 'peers'>, peer: Peer): Promise<PeerAnswer> {
  const geo = await atMost(8, peer.addresses.slice(0, MAX_GEO), async (address) => presentGeo(await deps.geo(address)))
  return presentPeer(peer, { nowMs: ctx.now(), ttlMs: deps.peers.ttlMs }, geo)
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
