import type { PeerAnswer } from '../answers/peers.ts'
import { atMost } from '../base/at-most.ts'
import { presentGeo } from '../geo/merge.ts'
import { MAX_ADDRESSES, type Peer } from '../peers/peer.ts'
import { presentPeer } from '../peers/record.ts'
import type { Ctx } from '../world.ts'
import type { Deps } from './deps.ts'

/** How much of one node is returned: its addresses, and how many of them with geo data. */
type Shown = { readonly addresses: number; readonly geo: number }

const ALL: Shown = { addresses: MAX_ADDRESSES, geo: 32 }
/** The totals for a list of nodes, so that 1,000 nodes are about half a MiB. */
const IN_A_LIST: Shown = { addresses: 5_000, geo: 800 }

/** How much of each node a list of `count` nodes contains. */
export const shownOfEach = (count: number): Shown => ({
  addresses: Math.min(ALL.addresses, Math.floor(IN_A_LIST.addresses / Math.max(1, count))),
  geo: Math.min(ALL.geo, Math.floor(IN_A_LIST.geo / Math.max(1, count))),
})

/** The wire record of a peer, with the geo data of its addresses. */
export async function answerPeer(
  ctx: Ctx,
  deps: Pick<Deps, 'geo' | 'peers'>,
  peer: Peer,
  shown: Shown = ALL,
): Promise<PeerAnswer> {
  const addresses = peer.addresses.slice(0, shown.addresses)
  const leftOut = peer.addresses.length - addresses.length
  const geo = await atMost(8, addresses.slice(0, shown.geo), async (address) => presentGeo(await deps.geo(address)))
  const record = presentPeer({ ...peer, addresses }, { nowMs: ctx.now(), ttlMs: deps.peers.ttlMs }, geo)
  return leftOut === 0 ? record : { ...record, addresses_left_out: leftOut }
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
