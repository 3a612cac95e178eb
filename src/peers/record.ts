import { z } from 'zod'
import type { GeoAnswer, PeerAnswer } from '../answers/peers.ts'
import { isJsonRecord } from '../base/json.ts'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import { printable } from '../base/text.ts'
import { parseIp } from '../names/ip.ts'
import { NODE_ID } from '../names/source.ts'
import { CAPABILITIES, MAX_ADDRESSES, MAX_PEERS, type Peer, type PeerStatus, statusOf } from './peer.ts'
import type { Moment, Peers } from './peers.ts'
import { originProblem } from './problems.ts'

const readBy = <T>(read: (text: string) => Parsed<T>) =>
  z.string().transform((text, ctx): T => {
    const value = read(text)
    if (value.ok) return value.value
    ctx.issues.push({ code: 'custom', message: value.problem.text, input: text })
    return z.NEVER
  })
const address = readBy(parseIp)
const origin = readBy(parseOrigin)
const text = z.string().transform((value) => printable(value, 100))
const time = z.string().transform((value, ctx): number => {
  const ms = Date.parse(value)
  if (Number.isFinite(ms)) return ms
  ctx.issues.push({ code: 'custom', message: 'not a valid time', input: value })
  return z.NEVER
})

/** The record of a peer as it is sent and stored. */
const record = z.object({
  id: z.string().regex(NODE_ID),
  url: origin,
  name: text,
  region: text,
  addresses: z.array(address).max(MAX_ADDRESSES),
  version: text,
  capabilities: z.array(z.enum(CAPABILITIES)).max(CAPABILITIES.length),
  status: z.enum(['alive', 'suspect', 'dead']),
  registered_at: time,
  last_seen_at: time,
  load: z.object({ active: z.number(), capacity: z.number() }).nullable(),
})

/** A peer as sent to others, with the locations of its addresses; without them for the store. */
export function presentPeer<Geo extends readonly GeoAnswer[] | undefined>(
  peer: Peer,
  { nowMs, ttlMs }: Moment,
  geo: Geo,
): Omit<PeerAnswer, 'geo'> & { readonly geo: Geo } {
  return {
    id: peer.id,
    url: peer.url,
    name: peer.name,
    region: peer.region,
    addresses: peer.addresses,
    version: peer.version,
    capabilities: peer.capabilities,
    geo,
    status: statusOf(peer, nowMs, ttlMs),
    registered_at: new Date(peer.registeredAtMs).toISOString(),
    last_seen_at: new Date(peer.lastSeenAtMs).toISOString(),
    ttl_ms: ttlMs,
    load: peer.load ?? null,
  }
}

export type ReadPeer = { readonly peer: Peer; readonly status: PeerStatus }

/** Reads one record; undefined when it is invalid. */
function readPeer(value: unknown): ReadPeer | undefined {
  // The schema would read all addresses before it counts them.
  if (isJsonRecord(value) && Array.isArray(value.addresses) && value.addresses.length > MAX_ADDRESSES) return undefined
  const read = record.safeParse(value)
  if (!read.success) return undefined
  const { status, registered_at, last_seen_at, load, ...rest } = read.data
  return {
    status,
    peer: { ...rest, load: load ?? undefined, registeredAtMs: registered_at, lastSeenAtMs: last_seen_at },
  }
}

/** Number of records that are read before other work runs: 16 records may have 4,096 addresses. */
const AT_A_TIME = 16

/** The peers of a list of records; invalid ones are left out, and those after the 1,000th. */
export async function readPeers(value: unknown): Promise<readonly ReadPeer[]> {
  const records = Array.isArray(value) ? value.slice(0, MAX_PEERS) : []
  const read: ReadPeer[] = []
  for (let at = 0; at < records.length; at += AT_A_TIME) {
    read.push(...records.slice(at, at + AT_A_TIME).flatMap((item) => readPeer(item) ?? []))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return read
}

export const peersById = (read: readonly ReadPeer[]): Peers => new Map(read.map(({ peer }) => [peer.id, peer]))

/** Maximum number of characters of a node's URL. */
const MAX_URL = 256

/**
 * Reads the URL of a node: an http or https origin, returned without a final slash. User name, password, path, query
 * and fragment are refused, because calls are signed for this origin and sent to it.
 */
export function parseOrigin(text: string): Parsed<string> {
  const url = text.length <= MAX_URL ? URL.parse(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) return problem(originProblem('invalid', { text }))
  if (url.username || url.password) return problem(originProblem('login', { text }))
  if (url.pathname !== '/' || url.search || url.hash) return problem(originProblem('path', { text }))
  return parsed(url.origin)
}
