import type { GeoAnswer, HeartbeatAnswer, PeerAnswer, PeersAnswer } from '../answers/peers.ts'
import { counted } from '../base/text.ts'
import { type Block, code, codes, type Document, heading, type Inline, type Line, type Mark, text } from './block.ts'
import { placeLine } from './check/hosts.ts'
import { duration, footerOf } from './words.ts'

const STATES: Readonly<Record<PeerAnswer['status'], readonly [Mark, string]>> = {
  alive: ['good', 'alive'],
  suspect: ['warn', 'suspect'],
  dead: ['bad', 'dead'],
}
const stateOf = (status: PeerAnswer['status']): Inline => ({ mark: STATES[status][0], text: STATES[status][1] })

/** Maximum number of addresses shown per node. */
const MAX_ADDRESSES = 16

/** The nodes of a cluster: how many are alive, all of them in one table, then each. */
export function peersDocument({ peers, total, node }: PeersAnswer, version: string): Document {
  const alive = peers.filter(({ status }) => status === 'alive').length
  return {
    title: 'Nodes',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: counted(total, 'other node'),
          mark: total === 0 ? 'none' : alive === peers.length ? 'good' : alive === 0 ? 'bad' : 'warn',
          badge: total === 0 ? 'Alone' : `${alive} alive`,
          words: total === 0 ? 'This node knows no other nodes.' : `${alive} of ${peers.length} nodes are alive.`,
          notes: peers.length < total ? [[`${total - peers.length} more are not shown.`]] : [],
        },
      },
      ...(peers.length === 0
        ? []
        : [
            {
              kind: 'table',
              table: {
                caption: 'Other nodes',
                head: ['Node', 'State', 'Region', 'Load', 'Last seen'],
                rows: peers.map((peer): Line[] => [
                  [code(peer.id)],
                  [stateOf(peer.status)],
                  [peer.region === '' ? '–' : peer.region],
                  [loadOf(peer)],
                  [{ time: peer.last_seen_at }],
                ]),
              },
            } as const,
          ]),
      ...(node === undefined ? [] : [heading(2, 'This node', 'self'), peerBlock(node, 3)]),
      ...(peers.length === 0 ? [] : [heading(2, 'Each node', 'nodes'), ...peers.map((peer) => peerBlock(peer, 3))]),
    ],
    footer: footerOf(version),
  }
}

/** One node, as registering returns it. */
export const peerDocument = (peer: PeerAnswer, version: string): Document => ({
  title: `Node: ${peer.id}`,
  blocks: [
    {
      kind: 'conclusion',
      conclusion: {
        subject: peer.id,
        mark: STATES[peer.status][0],
        badge: STATES[peer.status][1],
        words: `The node is registered; its next heartbeat is due within ${duration(peer.ttl_ms)}.`,
        notes: [],
      },
    },
    peerBlock(peer, 2),
  ],
  footer: footerOf(version),
})

/** The answer to a heartbeat. */
export const heartbeatDocument = ({ id, status, ttl_ms, peers }: HeartbeatAnswer, version: string): Document => ({
  title: `Node: ${id}`,
  blocks: [
    {
      kind: 'conclusion',
      conclusion: {
        subject: id,
        mark: STATES[status][0],
        badge: STATES[status][1],
        words: `The next heartbeat is due within ${duration(ttl_ms)}; ${counted(peers, 'node is', 'nodes are')} registered.`,
        notes: [],
      },
    },
  ],
  footer: footerOf(version),
})

const loadOf = ({ load }: PeerAnswer): string => (load === null ? '–' : `${load.active} of ${load.capacity}`)

function peerBlock(peer: PeerAnswer, level: 2 | 3): Block {
  const { id, name, url, region, version, capabilities, addresses, addresses_left_out = 0, geo, status } = peer
  const shown = addresses.slice(0, MAX_ADDRESSES)
  const more = addresses.length - shown.length + addresses_left_out
  return {
    kind: 'group',
    look: 'check',
    blocks: [
      {
        kind: 'heading',
        level,
        line: [code(id), ...(name === '' || name === id ? [] : [` ${name}`]), ' ', stateOf(status)],
      },
      {
        kind: 'facts',
        rows: [
          ['URL', [code(url)]],
          ...(region === '' ? [] : [['Region', [region]] as const]),
          ['Version', [code(version)]],
          ['Operations', [capabilities.length === 0 ? 'nothing' : capabilities.join(', ')]],
          ['Load', [loadOf(peer)]],
          ['Registered', [{ time: peer.registered_at }]],
          ['Last seen', [{ time: peer.last_seen_at }]],
        ],
      },
      ...(shown.length === 0
        ? [text('It has no source address.')]
        : [
            {
              kind: 'list',
              items: shown.map((ip): Line => {
                const place = geo.find((one) => one.ip === ip)
                return [...codes([ip]), ...(place === undefined ? [] : [' · ', ...placeLine(place)])]
              }),
            } as const,
          ]),
      ...(more === 0 ? [] : [text(`${counted(more, 'more address', 'more addresses')}.`)]),
    ],
  }
}

/** The known location of an address. */
export function geoDocument(answer: GeoAnswer, version: string): Document {
  const { ip, found, bogon, city, region, country_name, country } = answer
  const place = [city, region, country_name ?? country].filter((part) => part !== null)
  const words =
    bogon !== null
      ? `This is not a public internet address: ${bogon}.`
      : place.length > 0
        ? `${place.join(', ')}.`
        : 'Its location is not in the database.'
  return {
    title: `Address: ${ip}`,
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: ip,
          mark: bogon !== null ? 'warn' : found ? 'good' : 'open',
          badge: bogon !== null ? 'Special' : found ? 'Found' : 'Not found',
          words,
          notes: [],
        },
      },
      { kind: 'facts', rows: rowsOf(answer) },
    ],
    footer: footerOf(version),
  }
}

function rowsOf({
  country,
  country_name,
  continent,
  region,
  city,
  latitude,
  longitude,
  timezone,
  asn,
  as_org,
}: GeoAnswer) {
  const rows: readonly (readonly [string, string | null])[] = [
    ['Country', country_name === null ? country : `${country_name}${country === null ? '' : ` (${country})`}`],
    ['Continent', continent],
    ['Region', region],
    ['City', city],
    ['Position', latitude === null || longitude === null ? null : `${latitude}, ${longitude}`],
    ['Time zone', timezone],
    ['Network', asn === null ? as_org : `AS${asn}${as_org === null ? '' : ` ${as_org}`}`],
  ]
  return rows.flatMap(([label, value]): (readonly [string, Line])[] => (value === null ? [] : [[label, [value]]]))
}
