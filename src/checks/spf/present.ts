import type { SpfFields, SpfInclude } from '../../answers/checks.ts'
import type { SpfAnswer } from '../../answers/questions.ts'
import { printable } from '../../base/text.ts'
import type { Outcome } from '../check.ts'
import type { CheckHostAnswer } from './check-host.ts'
import { isValid } from './judge.ts'
import type { SpfFacts } from './lookup.ts'
import { allOf } from './terms.ts'
import { lookupsOf, type SpfNode, type SpfTerm, voidTermsOf } from './tree.ts'

/** Characters shown of an included record, and includes shown of one record. */
const MAX_RECORD = 2_048
const MAX_INCLUDES = 50

/** The `spf` object of `/v1/check`. Counts stand only where there is a record. */
export function presentSpf({ facts }: Outcome<SpfFacts>): SpfFields {
  const { records = [], tree, reading } = facts ?? {}
  return {
    valid: facts !== undefined && isValid(facts),
    record: records[0],
    records,
    lookups: reading?.lookups,
    void_lookups: reading?.voidLookups,
    all: reading?.all,
    includes: tree ? presentIncludes(tree) : [],
  }
}

/** The answer of `/v1/spf`. */
export function presentCheckHost(answer: CheckHostAnswer): SpfAnswer {
  const { result, mechanism, explanation, lookups, voidLookups, trace } = answer
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
      note: note === undefined ? undefined : printable(note),
    })),
  }
}

const presentIncludes = (node: SpfNode): SpfInclude[] =>
  node.terms
    .filter(({ directive }) => !directive || directive.mechanism.kind === 'include')
    .slice(0, MAX_INCLUDES)
    .map(presentTerm)

/** `lookups` of a node are what it costs in all: its own term and everything below (RFC 7208 §4.6.4). */
function presentTerm(term: SpfTerm): SpfInclude {
  const { node } = term
  const all = node?.record && allOf(node.record)
  return {
    term: printable(term.text),
    domain: term.name === undefined ? undefined : printable(term.name, 255),
    state: node?.state ?? (term.state === 'not_asked' ? 'not_read' : term.state),
    reason: node?.reason ?? term.reason,
    lookups: 1 + (node ? lookupsOf(node) : 0),
    void_lookups: (term.state === 'void' ? 1 : 0) + (node ? voidTermsOf(node).length : 0),
    all: all?.qualifier,
    record: node?.records[0] === undefined ? undefined : printable(node.records[0], MAX_RECORD),
    includes: node ? presentIncludes(node) : [],
  }
}
