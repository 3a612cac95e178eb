import type { Problem } from '../../base/problem.ts'
import { checkedName, presentationOf } from './ask.ts'
import { expandName } from './expand.ts'
import { MAX_RECORD, parseSpf, tooLong } from './parse.ts'
import { spfNote } from './problems.ts'
import {
  allOf,
  asksDns,
  type Directive,
  formatDirective,
  formatMacroString,
  type MacroString,
  reachable,
  type SpfRecord,
} from './terms.ts'
import type { NodeState, SpfNode, SpfTerm } from './tree.ts'

/** A node while the tree is being read: its terms are filled in as answers arrive. */
export type Draft = Omit<SpfNode, 'terms'> & {
  readonly terms: readonly TermDraft[]
  /** The names above it. */
  readonly path: readonly string[]
  /** The minimum number of lookups of a client that gets here (RFC 7208 §4.6.4). */
  readonly before: number
}
export type TermDraft = {
  readonly text: string
  readonly directive?: Directive
  readonly name?: string
  /** An include or a redirect. */
  readonly leads: boolean
  state: SpfTerm['state']
  reason?: Problem
  node?: Draft
  gone?: string
  exchanges?: number
  found?: NonNullable<SpfTerm['found']>
}

/** Maximum number of terms kept per record of those that cost a lookup; the limit of the standard is ten. */
const MAX_TERMS = 64

/** The position of a node in its tree. */
export type Place = Pick<Draft, 'path' | 'before'>

/** The node of a name whose TXT records were read; its terms are not queried yet. */
export function draftNode(domain: string, records: readonly string[], place: Place): Draft {
  const node = { domain, records, terms: [], ...place }
  if (records.length === 0) return { ...node, state: 'none' }
  if (records.length > 1) return { ...node, state: 'several' } // RFC 7208 §4.5
  const text = records[0]!
  if (text.length > MAX_RECORD) return { ...node, state: 'too_long', problem: tooLong(text) }
  const record = parseSpf(text)
  if (!record.ok) return { ...node, state: 'syntax', problem: record.problem, at: record.at ?? 0 }
  const { terms, leftOut } = termsOf(record.value, domain, place.path[0] ?? domain)
  return { ...node, state: 'record', record: record.value, terms, ...(leftOut > 0 ? { termsLeftOut: leftOut } : {}) }
}

/** The node of a name that could not be read. */
export const unanswered = (domain: string, state: NodeState, reason: Problem, place: Place): Draft => ({
  domain,
  state,
  reason,
  records: [],
  terms: [],
  ...place,
})

function termsOf(record: SpfRecord, domain: string, root: string): { terms: TermDraft[]; leftOut: number } {
  const asking = reachable(record).filter(({ mechanism }) => asksDns(mechanism))
  const terms: TermDraft[] = asking.slice(0, MAX_TERMS).map((directive) => {
    const { mechanism } = directive
    const target = 'domain' in mechanism ? mechanism.domain : undefined
    const leads = mechanism.kind === 'include'
    return { text: formatDirective(directive), directive, leads, ...named(target, leads, domain, root) }
  })
  if (record.redirect && !allOf(record)) {
    const text = `redirect=${formatMacroString(record.redirect)}`
    terms.push({ text, leads: true, ...named(record.redirect, true, domain, root) })
  }
  return { terms, leftOut: Math.max(0, asking.length - MAX_TERMS) }
}

/** The name that a term queries. `%{d}` is the record's domain and `%{o}` the first domain of the reading; the other macros depend on the message. */
function named(
  target: MacroString | undefined,
  leads: boolean,
  domain: string,
  root: string,
): Pick<TermDraft, 'name' | 'state' | 'reason'> {
  const name = target ? expandName(target, { domain, senderDomain: root }) : domain
  if (name === undefined) return { state: 'macro' }
  if (leads && checkedName(name) === undefined) return { name, state: 'malformed', reason: spfNote('name') }
  return { name: presentationOf(name), state: 'not_asked' }
}
