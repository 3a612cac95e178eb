import type { Cidr } from '../../names/cidr.ts'
import { bytesOf, familyOf, type Ip } from '../../names/ip.ts'
import type { Directive } from './terms.ts'
import { chainOf, type SpfNode, type SpfTerm } from './tree.ts'

/** How many IPv4 addresses a domain's own record lets pass, includes left out (0 to 2^32). A host whose address was not asked counts as one. */
export function countIpv4(root: SpfNode): number {
  const chain = chainOf(root)
  const networks = chain.flatMap(({ record, terms }) => [
    ...(record?.directives ?? [])
      .filter(passes)
      .flatMap(({ mechanism }) => ('network' in mechanism ? mechanism.network : [])),
    ...terms.flatMap((term) => networksOf(term) ?? []),
  ])
  const unasked = chain.flatMap(({ terms }) => terms).filter((term) => passesTerm(term) && !term.addresses)
  const most = unasked.reduce((sum, { exchanges }) => sum + (exchanges ?? 0), 0)
  return Math.min(2 ** 32, union(networks.filter(({ family }) => family === 4)) + most)
}

/** The networks that an `a` or `mx` term stands for, as far as its addresses are known (RFC 7208 §5.3); undefined for other terms. */
export function networksOf({ directive, addresses }: SpfTerm): readonly Cidr[] | undefined {
  if (!directive || !addresses || !passes(directive) || !('cidr' in directive.mechanism)) return undefined
  const { cidr } = directive.mechanism
  return addresses.map((base) => {
    const family = familyOf(base)
    return { base, family, prefix: family === 4 ? (cidr.ip4 ?? 32) : (cidr.ip6 ?? 128) }
  })
}

const passes = ({ qualifier }: Directive): boolean => qualifier === '+'
const passesTerm = ({ directive }: SpfTerm): boolean => directive !== undefined && passes(directive)

function union(networks: readonly Cidr[]): number {
  const ranges = networks
    .map(({ base, prefix }) => {
      const size = 2 ** (32 - prefix)
      const first = Math.floor(toNumber(base) / size) * size
      return [first, first + size] as const
    })
    .sort(([a], [b]) => a - b)
  let count = 0
  let end = 0
  for (const [first, last] of ranges) {
    if (last <= end) continue
    count += last - Math.max(first, end)
    end = last
  }
  return count
}

const toNumber = (ip: Ip): number => bytesOf(ip).reduce((sum, byte) => sum * 256 + byte, 0)
