import type { GeoAnswer, HeartbeatAnswer, PeerAnswer, PeersAnswer } from '../answers/peers.ts'
import { counted } from '../base/text.ts'
import {
  type Block,
  bullets,
  code,
  conclude,
  type Document,
  type Fact,
  facts,
  group,
  heading,
  type Marked,
  table,
  text,
} from './block.ts'
import { placeLine } from './check/hosts.ts'
import { documentOf, duration } from './words.ts'

const STATES: Readonly<Record<PeerAnswer['status'], Marked>> = {
  alive: { mark: 'good', text: 'alive' },
  suspect: { mark: 'warn', text: 'suspect' },
  dead: { mark: 'bad', text: 'dead' },
}

/** Maximum number of addresses shown per node. */
const MAX_ADDRESSES = 16

/** The nodes of a cluster: how many are alive, all of them in one table, then each. */
export function peersDocument({ peers, total, node }: PeersAnswer, version: string): Document {
  const alive = peers.filter(({ status }) => status === 'alive').length
  const subject = counted(total, 'other node')
  return documentOf(
    'Nodes',
    version,
    total === 0
      ? conclude(subject, 'none', 'Alone', 'This node knows no other nodes.')
      : conclude(
          subject,
          alive === peers.length ? 'good' : alive === 0 ? 'bad' : 'warn',
          `${alive} alive`,
          `${alive} of ${peers.length} nodes are alive.`,
          peers.length < total ? [[`${total - peers.length} more are not shown.`]] : [],
        ),
    table(
      'Other nodes',
      peers,
      ['Node', ({ id }) => code(id)],
      ['State', ({ status }) => STATES[status]],
      ['Region', ({ region }) => (region === '' ? '–' : region)],
      ['Load', loadOf],
      ['Last seen', (peer) => ({ time: peer.last_seen_at })],
    ),
    node !== undefined && [heading(2, 'This node', 'self'), peerBlock(node, 3)],
    peers.length > 0 && [heading(2, 'Each node', 'nodes'), peers.map((peer) => peerBlock(peer, 3))],
  )
}

/** One node, as registering returns it. */
export function peerDocument(peer: PeerAnswer, version: string): Document {
  const { mark, text: badge } = STATES[peer.status]
  const words = `The node is registered; its next heartbeat is due within ${duration(peer.ttl_ms)}.`
  return documentOf(`Node: ${peer.id}`, version, conclude(peer.id, mark, badge, words), peerBlock(peer, 2))
}

export function heartbeatDocument({ id, status, ttl_ms, peers }: HeartbeatAnswer, version: string): Document {
  const { mark, text: badge } = STATES[status]
  const known = counted(peers, 'node is', 'nodes are')
  const words = `The next heartbeat is due within ${duration(ttl_ms)}; ${known} registered.`
  return documentOf(`Node: ${id}`, version, conclude(id, mark, badge, words))
}

const loadOf = ({ load }: PeerAnswer): string => (load === null ? '–' : `${load.active} of ${load.capacity}`)

function peerBlock(peer: PeerAnswer, level: 2 | 3): Block {
  const { id, name, url, region, version, capabilities, addresses, addresses_left_out = 0, geo, status } = peer
  const shown = addresses.slice(0, MAX_ADDRESSES)
  const more = addresses.length - shown.length + addresses_left_out
  return group(
    'check',
    { kind: 'heading', level, line: [code(id), name === '' || name === id ? '' : ` ${name}`, ' ', STATES[status]] },
    facts(
      ['URL', code(url)],
      region !== '' && ['Region', region],
      ['Version', code(version)],
      ['Operations', capabilities.length === 0 ? 'nothing' : capabilities.join(', ')],
      ['Load', loadOf(peer)],
      ['Registered', { time: peer.registered_at }],
      ['Last seen', { time: peer.last_seen_at }],
    ),
    shown.length === 0 && text('It has no source address.'),
    bullets(
      shown.map((ip) => {
        const place = geo.find((one) => one.ip === ip)
        return [code(ip), ...(place === undefined ? [] : [' · ', ...placeLine(place)])]
      }),
    ),
    more > 0 && text(`${counted(more, 'more address', 'more addresses')}.`),
  )
}

/** The known location of an address. */
export function geoDocument(answer: GeoAnswer, version: string): Document {
  const { ip, found, bogon, continent, region, city, latitude, longitude, timezone, asn, as_org } = answer
  const place = [city, region, answer.country_name ?? answer.country].filter((part) => part !== null)
  const missing =
    answer.reason === undefined ? 'Its location is not in the database.' : `It is not known: ${answer.reason}.`
  const words = place.length > 0 ? `${place.join(', ')}.` : missing
  return documentOf(
    `Address: ${ip}`,
    version,
    bogon === null
      ? conclude(ip, found ? 'good' : 'open', found ? 'Found' : found === null ? 'Unknown' : 'Not found', words)
      : conclude(ip, 'warn', 'Special', `This is not a public internet address: ${bogon}.`),
    facts(
      known('Country', countryOf(answer)),
      known('Continent', continent),
      known('Region', region),
      known('City', city),
      latitude !== null && longitude !== null && ['Position', `${latitude}, ${longitude}`],
      known('Time zone', timezone),
      known('Network', asn === null ? as_org : `AS${asn}${as_org === null ? '' : ` ${as_org}`}`),
    ),
  )
}

const known = (label: string, value: string | null): Fact => value !== null && [label, value]

const countryOf = ({ country, country_name: name }: GeoAnswer): string | null =>
  name === null || country === null ? (name ?? country) : `${name} (${country})`
