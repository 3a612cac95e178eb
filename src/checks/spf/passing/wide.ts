import { type Directive, formatDirective, reachable } from '../terms.ts'
import { chainOf, type SpfNode, type SpfTerm } from '../tree.ts'
import { setOf } from './intervals.ts'
import { type Passing, passingOf } from './passing.ts'
import { isEverybody, publicIpv4, publicPrefixes } from './size.ts'

/** A directive that lets everybody pass, or much of the internet, and the name of its record. */
export type WideTerm = { readonly text: string; readonly domain: string }

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
