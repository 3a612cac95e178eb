import type { Ip } from '../../names/ip.ts'
import { dataOf, type Message } from './decode.ts'
import type { Referral } from './resolver.ts'
import { CLASS_IN, TYPE_CODES } from './types.ts'

/** Maximum number of name servers that are read of a referral. */
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
