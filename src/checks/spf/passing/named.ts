import { type Family, type Ip, ipFromBytes } from '../../../names/ip.ts'
import { reachable } from '../terms.ts'
import { chainOf, networksOf, type SpfNode } from '../tree.ts'
import { type Interval, intervalOf } from './intervals.ts'
import { type Passing, passes } from './passing.ts'

/** Maximum number of addresses that are listed. */
const MAX_NAMED = 10
/** The shortest prefix that still names single hosts: 4 addresses of IPv4, 16 of IPv6. */
const LEAST_PREFIX = { 4: 30, 6: 124 } as const

/**
 * The addresses that a domain's own record, or the one it redirects to, names one by one and lets pass: by `a` of
 * another name, `mx`, `ip4` up to /30 and `ip6` up to /124, in the order of the record. At most 10. An `a` without a
 * name is most often the address of the website, perhaps of a CDN; includes name the hosts of others.
 */
export function namedAddresses(root: SpfNode, passing: Passing): readonly Ip[] {
  const named = new Set<Ip>()
  for (const { base, prefix, family } of chainOf(root).flatMap(networksIn)) {
    if (prefix < LEAST_PREFIX[family]) continue
    for (const address of addressesIn(intervalOf({ base, prefix }), family)) {
      if (named.size >= MAX_NAMED) return [...named]
      if (passes(passing, address)) named.add(address)
    }
  }
  return [...named]
}

const networksIn = ({ record, terms }: SpfNode) =>
  (record ? reachable(record) : []).flatMap((directive) => {
    const { mechanism } = directive
    if (directive.qualifier !== '+' || (mechanism.kind === 'a' && !mechanism.domain)) return []
    if ('network' in mechanism) return [mechanism.network]
    const term = terms.find((one) => one.directive === directive)
    return term ? (networksOf(term) ?? []) : []
  })

function addressesIn([first, end]: Interval, family: Family): readonly Ip[] {
  const from = BigInt(first)
  return Array.from({ length: Number(BigInt(end) - from) }, (_, i) => addressOf(from + BigInt(i), family))
}

const addressOf = (point: bigint, family: Family): Ip =>
  ipFromBytes(Buffer.from(point.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex'))
