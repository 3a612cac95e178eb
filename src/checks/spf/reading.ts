import type { Problem } from '../../base/problem.ts'
import { isPublic } from '../../names/ip-range.ts'
import { type DeadTerm, deadTermsOf } from './dead-terms.ts'
import { type Extent, extentOf, isReservedNetwork } from './passing/wide.ts'
import { spfNote } from './problems.ts'
import { allOf, formatDirective, isMechanism, type Qualifier, reachable } from './terms.ts'
import {
  chainOf,
  leads,
  lookupsOf,
  MAX_LOOKUPS,
  MAX_MX_NAMES,
  MAX_VOID_LOOKUPS,
  type SpfNode,
  type SpfTerm,
  termsOf,
  voidTermsOf,
} from './tree.ts'

/** Why a receiver returns permerror (RFC 7208 §2.6.7). */
export type Permerror =
  | { readonly kind: 'several' | 'syntax' | 'too_long' }
  | { readonly kind: 'lookups' | 'void_lookups' }
  /** A name below: it loops, has no record, cannot be a name, or its own record is broken. */
  | { readonly kind: 'loop' | 'no_record' | 'broken'; readonly node: SpfNode; readonly via: string }
  | { readonly kind: 'mx_names'; readonly term: SpfTerm }

/** The evaluation of the include tree of a domain, with everything that the score needs. */
export type SpfReading = {
  /** Terms that need a lookup and those that find nothing, over the whole tree (RFC 7208 §4.6.4). */
  readonly lookups: number
  readonly voidLookups: number
  /** A part of the tree could not be read: the counts are minimums. */
  readonly atLeast: boolean
  readonly permerrors: readonly Permerror[]
  /** The parts without an answer on which the judgement depends: name and reason. */
  readonly unknown: readonly { readonly name: string; readonly reason: Problem }[]
  /**
   * An answer is missing, so that more addresses may pass than are known: `includes`: only those that others name;
   * `own`: the domain's own record or the one it redirects to may name more. The addresses of the domain's own `mx` are
   * not meant. Absent: all are known.
   */
  readonly open?: 'includes' | 'own'
  /** The qualifier of the `all` that takes effect, through redirects; absent if there is none. */
  readonly all?: Qualifier
  /** Who passes, over the whole tree. */
  readonly extent: Extent
  /** Terms of the domain's own record that name only private or reserved networks: no sender has such an address. */
  readonly reserved: readonly string[]
  /** A redirect takes effect, whether or not it could be read. */
  readonly redirects: boolean
  /** `ptr` in the domain's own record or the one it redirects to. */
  readonly ptr: boolean
  /** Octets of the record. */
  readonly bytes: number
  /**
   * Terms of the domain's own record that are never evaluated because they follow `all`, including a redirect beside
   * `all`.
   */
  readonly afterAll: readonly string[]
  /** Names that the domain's own record includes and that the tree includes again. */
  readonly duplicateIncludes: readonly string[]
  /** `v=spf1 -all`: the domain declares that it sends no mail. */
  readonly declaredNonSender: boolean
  /** The terms of the domain's own record, or of the one it redirects to, that let nobody pass. */
  readonly dead: readonly DeadTerm[]
  /**
   * No host on the internet passes, whatever the record ends in; `names`: it names senders all the same. Absent if
   * somebody may pass, a part is not known, or the record is broken.
   */
  readonly passesNobody?: { readonly names: boolean }
}

/** Derives the facts for the judgement from the tree. */
export function readTree(root: SpfNode): SpfReading {
  const chain = chainOf(root)
  const all = chain.map(({ record }) => (record ? allOf(record) : undefined)).find((directive) => directive)
  const extent = extentOf(root)
  const permerrors = permerrorsOf(root)
  const unknown = unknownOf(root)
  const dead = deadTermsOf(root)
  return {
    lookups: lookupsOf(root),
    voidLookups: voidTermsOf(root).length,
    atLeast: termsOf(root).some(({ state }) => state === 'unknown' || state === 'not_asked') || hasUnread(root),
    permerrors,
    unknown,
    ...openIn(root, chain),
    ...(all ? { all: all.qualifier } : {}),
    extent,
    reserved: chain.flatMap(reservedTerms),
    redirects: root.terms.some(({ directive }) => !directive),
    ptr: chain.some(({ terms }) => terms.some(({ directive }) => directive?.mechanism.kind === 'ptr')),
    bytes: Buffer.byteLength(root.records[0] ?? '', 'utf8'),
    afterAll: afterAll(root),
    duplicateIncludes: duplicateIncludes(root),
    declaredNonSender: isNonSender(chain),
    dead,
    ...(permerrors.length === 0 && (allowsNone(chain) || (unknown.length === 0 && isEmpty(extent)))
      ? { passesNobody: { names: dead.length > 0 } }
      : {}),
  }
}

/** Whether no term of the records says "pass", whatever its name leads to. */
function allowsNone(chain: readonly SpfNode[]): boolean {
  const last = chain.at(-1)?.record
  const isWhole = last !== undefined && (last.redirect === undefined || allOf(last) !== undefined)
  return isWhole && chain.every(({ record }) => record?.directives.every(({ qualifier }) => qualifier !== '+'))
}

const isEmpty = ({ ipv4, ipv6Prefixes, passing: { conditional, open, tooWide } }: Extent): boolean =>
  ipv4 + ipv6Prefixes + conditional.length === 0 && !open && !tooWide

/**
 * Whether a record was meant to name senders that receivers do not recognize: `include=…`, terms after `all`, a
 * redirect beside it.
 */
const namesSenders = (chain: readonly SpfNode[]): boolean =>
  chain.some(({ record }) => {
    if (!record) return false
    const isHidden =
      allOf(record) &&
      (record.redirect ||
        record.directives.some(({ mechanism }, i) => mechanism.kind !== 'all' && i >= reachable(record).length))
    return record.unknown.some(isMechanism) || Boolean(isHidden)
  })

function permerrorsOf(root: SpfNode): readonly Permerror[] {
  if (root.state === 'several' || root.state === 'syntax' || root.state === 'too_long') return [{ kind: root.state }]
  const below = termsOf(root).flatMap((term): Permerror[] => {
    if (term.node) return permerrorBelow(term.node, term.text)
    if (term.state === 'malformed' && leads(term)) return permerrorBelow(malformed(term), term.text)
    return (term.exchanges ?? 0) > MAX_MX_NAMES ? [{ kind: 'mx_names', term }] : []
  })
  const counts: Permerror[] = []
  // A loop is a reason of its own: its count means nothing.
  if (lookupsOf(root) > MAX_LOOKUPS) counts.push({ kind: 'lookups' })
  if (voidTermsOf(root).filter((term) => !leads(term)).length > MAX_VOID_LOOKUPS) counts.push({ kind: 'void_lookups' })
  return [...below, ...counts]
}

function permerrorBelow(node: SpfNode, via: string): Permerror[] {
  switch (node.state) {
    case 'loop':
      return [{ kind: 'loop', node, via }]
    case 'none':
    case 'malformed':
      return [{ kind: 'no_record', node, via }] // RFC 7208 §5.2, §6.1
    case 'several':
    case 'syntax':
    case 'too_long':
      return [{ kind: 'broken', node, via }]
    default:
      return []
  }
}

const malformed = (term: SpfTerm): SpfNode => ({
  domain: term.name ?? term.text,
  state: 'malformed',
  ...(term.reason === undefined ? {} : { reason: term.reason }),
  records: [],
  terms: [],
})

/** An include whose name depends on the message cannot be counted. */
const hasUnread = (root: SpfNode): boolean =>
  termsOf(root).some((term) => leads(term) && (term.state === 'macro' || term.node?.state === 'loop'))

const unknownOf = (root: SpfNode): { name: string; reason: Problem }[] =>
  termsOf(root)
    .filter((term) => term.state === 'unknown' || isDecisive(term))
    .map(({ name, text, reason, found }) => ({
      name: name ?? text,
      reason: reason ?? found?.ip4.reason ?? found?.ip6.reason ?? spfNote('no_answer'),
    }))

function openIn(root: SpfNode, chain: readonly SpfNode[]): Pick<SpfReading, 'open'> {
  const open = termsOf(root).filter((term) => isOpen(term) && !(isOwnMx(term) && root.terms.includes(term)))
  if (open.length === 0) return {}
  const isOwn = (term: SpfTerm): boolean =>
    term.directive?.mechanism.kind !== 'include' && chain.some(({ terms }) => terms.includes(term))
  return { open: open.some(isOwn) ? 'own' : 'includes' }
}

/** Whether an answer about a term is missing. */
const isOpen = ({ state, found }: SpfTerm): boolean =>
  state === 'unknown' || found?.ip4.reason !== undefined || found?.ip6.reason !== undefined

/** The mail hosts of the record's own domain. */
const isOwnMx = ({ directive, state }: SpfTerm): boolean =>
  directive?.mechanism.kind === 'mx' && directive.mechanism.domain === undefined && state === 'found'

/** Prefix lengths below which a missing address may let much of the internet pass. */
const FEW = { ip4: 20, ip6: 32 } as const

/** Whether missing addresses of an `a` or `mx` decide: no other address of the term passes, or each lets many pass. */
function isDecisive({ directive, found }: SpfTerm): boolean {
  const mechanism = directive?.mechanism
  if (!found || directive?.qualifier !== '+' || (mechanism?.kind !== 'a' && mechanism?.kind !== 'mx')) return false
  const open = (['ip4', 'ip6'] as const).filter((family) => found[family].reason !== undefined)
  const isAlone = ![...found.ip4.addresses, ...found.ip6.addresses].some(isPublic)
  return open.length > 0 && (isAlone || open.some((family) => (mechanism.cidr[family] ?? 128) < FEW[family]))
}

const reservedTerms = ({ record }: SpfNode): string[] =>
  (record ? reachable(record) : [])
    .filter(
      ({ qualifier, mechanism }) => qualifier === '+' && 'network' in mechanism && isReservedNetwork(mechanism.network),
    )
    .map(formatDirective)

function afterAll({ record, records }: SpfNode): readonly string[] {
  if (!record || !allOf(record)) return []
  const count = record.directives.length - reachable(record).length
  const terms = (records[0] ?? '').split(' ').filter((term) => term !== '' && !/^[A-Za-z][A-Za-z0-9._-]*=/.test(term))
  const redirect = record.redirect ? (records[0] ?? '').match(/(?<= )redirect=[^ ]+/i) : null
  return [...(count > 0 ? terms.slice(-count) : []), ...(redirect ? [redirect[0]] : [])]
}

function duplicateIncludes(root: SpfNode): readonly string[] {
  const named = (terms: readonly SpfTerm[]): string[] =>
    terms.flatMap((term) => (leads(term) && term.name !== undefined ? [term.name.toLowerCase()] : []))
  const every = named(termsOf(root))
  const counts = new Map<string, number>()
  for (const name of every) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...new Set(named(root.terms))].filter((name) => counts.get(name)! > 1)
}

const isNonSender = (chain: readonly SpfNode[]): boolean =>
  chain.every(({ record }) => record && reachable(record).every(({ mechanism }) => mechanism.kind === 'all')) &&
  !namesSenders(chain) &&
  chain.at(-1)?.record !== undefined &&
  allOf(chain.at(-1)!.record!)?.qualifier === '-'

/** Whether the record names senders, and no host on the internet passes. */
export const namesNobody = ({ passesNobody }: SpfReading): boolean => passesNobody?.names === true
