import type { Problem } from '../../base/problem.ts'
import type { Family } from '../../names/ip.ts'
import { type Answer, DnsError, settled } from '../../net/dns/resolver.ts'
import { type Ask, checkedName, presentationOf } from './ask.ts'
import { expandName, type MacroValues } from './expand.ts'
import { isSpf, MAX_RECORD, parseSpf, tooLong } from './parse.ts'
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
import { type Found, leads, MAX_MX_NAMES, type NodeState, type SpfNode, type SpfTerm } from './tree.ts'

/** Maximum number of terms kept per record of those that cost a lookup; the limit of the standard is ten. */
const MAX_TERMS = 64

/** For whom a tree is read: for all clients, or for one, whose macros are known. */
export type Reader = {
  readonly ask: Ask
  readonly values: Omit<MacroValues, 'domain'>
  /** The address families of the clients. */
  readonly families: readonly Family[]
}

/** The position of a node in its tree. */
type Place = {
  /** The names above it. */
  readonly path: readonly string[]
  /** The minimum number of lookups of a client that gets here (RFC 7208 §4.6.4). */
  readonly before: number
}
/** The first record of a tree. */
export const TOP: Place = { path: [], before: 0 }

/** A node while the tree is being read: its terms are filled in as answers arrive. */
export type Draft = Omit<SpfNode, 'terms'> & Place & { readonly terms: readonly TermDraft[] }
export type TermDraft = { -readonly [K in keyof SpfTerm]: SpfTerm[K] } & {
  node?: Draft
  /** The hosts of an `mx` whose addresses are still to be queried. */
  hosts?: readonly string[]
}

/** The node of a name with these TXT records; its terms are not queried yet. */
export function draftNode(values: Reader['values'], domain: string, texts: readonly string[], place: Place): Draft {
  const records = texts.filter(isSpf).sort() // the DNS returns them in any order
  const node = { domain, records, terms: [], ...place }
  if (records.length === 0) return { ...node, state: 'none' }
  if (records.length > 1) return { ...node, state: 'several' } // RFC 7208 §4.5
  const text = records[0]!
  if (text.length > MAX_RECORD) return { ...node, state: 'too_long', problem: tooLong(text) }
  const record = parseSpf(text)
  if (!record.ok) return { ...node, state: 'syntax', problem: record.problem, at: record.at ?? 0 }
  const { terms, leftOut } = termsOf(record.value, { ...values, domain })
  return { ...node, state: 'record', record: record.value, terms, ...(leftOut > 0 ? { termsLeftOut: leftOut } : {}) }
}

function termsOf(record: SpfRecord, values: MacroValues): { terms: TermDraft[]; leftOut: number } {
  const asking = reachable(record).filter(({ mechanism }) => asksDns(mechanism))
  const terms = asking.slice(0, MAX_TERMS).map((directive) => termOf(directive, undefined, values))
  if (record.redirect && !allOf(record)) terms.push(termOf(undefined, record.redirect, values))
  return { terms, leftOut: Math.max(0, asking.length - MAX_TERMS) }
}

/** The term of a directive or, without one, of a redirect. The name that it queries depends on the known macros. */
export function termOf(
  directive: Directive | undefined,
  redirect: MacroString | undefined,
  values: MacroValues,
): TermDraft {
  const target = targetOf({ directive }, redirect)
  const name = target ? expandName(target, values) : values.domain
  const term = {
    text: directive ? formatDirective(directive) : `redirect=${formatMacroString(redirect ?? [])}`,
    ...(directive && { directive }),
  }
  if (name === undefined) return { ...term, state: 'macro' }
  if (leads(term) && checkedName(name) === undefined)
    return { ...term, name, state: 'malformed', reason: spfNote('name') }
  return { ...term, name, state: 'not_asked' }
}

/** What a term names: a domain-spec of its own or, of a redirect, that of its record. */
export const targetOf = (
  { directive }: { readonly directive?: Directive | undefined },
  redirect: MacroString | undefined,
): MacroString | undefined =>
  directive ? ('domain' in directive.mechanism ? directive.mechanism.domain : undefined) : redirect

/**
 * Reads the record of a name, which is `malformed` or `unknown` without an answer; `term`: the one that leads there. A
 * name above the place is a loop.
 */
export async function readNode({ ask, values }: Reader, name: string, place: Place, term?: TermDraft): Promise<Draft> {
  const without = (state: NodeState, reason?: Problem): Draft => ({
    ...{ domain: name, state, records: [], terms: [] },
    ...(reason && { reason }),
    ...place,
  })
  if (term) term.state = 'found'
  if (place.path.some((above) => above.toLowerCase() === name.toLowerCase())) return without('loop')
  const domain = checkedName(name)
  if (domain === undefined) return without('malformed', spfNote('name')) // RFC 7208 §4.3
  const answer = await settled(ask(presentationOf(domain), 'TXT'))
  if (answer instanceof DnsError) {
    if (term) failedAs(term, answer)
    return without(stateOf(answer), answer.problem)
  }
  if (term && answer.kind !== 'found') term.state = 'void'
  if (term) noteGone(term, answer)
  return draftNode(values, domain, answer.records, place)
}

/** Reads the record to which a term leads. */
export const follow = async (reader: Reader, term: TermDraft, place: Place): Promise<Draft> =>
  (term.node = await readNode(reader, term.name!, place, term))

/** Number of `mx` hosts whose addresses may still be queried. Shared by the terms of a tree. */
type HostBudget = { exchanges: number }
/** The queries that follow from the first answer about a host, if any do. */
export type Follow = ((budget: HostBudget) => Promise<void>) | undefined

/**
 * Queries what an `a`, `mx` or `exists` term finds. `reached`: a client can get to it within ten lookups, so its
 * addresses matter; of another term only whether its lookup is void. An `a` finds something if its name has an address
 * of a family of the clients.
 */
export async function lookupHosts(reader: Reader, term: TermDraft, reached: boolean): Promise<Follow> {
  const { ask } = reader
  const name = presentationOf(term.name!)
  switch (term.directive!.mechanism.kind) {
    case 'mx':
      return lookupExchanges(reader, term, name, reached)
    case 'a':
      return reached ? lookupAddresses(reader, term, name) : lookupEither(ask, term, name)
    default:
      return lookupExists(ask, term, name)
  }
}

async function lookupAddresses(reader: Reader, term: TermDraft, name: string): Promise<undefined> {
  const answers = await Promise.all(reader.families.map((family) => settled(reader.ask(name, ADDRESS[family]))))
  const first = answers[0]!
  const found = byFamily(reader, answers.map(foundIn))
  term.found = found
  if (failedAs(term, first)) return undefined
  noteGone(term, first)
  if (found.ip4.kind === 'found' || found.ip6.kind === 'found') term.state = 'found'
  else if (!answers.some((answer) => failedAs(term, answer))) term.state = 'void'
  return undefined
}

/** AAAA is queried only if there is no A. */
async function lookupEither(ask: Ask, term: TermDraft, name: string): Promise<Follow> {
  const a = await settled(ask(name, 'A'))
  if (failedAs(term, a)) return undefined
  term.state = a.kind === 'found' ? 'found' : 'void'
  if (a.kind !== 'nodata') return undefined
  return async () => {
    const aaaa = await settled(ask(name, 'AAAA'))
    if (!failedAs(term, aaaa) && aaaa.kind === 'found') term.state = 'found'
  }
}

/** RFC 7208 §5.7: A, for clients of either family. */
async function lookupExists(ask: Ask, term: TermDraft, name: string): Promise<undefined> {
  const a = await settled(ask(name, 'A'))
  if (failedAs(term, a)) return undefined
  noteGone(term, a)
  term.state = a.kind === 'found' ? 'found' : 'void'
  const found: Found = { kind: term.state, addresses: [] }
  term.found = { ip4: found, ip6: found }
  return undefined
}

/** RFC 7208 §5.4. No MX record means no match: there is no fallback to the name itself. */
async function lookupExchanges(reader: Reader, term: TermDraft, name: string, reached: boolean): Promise<Follow> {
  const { ask, families } = reader
  const mx = await settled(ask(name, 'MX'))
  if (failedAs(term, mx)) return undefined
  noteGone(term, mx)
  const kind = mx.kind === 'found' ? 'found' : 'void'
  term.state = kind
  term.exchanges = mx.records.length
  if (!reached || mx.records.length > MAX_MX_NAMES) return undefined
  const hosts = mx.records.map(({ exchange }) => exchange).filter((exchange) => exchange !== '') // RFC 7505: null MX
  term.hosts = hosts
  return async (budget) => {
    const wanted = hosts.slice(0, budget.exchanges)
    budget.exchanges -= wanted.length
    const answers = await Promise.all(
      families.map((family) => Promise.all(wanted.map((host) => settled(ask(host, ADDRESS[family]))))),
    )
    delete term.hosts
    term.found = byFamily(
      reader,
      answers.map((found) => together(kind, found, wanted.length === hosts.length)),
    )
  }
}

/** The known addresses of the hosts of an `mx`. */
function together(kind: Found['kind'], answers: readonly (Answer<'A' | 'AAAA'> | DnsError)[], all: boolean): Found {
  const failed = answers.find((answer) => answer instanceof DnsError)
  const addresses = answers.flatMap((answer) => foundIn(answer).addresses)
  if (failed) return { kind, addresses, partial: true, reason: failed.problem }
  return { kind, addresses, ...(all ? {} : { partial: true }) }
}

function foundIn(answer: Answer<'A' | 'AAAA'> | DnsError): Found {
  if (answer instanceof DnsError) return { kind: 'unknown', addresses: [], reason: answer.problem }
  return { kind: answer.kind === 'found' ? 'found' : 'void', addresses: answer.records }
}

export const ADDRESS = { 4: 'A', 6: 'AAAA' } as const satisfies Record<Family, 'A' | 'AAAA'>
const NOT_ASKED: Found = { kind: 'unknown', addresses: [] }

const byFamily = ({ families }: Reader, found: readonly Found[]): NonNullable<SpfTerm['found']> => ({
  ip4: found[families.indexOf(4)] ?? NOT_ASKED,
  ip6: found[families.indexOf(6)] ?? NOT_ASKED,
})

/** Records the name that does not exist, if so. */
function noteGone(term: TermDraft, { kind, cname }: Answer): void {
  if (kind === 'nxdomain') term.gone = cname.at(-1) ?? term.name!
}

/** Whether there was no answer, which the term then records. */
export function failedAs<T extends object>(term: TermDraft, answer: T | DnsError): answer is DnsError {
  if (!(answer instanceof DnsError)) return false
  term.state = stateOf(answer)
  term.reason = answer.problem
  return true
}

/** RFC 7208 §4.8 leaves it open what a name is that cannot be queried. */
const stateOf = ({ reason }: DnsError) => (reason === 'invalid_name' ? 'malformed' : 'unknown')
