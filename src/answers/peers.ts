import { z } from 'zod'
import type { AnswerOf } from './answer.ts'

const text = z.string().nullable()
const number = z.number().nullable()

/** The answer of `/v1/peer/geo`; unknown values are null. */
export const geoAnswer = z
  .strictObject({
    ip: z.string(),
    found: z.boolean().nullable().meta({ description: 'null if a database could not be read' }),
    country: text,
    country_name: text,
    continent: text,
    region: text,
    city: text,
    latitude: number,
    longitude: number,
    timezone: text,
    asn: number,
    as_org: text,
    bogon: text.meta({ description: 'kind of a special-purpose address' }),
    reason: z.string().optional().meta({ description: 'why it is not known whether the address is found' }),
  })
  .meta({ id: 'Geo' })
export type GeoAnswer = AnswerOf<typeof geoAnswer>

const status = z.enum(['alive', 'suspect', 'dead'])

/** The record of a node, as register and list answer it. */
export const peerAnswer = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    name: z.string(),
    region: z.string(),
    addresses: z.array(z.string()),
    addresses_left_out: z
      .int()
      .optional()
      .meta({ description: 'number of addresses omitted from a long list of nodes' }),
    version: z.string(),
    capabilities: z.array(z.enum(['verify', 'check', 'blacklist'])),
    geo: z
      .array(geoAnswer)
      .meta({ description: 'locations of its addresses; at most 32, fewer in a long list of nodes' }),
    status,
    registered_at: z.iso.datetime(),
    last_seen_at: z.iso.datetime(),
    ttl_ms: z.int(),
    load: z.strictObject({ active: z.int(), capacity: z.int() }).nullable(),
  })
  .meta({ id: 'Peer' })
export type PeerAnswer = AnswerOf<typeof peerAnswer>

/** The answer of `/v1/peer/peers`. */
export const peersAnswer = z.strictObject({
  peers: z.array(peerAnswer),
  total: z.int(),
  node: peerAnswer.optional().meta({ description: 'this node, if it has a URL' }),
})
export type PeersAnswer = AnswerOf<typeof peersAnswer>

/** The answer of `/v1/peer/heartbeat`. */
export const heartbeatAnswer = z.strictObject({
  id: z.string(),
  status,
  ttl_ms: z.int().meta({ description: 'time within which the next heartbeat is due' }),
  peers: z.int().meta({ description: 'number of known nodes' }),
})
export type HeartbeatAnswer = AnswerOf<typeof heartbeatAnswer>

/** The answer of `/v1/peer/forget`. */
export const peerForgetAnswer = z.strictObject({
  removed: z.int().min(0).meta({ description: 'entries in the memory of this node' }),
})
