import type { Problem } from '../../base/problem.ts'
import type { Cidr } from '../../names/cidr.ts'
import { familyOf, type Ip } from '../../names/ip.ts'
import { allOf, type Directive, reachable, type SpfRecord } from './terms.ts'

/** Maximum number of terms with a lookup, over all records together (RFC 7208 §4.6.4). */
export const MAX_LOOKUPS = 10
/** Maximum number of void lookups (RFC 7208 §4.6.4). */
export const MAX_VOID_LOOKUPS = 2
/** Maximum number of names of each mx term (RFC 7208 §4.6.4). */
export const MAX_MX_NAMES = 10

/**
 * The result at one name of the tree: one readable `record`; `none`; `several` records, bad `syntax`, or more octets
 * than are read (`too_long`): permerror; a `loop` back to a name above; `malformed`: a name that cannot be queried;
 * `unknown`: there was no answer.
 */
export type NodeState = 'record' | 'none' | 'several' | 'syntax' | 'too_long' | 'loop' | 'malformed' | 'unknown'

/** One name of the include tree with its result. */
export type SpfNode = {
  readonly domain: string
  readonly state: NodeState
  /** Why it is unknown or malformed. */
  readonly reason?: Problem
  /** What is wrong with the syntax or the size of the record. */
  readonly problem?: Problem
  /** The index of the syntax fault in the record. */
  readonly at?: number
  readonly records: readonly string[]
  readonly record?: SpfRecord
  /**
   * The terms that cost a lookup, in order: those before `all`, and `redirect` if there is no `all` (RFC 7208 §5.1,
   * §6.1).
   */
  readonly terms: readonly SpfTerm[]
  /** The number of further such terms of the record: beyond the 64 that are kept, each counts as one lookup. */
  readonly termsLeftOut?: number
}

/** The result of a term's query for clients of one family. */
export type Found = {
  readonly kind: 'found' | 'void' | 'unknown'
  /** Of an `a` or `mx`, in the order of the answers. */
  readonly addresses: readonly Ip[]
  /** Hosts of an `mx` without a query or an answer: there may be more addresses. */
  readonly partial?: boolean
  /** Why addresses are not known, if an answer is missing. */
  readonly reason?: Problem
}

/** A term that costs a lookup (RFC 7208 §4.6.4) and the result of its lookup. */
export type SpfTerm = {
  readonly text: string
  /** Absent for a redirect. */
  readonly directive?: Directive
  /** The queried name, if it does not depend on the message. */
  readonly name?: string
  readonly state: 'found' | 'void' | 'macro' | 'malformed' | 'not_asked' | 'unknown'
  readonly reason?: Problem
  /** The name that does not exist (NXDOMAIN): its own, or the last one of its aliases. */
  readonly gone?: string
  /** The record to which an include or redirect leads. */
  readonly node?: SpfNode
  /** For an `mx`: the number of its hosts. */
  readonly exchanges?: number
  /** For an `a`, `mx` or `exists` that a client can reach within ten lookups. */
  readonly found?: { readonly ip4: Found; readonly ip6: Found }
}

/** Whether a term is an include or a redirect. */
export const leads = ({ directive }: Pick<SpfTerm, 'directive'>): boolean =>
  !directive || directive.mechanism.kind === 'include'

/** The lookups of a term: its own and those below it. */
export const costOf = (term: SpfTerm): number => 1 + (term.node ? lookupsOf(term.node) : 0)

/**
 * The terms with lookups in a node and all below it: the cost for a client that nothing before `all` matches (RFC 7208
 * §4.6.4).
 */
export const lookupsOf = (node: SpfNode): number =>
  node.terms.reduce((sum, term) => sum + costOf(term), node.termsLeftOut ?? 0)

/** The terms in a node and all below it whose lookup finds nothing. */
export const voidTermsOf = (node: SpfNode): readonly SpfTerm[] =>
  node.terms.flatMap((term) => [...(term.state === 'void' ? [term] : []), ...(term.node ? voidTermsOf(term.node) : [])])

/** All nodes, each before those below it. */
export const nodesOf = <N extends { readonly terms: readonly { readonly node?: N }[] }>(node: N): readonly N[] => [
  node,
  ...node.terms.flatMap((term) => (term.node ? nodesOf(term.node) : [])),
]

export const termsOf = (node: SpfNode): readonly SpfTerm[] => nodesOf(node).flatMap(({ terms }) => terms)

/** The directives of a record that can be reached, each with its term if it costs a lookup and is kept. */
export function stepsOf<T extends SpfTerm>(node: {
  readonly record?: SpfRecord
  readonly terms: readonly T[]
}): readonly { readonly directive: Directive; readonly term?: T | undefined }[] {
  const terms = new Map(node.terms.map((term) => [term.directive, term]))
  return (node.record ? reachable(node.record) : []).map((directive) => ({ directive, term: terms.get(directive) }))
}

/** The domain's own records: its record, then the one it redirects to, and so on (RFC 7208 §6.1). */
export function chainOf(node: SpfNode): readonly SpfNode[] {
  const redirect = node.terms.find(({ directive }) => !directive)
  const own = node.record && !allOf(node.record) ? redirect?.node : undefined
  return own ? [node, ...chainOf(own)] : [node]
}

/**
 * The networks of an `a` or `mx` term (RFC 7208 §5.3); undefined for another term, and if not all addresses of both
 * families are known.
 */
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

/**
 * The prefix length that an `a` or `mx` term applies to its addresses; by default the whole address (RFC 7208 §5.3).
 */
export const prefixOf = (cidr: { readonly ip4?: number; readonly ip6?: number }, family: 4 | 6): number =>
  family === 4 ? (cidr.ip4 ?? 32) : (cidr.ip6 ?? 128)
