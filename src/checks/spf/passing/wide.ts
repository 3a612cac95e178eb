import { once } from '../../../base/share-work.ts'
import { type Cidr, cidr } from '../../../names/cidr.ts'
import type { Family } from '../../../names/ip.ts'
import { type IpRange, SPECIAL_NETWORKS } from '../../../names/ip-range.ts'
import { type Directive, formatDirective, reachable } from '../terms.ts'
import { chainOf, type SpfNode, type SpfTerm } from '../tree.ts'
import { firstMatches, type Interval, type Intervals, intervalOf, setOf, without } from './intervals.ts'
import { type Passing, passingOf } from './passing.ts'

/** A directive that lets everybody pass, or much of the internet, and the name of its record. */
type WideTerm = { readonly text: string; readonly domain: string }

/** Who passes, counted. */
export type Extent = {
  readonly passing: Passing
  /** Public IPv4 addresses that pass (0 to 2^32), and how many of them by terms other than includes. */
  readonly ipv4: number
  readonly ownIpv4: number
  /** Networks of 64 bits of public IPv6 addresses that pass. */
  readonly ipv6Prefixes: number
  /** Half of IPv4, an IPv6 /3, or more: equivalent to `+all`. */
  readonly everybody: boolean
  /** The terms that contribute most; empty unless `everybody`. */
  readonly wide: readonly WideTerm[]
}

/** Prefix lengths that make a single term wide. */
const WIDE = { ip4: 8, ip6: 16 } as const

/** Counts who passes. */
export function extentOf(root: SpfNode): Extent {
  const passing = passingOf(root)
  const everybody = isEverybody(passing.ip4, passing.ip6)
  const own = passing.terms.filter(({ include }) => !include)
  return {
    passing,
    ipv4: publicIpv4(passing.ip4),
    ownIpv4: publicIpv4(setOf(own.flatMap(({ ip4 }) => ip4))),
    ipv6Prefixes: publicPrefixes(passing.ip6),
    everybody,
    wide: everybody ? wideTermsOf(root) : [],
  }
}

/** The wide terms of a node, of its redirect and of its includes. */
function wideTermsOf(node: SpfNode): readonly WideTerm[] {
  return chainOf(node).flatMap(({ domain, record, terms }) => {
    const own = (record ? reachable(record) : [])
      .filter((directive) => isWide(directive, terms))
      .map((directive) => ({ text: formatDirective(directive), domain }))
    const below = terms.filter(
      ({ directive }) => directive?.qualifier === '+' && directive.mechanism.kind === 'include',
    )
    return [...own, ...below.flatMap((term) => (term.node ? wideTermsOf(term.node) : []))]
  })
}

/** Whether a directive alone lets so many pass; an `all` after everybody was named is not searched. */
export function isWide(directive: Directive, terms: readonly SpfTerm[]): boolean {
  const { qualifier, mechanism } = directive
  if (qualifier !== '+') return false
  switch (mechanism.kind) {
    case 'all':
      return true
    case 'ip4':
    case 'ip6':
      return mechanism.network.prefix <= WIDE[mechanism.kind]
    case 'a':
    case 'mx':
      return (mechanism.cidr.ip4 ?? 32) <= WIDE.ip4 || (mechanism.cidr.ip6 ?? 128) <= WIDE.ip6
    case 'exists':
      return terms.some(({ text, state }) => text === formatDirective(directive) && state === 'found')
    default:
      return false
  }
}

/** The number of addresses in a set; for IPv6 with the precision of a double. */
export const sizeOf = (set: Intervals): number =>
  set.reduce(
    (sum, [first, end]) => sum + (typeof first === 'number' ? Number(end) - first : Number(BigInt(end) - first)),
    0,
  )

/** The number of IPv4 addresses of a set that can send over the internet: private and reserved ones are not counted. */
export const publicIpv4 = (set: Intervals): number => sizeOf(without(set, reserved(4)))

/**
 * The number of networks of 64 bits, the size of one link (RFC 4291 §2.5.1), that overlap the public part of an IPv6
 * set.
 */
export function publicPrefixes(set: Intervals): number {
  let count = 0
  let counted: bigint | undefined
  for (const [first, end] of without(set, reserved(6))) {
    const from = BigInt(first) >> 64n
    const to = (BigInt(end) - 1n) >> 64n
    count += Number(to - from) + (counted === from ? 0 : 1)
    counted = to
  }
  return count
}

/** Whether no address of a network can send over the internet. */
export const isReservedNetwork = (network: Cidr): boolean =>
  without([intervalOf(network)], reserved(network.family)).length === 0

/** Half of IPv4. */
const EVERYBODY_4 = 2 ** 31
/** An IPv6 /3, the size of the public part (RFC 4291 §2.4), minus a sixteenth: gaps in it change nothing. */
const EVERYBODY_6 = 2 ** 125 - 2 ** 121

/** Whether a set is so wide that it is equivalent to everybody. */
const isEverybody = (ip4: Intervals, ip6: Intervals): boolean =>
  sizeOf(ip4) >= EVERYBODY_4 || sizeOf(ip6) >= EVERYBODY_6

/** Documentation networks count like any other, because people use them when they try a record out. */
const COUNTED: readonly IpRange[] = ['public', 'documentation']

const reservedOf = (family: Family): (() => Intervals) =>
  once(() => {
    const networks = SPECIAL_NETWORKS.map(({ network, range }) => ({ network: cidr(network), range })).filter(
      ({ network }) => network.family === family,
    )
    const segments = networks.map(({ network }, index) => {
      const [first, end] = intervalOf(network)
      return { first, end, index }
    })
    return firstMatches(segments)
      .filter(({ index }) => !COUNTED.includes(networks[index]!.range))
      .map(({ first, end }): Interval => [first, end])
  })
const reserved4 = reservedOf(4)
const reserved6 = reservedOf(6)
const reserved = (family: Family): Intervals => (family === 4 ? reserved4() : reserved6())
