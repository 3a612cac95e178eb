import type { Ip } from '../../names/ip.ts'
import { checkedName, presentationOf } from './ask.ts'
import { expandName } from './expand.ts'
import { parseSpf } from './parse.ts'
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

/** A node while the tree is being read: its terms are filled in as answers come. */
export type Draft = Omit<SpfNode, 'terms'> & {
  readonly terms: readonly TermDraft[]
  /** The names above it. */
  readonly path: readonly string[]
}
export type TermDraft = {
  readonly text: string
  readonly directive?: Directive
  readonly name?: string
  /** An include or a redirect. */
  readonly leads: boolean
  state: SpfTerm['state']
  reason?: string
  node?: Draft
  exchanges?: number
  addresses?: readonly Ip[]
  allAddresses?: boolean
}

/** The node of a name whose TXT records were read, its terms not yet asked. */
export function draftNode(domain: string, records: readonly string[], path: readonly string[]): Draft {
  const node = { domain, records, terms: [], path }
  if (records.length === 0) return { ...node, state: 'none' }
  if (records.length > 1) return { ...node, state: 'several' } // RFC 7208 §4.5
  const record = parseSpf(records[0]!)
  if (!record.ok) return { ...node, state: 'syntax', reason: record.problem, at: record.at ?? 0 }
  const root = path[0] ?? domain
  return { ...node, state: 'record', record: record.value, terms: termsOf(record.value, domain, root) }
}

/** The node of a name that could not be read. */
export const unanswered = (domain: string, state: NodeState, reason: string, path: readonly string[]): Draft => ({
  domain,
  state,
  reason,
  records: [],
  terms: [],
  path,
})

function termsOf(record: SpfRecord, domain: string, root: string): TermDraft[] {
  const terms = reachable(record)
    .filter(({ mechanism }) => asksDns(mechanism))
    .map((directive) => {
      const { mechanism } = directive
      const target = 'domain' in mechanism ? mechanism.domain : undefined
      const leads = mechanism.kind === 'include'
      return { text: formatDirective(directive), directive, leads, ...named(target, domain, root) }
    })
  if (!record.redirect || allOf(record)) return terms
  const text = `redirect=${formatMacroString(record.redirect)}`
  return [...terms, { text, leads: true, ...named(record.redirect, domain, root) }]
}

/**
 * The name that a term asks. `%{d}` is the record's domain and `%{o}` the one the reading began with; the other macros come with the message.
 */
function named(
  target: MacroString | undefined,
  domain: string,
  root: string,
): Pick<TermDraft, 'name' | 'state' | 'reason'> {
  const name = target ? expandName(target, { domain, senderDomain: root }) : domain
  if (name === undefined) return { state: 'macro' }
  if (checkedName(name) === undefined)
    return { name, state: 'malformed', reason: 'not a domain name that can have a record' }
  return { name: presentationOf(name), state: 'not_asked' }
}
