import type { Cidr } from '../../names/cidr.ts'
import { familyOf } from '../../names/ip.ts'
import type { SpfTerm } from './tree.ts'

/** The networks of an `a` or `mx` term (RFC 7208 §5.3); undefined for another term, and if not all addresses of both families are known. */
export function networksOf({ directive, found }: SpfTerm): readonly Cidr[] | undefined {
  const mechanism = directive?.mechanism
  if (!found || (mechanism?.kind !== 'a' && mechanism?.kind !== 'mx')) return undefined
  const both = [found.ip4, found.ip6]
  if (both.some(({ kind, partial }) => kind === 'unknown' || partial)) return undefined
  return both.flatMap(({ addresses }) =>
    addresses.map((base) => {
      const family = familyOf(base)
      return { base, family, prefix: prefixOf(mechanism.cidr, family) }
    }),
  )
}

/** The prefix length that an `a` or `mx` term applies to its addresses; by default the whole address (RFC 7208 §5.3). */
export const prefixOf = (cidr: { readonly ip4?: number; readonly ip6?: number }, family: 4 | 6): number =>
  family === 4 ? (cidr.ip4 ?? 32) : (cidr.ip6 ?? 128)
