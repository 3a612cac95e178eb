import { type Family, familyOf, type Ip, ipFromBytes } from '../../../names/ip.ts'
import { formatDirective, reachable } from '../terms.ts'
import { chainOf, networksOf, type SpfNode, type SpfTerm, termsOf } from '../tree.ts'
import { type Evaluated, evaluate, type Run } from './evaluate.ts'
import {
  contains,
  everyone,
  type Interval,
  type Intervals,
  intervalOf,
  pointOf,
  type Segment,
  segmentAt,
  setOf,
  split,
} from './intervals.ts'

/** Maximum number of networks and intervals per tree and address family; ten providers together have a few thousand. */
const MAX_INTERVALS = 20_000
/** Maximum number of terms shown that depend on the message. */
const MAX_CONDITIONAL = 20

/** The addresses that pass by one directive of the domain's own record, or of the one it redirects to. */
type PassingTerm = {
  readonly text: string
  /** An include: somebody else names its addresses. */
  readonly include: boolean
  readonly ip4: Intervals
  readonly ip6: Intervals
}

/**
 * Who passes (RFC 7208 §2.6.3): the addresses for which `check_host` returns pass. A term that depends on the message
 * or on the client's name counts as one that does not match.
 */
export type Passing = {
  readonly ip4: Intervals
  readonly ip6: Intervals
  /** By directive, in the order of the record; directives without an address are omitted. */
  readonly terms: readonly PassingTerm[]
  /** Such terms with `+`, anywhere in the tree: the senders that they let pass are not in the sets. At most 20. */
  readonly conditional: readonly string[]
  /** A part of the tree is not known: more addresses may pass. */
  readonly open: boolean
  /** More than 20,000 intervals: the sets are incomplete. */
  readonly tooWide: boolean
}

/** Computes who passes. Work: at most 20,000 intervals for each family. */
export function passingOf(root: SpfNode, mostIntervals = MAX_INTERVALS): Passing {
  const [four, six] = ([4, 6] as const).map((family) => evaluated(root, family, mostIntervals))
  const texts = new Map<string, { text: string; include: boolean; ip4: Intervals; ip6: Intervals }>()
  for (const [key, { passed }] of [['ip4', four!] as const, ['ip6', six!] as const]) {
    for (const { directive, set } of passed) {
      const text = formatDirective(directive)
      const term = texts.get(text) ?? { text, include: directive.mechanism.kind === 'include', ip4: [], ip6: [] }
      term[key] = term[key].length === 0 ? set : setOf([...term[key], ...set])
      texts.set(text, term)
    }
  }
  const terms = [...texts.values()]
  return {
    ip4: setOf(terms.flatMap(({ ip4 }) => ip4)),
    ip6: setOf(terms.flatMap(({ ip6 }) => ip6)),
    terms,
    conditional: termsOf(root)
      .filter(isConditional)
      .slice(0, MAX_CONDITIONAL)
      .map(({ text }) => text),
    open: four!.open || six!.open,
    tooWide: four!.budget < 0 || six!.budget < 0,
  }
}

/** Whether an address passes; null if that depends on the message or on an unknown part. */
export function passes(passing: Passing, address: Ip): boolean | null {
  const { ip4, ip6, open, tooWide, conditional } = passing
  if (contains(familyOf(address) === 4 ? ip4 : ip6, pointOf(address))) return true
  return open || tooWide || conditional.length > 0 ? null : false
}

function evaluated(root: SpfNode, family: Family, budget: number): Evaluated & Run {
  const run: Run = { family, budget, open: false }
  const result = evaluate(run, root, [{ lookups: 0, voids: 0, set: everyone(family) }])
  return { ...run, ...result }
}

const isConditional = ({ directive, state }: SpfTerm): boolean =>
  (state === 'macro' || directive?.mechanism.kind === 'ptr') && (directive?.qualifier ?? '+') === '+'

/**
 * For an address, the index of the first record of several by which it passes. Takes one search in all of their
 * networks.
 */
export function firstPassing(records: readonly Pick<Passing, 'ip4' | 'ip6'>[]): (address: Ip) => number | undefined {
  const [four, six] = (['ip4', 'ip6'] as const).map((family) => {
    let segments: readonly Segment[] = []
    for (const [index, { [family]: set }] of records.entries()) {
      const own = split(set, segments).outside.map(([first, end]) => ({ first, end, index }))
      if (own.length > 0) segments = [...segments, ...own].sort((a, b) => (a.first < b.first ? -1 : 1))
    }
    return segments
  })
  return (address) => {
    const point = pointOf(address)
    const found = segmentAt(typeof point === 'number' ? four! : six!, point)
    return found?.index
  }
}

/** A directive of a record with the addresses that pass by it. */
export type PassingAddresses = Pick<PassingTerm, 'text' | 'include'> & { readonly has: (address: Ip) => boolean }

/**
 * The passing addresses of a record by directive; `open`: more addresses may pass, because a part is not known. No
 * record: no address passes.
 */
export function passingTerms(passing: Passing | undefined): {
  readonly terms: readonly PassingAddresses[]
  readonly open: boolean
} {
  if (!passing) return { terms: [], open: false }
  const terms = passing.terms.map(({ text, include, ip4, ip6 }) => ({
    text,
    include,
    has: (address: Ip) => contains(familyOf(address) === 4 ? ip4 : ip6, pointOf(address)),
  }))
  return { terms, open: passing.open || passing.tooWide }
}

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
