import { atMost } from '../base/at-most.ts'
import type { Geo } from '../geo/merge.ts'
import type { firstDestination } from '../mailbox/attempt/destinations.ts'
import type { Ip } from '../names/ip.ts'
import { nodeName } from '../names/source.ts'
import type { Peer } from '../peers/peer.ts'
import type { Deps } from './deps.ts'

/** Distances that differ by less count as equal, so that the load decides, km. */
const STEP_KM = 500
/** The assumed distance if only countries or continents are known, and if nothing is, in steps. */
const SAME_COUNTRY = 1
const SAME_CONTINENT = 6
const ELSEWHERE = 16
const UNKNOWN = 17
/** Maximum number of nodes that are located at the same time. */
const AT_A_TIME = 8

/**
 * The nodes that may verify a mailbox, best first: by their state toward the provider of the mail host, then by the distance between node and mail host, then
 * in their order (by load). Nodes in a cooldown toward the provider are left out. Without a destination the order stays.
 */
export async function nearestNodes(
  { geo, verifier }: Pick<Deps, 'geo' | 'verifier'>,
  nodes: readonly Peer[],
  to: Awaited<ReturnType<typeof firstDestination>>,
): Promise<readonly Peer[]> {
  if (!to) return nodes
  await verifier.sources.load()
  const there = await geo(to.address)
  const ranked = await atMost(AT_A_TIME, nodes, async (node) => ({
    node,
    health: verifier.sources.health(nodeName(node.id), to.provider),
    steps: await stepsTo(geo, node.addresses[0], there),
  }))
  return ranked
    .filter(({ health }) => health < 3)
    .toSorted((a, b) => a.health - b.health || a.steps - b.steps)
    .map(({ node }) => node)
}

async function stepsTo(geo: Deps['geo'], address: Ip | undefined, there: Geo): Promise<number> {
  return address === undefined ? UNKNOWN : distanceSteps(await geo(address), there)
}

type Place = Pick<Geo, 'country' | 'continent' | 'latitude' | 'longitude'>

/** The distance between two places, in steps of 500 km; by country or continent if only that is known. */
export function distanceSteps(a: Place, b: Place): number {
  const [from, to] = [pointOf(a), pointOf(b)]
  if (from && to) return Math.floor(kmBetween(from, to) / STEP_KM)
  if (a.country === null || b.country === null) return UNKNOWN
  if (a.country === b.country) return SAME_COUNTRY
  return a.continent !== null && a.continent === b.continent ? SAME_CONTINENT : ELSEWHERE
}

type Point = { readonly latitude: number; readonly longitude: number }
const pointOf = ({ latitude, longitude }: Place): Point | undefined =>
  latitude === null || longitude === null ? undefined : { latitude, longitude }

const EARTH_KM = 6_371
/** The great-circle distance, by the haversine formula. */
function kmBetween(a: Point, b: Point): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180
  const [lat1, lat2] = [radians(a.latitude), radians(b.latitude)]
  const half =
    Math.sin((lat2 - lat1) / 2) ** 2 +
    Math.cos(lat1) * Math.cos(lat2) * Math.sin(radians(b.longitude - a.longitude) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(half)))
}
