import type { SpfFields, SpfInclude } from '../../answers/checks.ts'
import type { SpfAnswer } from '../../answers/questions.ts'
import { printable } from '../../base/text.ts'
import type { Outcome } from '../check.ts'
import type { CheckHostAnswer } from './check-host.ts'
import { isValid } from './judge.ts'
import type { SpfFacts } from './lookup.ts'
import { type Extent, publicIpv4, publicPrefixes } from './passing/wide.ts'
import { spfNote } from './problems.ts'
import { allOf } from './terms.ts'
import { leads, lookupsOf, type SpfNode, type SpfTerm, voidTermsOf } from './tree.ts'

/** Maximum number of characters shown of each of the domain's records. */
const MAX_OWN_RECORD = 4_096
const MAX_RECORDS = 10
/** Maximum number of characters shown of an included record. */
const MAX_RECORD = 2_048
const MAX_INCLUDES = 20
/** Maximum number of directives shown with the addresses that they let pass. */
const MAX_BY = 20

/** The `spf` object of `/v1/check`. Counts are present only if there is a record. */
export function presentSpf({ facts }: Outcome<SpfFacts>): SpfFields {
  const { records = [], tree, reading } = facts ?? {}
  return {
    valid: facts !== undefined && isValid(facts),
    record: records[0] === undefined ? undefined : printable(records[0], MAX_OWN_RECORD),
    records: records.slice(0, MAX_RECORDS).map((text) => printable(text, MAX_OWN_RECORD)),
    lookups: reading?.lookups,
    void_lookups: reading?.voidLookups,
    all: reading?.all,
    includes: tree ? presentIncludes(tree) : [],
    includes_left_out: tree && leftOut(tree),
    records_left_out: records.length > MAX_RECORDS ? records.length - MAX_RECORDS : undefined,
    passing: reading && presentPassing(reading.extent),
  }
}

/**
 * Who passes: addresses of IPv4, networks of 64 bits of IPv6, without private and reserved ones, in total and by
 * directive.
 */
function presentPassing({ passing, ipv4, ipv6Prefixes }: Extent): NonNullable<SpfFields['passing']> {
  const { terms, conditional, open, tooWide } = passing
  const sized = terms.map(({ text, ip4, ip6 }) => ({
    term: printable(text),
    ipv4: publicIpv4(ip4),
    ipv6_prefixes: publicPrefixes(ip6),
  }))
  const by = widest(sized)
  const rest = conditional.map((text) => ({ term: printable(text), note: spfNote('per_message').text }))
  return {
    ipv4,
    ipv6_prefixes: ipv6Prefixes,
    by: [...by, ...rest],
    by_left_out: sized.length > by.length ? sized.length - by.length : undefined,
    complete: !open && !tooWide,
  }
}

/** At most 20, in the order of the record. */
function widest<T extends { readonly ipv4: number; readonly ipv6_prefixes: number }>(
  terms: readonly T[],
): readonly T[] {
  if (terms.length <= MAX_BY) return terms
  const sorted = [...terms].sort((a, b) => b.ipv4 - a.ipv4 || b.ipv6_prefixes - a.ipv6_prefixes)
  const kept = new Set(sorted.slice(0, MAX_BY))
  return terms.filter((term) => kept.has(term))
}

/** The answer of `/v1/spf`. */
export function presentCheckHost(answer: CheckHostAnswer): SpfAnswer {
  const { result, mechanism, explanation, lookups, voidLookups, trace, domain } = answer
  return {
    result,
    mechanism: mechanism === undefined ? undefined : printable(mechanism),
    explanation: explanation === undefined ? undefined : printable(explanation, 2_000),
    lookups,
    void_lookups: voidLookups,
    trace: trace.map(({ domain, term, outcome, note }) => ({
      domain: printable(domain, 255),
      term: term === undefined ? undefined : printable(term),
      outcome,
      note: note === undefined ? undefined : printable(note.text),
    })),
    domain: printable(domain, 255),
  }
}

const presentIncludes = (node: SpfNode): SpfInclude[] => includesOf(node).slice(0, MAX_INCLUDES).map(presentTerm)

const includesOf = ({ terms }: SpfNode): readonly SpfTerm[] => terms.filter(leads)

const leftOut = (node: SpfNode): number | undefined =>
  includesOf(node).length > MAX_INCLUDES ? includesOf(node).length - MAX_INCLUDES : undefined

/** `lookups` of a node are its total cost: its own term and everything below (RFC 7208 §4.6.4). */
function presentTerm(term: SpfTerm): SpfInclude {
  const { node } = term
  const all = node?.record && allOf(node.record)
  return {
    term: printable(term.text),
    domain: term.name === undefined ? undefined : printable(term.name, 255),
    state: node?.state ?? (term.state === 'not_asked' ? 'not_read' : term.state),
    reason: (node?.problem ?? node?.reason ?? term.reason)?.text,
    lookups: 1 + (node ? lookupsOf(node) : 0),
    void_lookups: (term.state === 'void' ? 1 : 0) + (node ? voidTermsOf(node).length : 0),
    all: all?.qualifier,
    record: node?.records[0] === undefined ? undefined : printable(node.records[0], MAX_RECORD),
    includes: node ? presentIncludes(node) : [],
    includes_left_out: node && leftOut(node),
  }
}
