import type { Ip } from '../../names/ip.ts'
import { dataOf, type Message, type ResourceRecord } from './decode.ts'
import {
  CLASS_IN,
  DNAME,
  RCODE,
  type RecordData,
  type RecordType,
  type Referral,
  RRSIG,
  TYPE_CODES,
} from './resolver.ts'

/** Maximum length of a CNAME chain. */
export const MAX_CHAIN = 16

/** What a NOERROR or NXDOMAIN message contains about a name. */
export type Reading<T extends RecordType> =
  | {
      readonly is: 'answer'
      readonly kind: 'found' | 'nodata' | 'nxdomain'
      readonly records: readonly RecordData[T][]
      readonly ttlSeconds: number
      readonly chain: readonly string[]
    }
  /** The chain ends in a name about which the message contains nothing: it needs another query. */
  | { readonly is: 'unfinished'; readonly ttlSeconds: number; readonly chain: readonly string[] }
  | { readonly is: 'cname_loop' }
  /** A server that was asked to recurse returns a referral instead. */
  | { readonly is: 'referral' }
  | { readonly is: 'malformed'; readonly problem: string }

const EMPTY: readonly never[] = []
/** Above every TTL (RFC 2181 §8). */
const NO_TTL_YET = 0x7fffffff

/**
 * Reads what `message` contains about `name` (as spelled by {@link decodeMessage}) and `type`. It follows the CNAME
 * records (RFC 1034 §3.6.2), applies NXDOMAIN to the end of the chain (RFC 6604 §3), and takes the negative TTL from
 * the SOA record (RFC 2308 §5; 0 without one). A contradictory answer is `malformed`: NXDOMAIN with records, or only
 * records of other names and types.
 */
export function interpret<T extends RecordType>(message: Message, name: string, type: T): Reading<T> {
  const nxdomain = message.rcode === RCODE.nxDomain
  let chain: readonly string[] = EMPTY
  let at = name
  let ttlSeconds = NO_TTL_YET
  for (;;) {
    const found = recordsAt(message, at, type)
    if (found === undefined) return { is: 'malformed', problem: `a ${type} record cannot be read` }
    if (found.records.length > 0 && nxdomain) break
    if (found.records.length > 0) {
      ttlSeconds = Math.min(ttlSeconds, found.ttlSeconds)
      return { is: 'answer', kind: 'found', records: found.records, ttlSeconds, chain }
    }
    const alias = message.answers.find((record) => isAt(record, at, TYPE_CODES.CNAME))
    if (!alias) break
    const target = dataOf(message, alias, 'CNAME')
    if (target === undefined) return { is: 'malformed', problem: 'a CNAME record cannot be read' }
    if (target === name || chain.includes(target) || chain.length === MAX_CHAIN) return { is: 'cname_loop' }
    chain = [...chain, target]
    ttlSeconds = Math.min(ttlSeconds, alias.ttlSeconds)
    at = target
  }
  if ((nxdomain || chain.length === 0) && message.answers.some((record) => isForeign(record, chain)))
    return {
      is: 'malformed',
      problem: nxdomain ? 'NXDOMAIN beside records' : 'no record has the queried name and type',
    }
  const soa = message.authority.find((record) => record.type === TYPE_CODES.SOA && record.class === CLASS_IN)
  if (!nxdomain && !soa && chain.length > 0) return { is: 'unfinished', ttlSeconds, chain }
  if (!nxdomain && !soa && isReferral(message)) return { is: 'referral' }
  const kind = nxdomain ? 'nxdomain' : 'nodata'
  return { is: 'answer', kind, records: EMPTY, ttlSeconds: Math.min(ttlSeconds, negativeTtl(message, soa)), chain }
}

/**
 * Whether a record does not belong in an answer without records of the type: all except those of the chain, DNAME and
 * RRSIG (RFC 6672 §3.1, RFC 4035 §3.1.1).
 */
const isForeign = ({ type }: ResourceRecord, chain: readonly string[]): boolean =>
  type !== DNAME && type !== RRSIG && (type !== TYPE_CODES.CNAME || chain.length === 0)

const isAt = (record: ResourceRecord, name: string, type: number): boolean =>
  record.type === type && record.name === name && record.class === CLASS_IN

/** The records of `type` at `name` and their lowest TTL; undefined if one of them cannot be read. */
function recordsAt<T extends RecordType>(
  message: Message,
  name: string,
  type: T,
): { readonly records: readonly RecordData[T][]; readonly ttlSeconds: number } | undefined {
  const code = TYPE_CODES[type]
  let records: RecordData[T][] | undefined
  let ttlSeconds = NO_TTL_YET
  for (const record of message.answers) {
    if (!isAt(record, name, code)) continue
    const data = dataOf(message, record, type)
    if (data === undefined) return undefined
    if (record.ttlSeconds < ttlSeconds) ttlSeconds = record.ttlSeconds
    if (records) records.push(data)
    else records = [data] // an empty array that grows has room for 17
  }
  return { records: records ?? EMPTY, ttlSeconds }
}

function negativeTtl(message: Message, soa: ResourceRecord | undefined): number {
  const data = soa && dataOf(message, soa, 'SOA')
  return soa && data ? Math.min(soa.ttlSeconds, data.minimum) : 0
}

/** Not authoritative, not recursive, and with the names of other servers (RFC 1034 §4.3.1). */
const isReferral = (message: Message): boolean =>
  !message.authoritative &&
  !message.recursionAvailable &&
  message.authority.some((record) => record.type === TYPE_CODES.NS)

const MAX_SERVERS = 100
/** Maximum number of addresses that are read of each name server of a referral. */
const MAX_ADDRESSES = 20

/**
 * The delegation in a referral: the NS records of its authority section, and the addresses of these servers in its
 * additional section (glue, RFC 9471 §2). Undefined if there is none. Only an ancestor of `name`, or `name` itself, can
 * be the zone.
 */
export function referralOf(message: Message, name: string): Referral | undefined {
  const records = message.authority.filter((record) => record.type === TYPE_CODES.NS && record.class === CLASS_IN)
  const zone = records[0]?.name
  if (zone === undefined || (zone !== '' && name !== zone && !name.endsWith(`.${zone}`))) return undefined
  const servers = new Set<string>()
  for (const record of records) {
    const server = record.name === zone ? dataOf(message, record, 'NS') : undefined
    if (server !== undefined && servers.size < MAX_SERVERS) servers.add(server)
  }
  const glue = new Map<string, Ip[]>()
  for (const record of message.additional) {
    const address = servers.has(record.name)
      ? (dataOf(message, record, 'A') ?? dataOf(message, record, 'AAAA'))
      : undefined
    if (address === undefined || record.class !== CLASS_IN) continue
    const known = glue.get(record.name) ?? []
    if (known.length < MAX_ADDRESSES) glue.set(record.name, [...known, address])
  }
  return { zone, servers: [...servers].sort(), glue: Object.fromEntries(glue) }
}
