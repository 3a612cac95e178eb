import type { Problem } from '../../base/problem.ts'
import { contains } from '../../names/cidr.ts'
import { familyOf, type Ip } from '../../names/ip.ts'
import { settled } from '../../net/dns/resolver.ts'
import { presentationOf } from './ask.ts'
import { type MacroValues, usesLetter } from './expand.ts'
import { validatedName, validatedUnder } from './pointers.ts'
import { spfNote } from './problems.ts'
import {
  ADDRESS,
  type Draft,
  failedAs,
  follow,
  lookupHosts,
  type Reader,
  readNode,
  type TermDraft,
  TOP,
  targetOf,
  termOf,
} from './read.ts'
import { type DualCidr, formatDirective, type MacroString, type Qualifier } from './terms.ts'
import { leads, MAX_LOOKUPS, MAX_MX_NAMES, MAX_VOID_LOOKUPS, prefixOf, stepsOf } from './tree.ts'

/** RFC 7208 §2.6 */
export type SpfResult = 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror'

/** One step of an evaluation, in order. `note` says why. */
export type TraceStep = {
  readonly domain: string
  /** The term; absent for the record as a whole. */
  readonly term?: string
  readonly outcome: SpfResult | 'match' | 'no_match' | 'followed'
  readonly note?: Problem
}

/** One call of `check_host`: its parameters, and the counts that all its records share (RFC 7208 §4.6.4). */
export type Run = Reader & {
  readonly ip: Ip
  lookups: number
  voidLookups: number
  readonly trace: TraceStep[]
  ahead: number
  /** The terms whose answers were asked for. */
  readonly loading: Map<TermDraft, Promise<void>>
}

/** The result for one domain. `exp` and `domain` are of the record that decided (RFC 7208 §6.2). */
export type Verdict = {
  readonly result: SpfResult
  readonly domain: string
  readonly mechanism?: string
  readonly exp?: MacroString
}

/** Whether a mechanism matched. `void`: its lookup found nothing (RFC 7208 §4.6.4). */
type Match =
  | { readonly kind: 'match' | 'no_match'; readonly void?: boolean; readonly note?: Problem | undefined }
  | { readonly kind: 'error'; readonly result: 'temperror' | 'permerror'; readonly note: Problem }

/** Maximum number of steps in the trace of an evaluation. */
const MAX_TRACE = 100
const RESULTS = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' } as const satisfies Record<
  Qualifier,
  SpfResult
>

/**
 * The result of one client at the record of a domain (RFC 7208 §4.3 to §4.7). The tree is read as far as the client
 * gets, and at most 20 terms ahead; recursion ends with the ten lookups.
 */
export async function evaluate(run: Run, node: Draft): Promise<Verdict> {
  const { domain, record } = node
  if (!record) return end(run, domain, ...unreadable(node))
  lookAhead(run, node)
  for (const { directive, term } of stepsOf(node)) {
    const { mechanism } = directive
    const text = formatDirective(directive)
    const isLocal = mechanism.kind === 'all' || 'network' in mechanism
    const match = isLocal
      ? yesNo(mechanism.kind === 'all' || contains(mechanism.network, run.ip))
      : await counted(run, term, node)
    note(run, { domain, term: text, ...shown(match) })
    if (match.kind === 'error') return { result: match.result, domain, mechanism: text }
    if (match.kind === 'match')
      return {
        ...{ result: RESULTS[directive.qualifier], domain, mechanism: text },
        ...(record.exp ? { exp: record.exp } : {}),
      }
  }
  const redirect = redirectOf(node)
  if (redirect) return redirected(run, redirect, node)
  return { ...end(run, domain, 'neutral', spfNote('none_matched')), mechanism: 'default' } // §4.7
}

const redirectOf = ({ terms }: Draft): TermDraft | undefined => terms.find(({ directive }) => !directive)

/** The result at a name without one readable record (RFC 7208 §4.3 to §4.6). */
function unreadable({ state, records, problem, reason, at }: Draft): readonly [SpfResult, Problem] {
  switch (state) {
    case 'malformed':
      return ['none', reason!]
    case 'unknown':
      return ['temperror', reason!]
    case 'several':
      return ['permerror', spfNote('records', { count: records.length })]
    case 'syntax':
      return ['permerror', spfNote('syntax', { index: at ?? 0, why: problem! })]
    case 'too_long':
      return ['permerror', problem!]
    default:
      return ['none', spfNote('no_record')]
  }
}

/** Matches a term that costs a lookup, and counts it. A term that is not kept is beyond the ten. */
async function counted(run: Run, term: TermDraft | undefined, node: Draft): Promise<Match> {
  if (++run.lookups > MAX_LOOKUPS || !term) return tooManyLookups()
  const known = await expanded(run, term, node)
  if (leads(known)) return included(run, known)
  const match = await matched(run, known)
  // RFC 7208 §4.6.4 counts terms: a term that found nothing is one void lookup, however many queries it needed.
  if (match.kind === 'no_match' && match.void && ++run.voidLookups > MAX_VOID_LOOKUPS)
    return { kind: 'error', result: 'permerror', note: spfNote('void_lookups', { max: MAX_VOID_LOOKUPS }) }
  return match
}

/** RFC 7208 §5.2: the table of the included domain's results. */
async function included(run: Run, term: TermDraft): Promise<Match> {
  const { result } = await resultBelow(run, term)
  const note = spfNote('resulted', { name: term.name ?? '', result })
  if (result === 'pass') return { kind: 'match' }
  if (result === 'temperror') return { kind: 'error', result, note }
  if (result === 'permerror' || result === 'none') return { kind: 'error', result: 'permerror', note }
  return { kind: 'no_match', note }
}

/** RFC 7208 §6.1: the redirect's result is the result, but a missing record is a permerror. */
async function redirected(run: Run, term: TermDraft, node: Draft): Promise<Verdict> {
  const { domain } = node
  if (++run.lookups > MAX_LOOKUPS) {
    note(run, { domain, term: term.text, ...shown(tooManyLookups()) })
    return { result: 'permerror', domain, mechanism: term.text }
  }
  note(run, { domain, term: term.text, outcome: 'followed' })
  const known = await expanded(run, term, node)
  const verdict = await resultBelow(run, known)
  return verdict.result === 'none' ? end(run, known.name ?? '', 'permerror', spfNote('no_target')) : verdict
}

/** The result at the record to which a term leads; a name that cannot be expanded is malformed (RFC 7208 §4.3). */
async function resultBelow(run: Run, term: TermDraft): Promise<Verdict> {
  await load(run, term)
  return evaluate(run, term.node ?? (await readNode(run, term.name ?? '', TOP)))
}

/** A term whose name has `%{p}` is expanded when its turn comes: it takes queries that no other term needs. */
async function expanded(run: Run, term: TermDraft, { domain, record }: Draft): Promise<TermDraft> {
  const target = targetOf(term, record?.redirect) ?? []
  return usesLetter(target, 'p') ? termOf(term.directive, record?.redirect, await valuesFor(run, target, domain)) : term
}

/** The values for a macro string of the record of `domain`. */
export const valuesFor = async (run: Run, text: MacroString, domain: string): Promise<MacroValues> => ({
  ...run.values,
  domain,
  validated: usesLetter(text, 'p') ? await validatedName(run, domain) : 'unknown',
})

/** Matches one `a`, `mx`, `ptr` or `exists` (RFC 7208 §5). A query without an answer is temperror. */
async function matched(run: Run, term: TermDraft): Promise<Match> {
  const { mechanism } = term.directive!
  if (term.state === 'macro') return { kind: 'no_match', note: spfNote('macro') }
  if (mechanism.kind === 'ptr') {
    const { matches, ...found } = await validatedUnder(run, presentationOf(term.name!))
    return { ...yesNo(matches), ...found }
  }
  await load(run, term)
  if (term.state === 'void') return { kind: 'no_match', void: true }
  if (term.state === 'found' && mechanism.kind === 'exists') return { kind: 'match' }
  if (term.state === 'found' && 'cidr' in mechanism) {
    if ((term.exchanges ?? 0) > MAX_MX_NAMES)
      return {
        ...{ kind: 'error', result: 'permerror' },
        note: spfNote('mx_names', { count: term.exchanges!, max: MAX_MX_NAMES }),
      }
    const family = familyOf(run.ip)
    const found = term.found?.[`ip${family}`].addresses ?? []
    if (found.some((base) => has(run, base, mechanism.cidr))) return { kind: 'match' }
    if (await hasHost(run, term, mechanism.cidr)) return { kind: 'match' }
  }
  if (term.state === 'unknown') return { kind: 'error', result: 'temperror', note: term.reason! }
  // RFC 7208 §4.8 leaves this open: a name that cannot be queried is treated as nonexistent.
  return { kind: 'no_match', note: term.reason }
}

/** Whether the client is a host of an `mx`. The hosts are taken in turn, up to the first that has it or has no answer. */
async function hasHost(run: Run, term: TermDraft, cidr: DualCidr): Promise<boolean> {
  for (const answer of hostAnswers(run, term)) {
    const found = await answer
    if (failedAs(term, found)) return false
    if (found.records.some((base) => has(run, base, cidr))) return true
  }
  return false
}

const hostAnswers = (run: Run, { hosts = [] }: TermDraft) =>
  hosts.map((host) => settled(run.ask(host, ADDRESS[familyOf(run.ip)])))

const has = ({ ip }: Run, base: Ip, cidr: DualCidr): boolean => {
  const family = familyOf(base)
  return contains({ base, prefix: prefixOf(cidr, family), family }, ip)
}

const yesNo = (yes: boolean): Match => ({ kind: yes ? 'match' : 'no_match' })

const tooManyLookups = (): Match & { kind: 'error' } => ({
  kind: 'error',
  result: 'permerror',
  note: spfNote('lookups', { max: MAX_LOOKUPS }),
})

function end(run: Run, domain: string, result: SpfResult, why: Problem): Verdict {
  note(run, { domain, outcome: result, note: why })
  return { result, domain }
}

const shown = (match: Match): Pick<TraceStep, 'outcome' | 'note'> => ({
  outcome: match.kind === 'error' ? match.result : match.kind,
  ...(match.note === undefined ? {} : { note: match.note }),
})

function note(run: Run, step: TraceStep): void {
  if (run.trace.length < MAX_TRACE) run.trace.push(step)
}

/**
 * Maximum number of terms that are queried ahead in one evaluation: all that ten lookups can need, and some spare ones.
 */
const MAX_AHEAD = 20

/**
 * Starts the queries of the terms of a record before the first directive that is known to match, so that the
 * evaluation, which keeps the order and the counts of RFC 7208, finds them in progress.
 */
function lookAhead(run: Run, node: Draft): void {
  const begin = (term: TermDraft | undefined): void => {
    if (!term || run.ahead >= MAX_AHEAD) return
    if (usesLetter(targetOf(term, node.record?.redirect) ?? [], 'p')) return
    run.ahead++
    // A failure occurs again, and is reported, when the evaluation reaches the term.
    load(run, term).catch(() => {})
  }
  for (const { directive, term } of stepsOf(node)) {
    const { mechanism } = directive
    if (mechanism.kind === 'all' || ('network' in mechanism && contains(mechanism.network, run.ip))) return
    if (mechanism.kind !== 'ptr') begin(term)
  }
  begin(redirectOf(node))
}

/** Queries what a term needs, once. */
function load(run: Run, term: TermDraft): Promise<void> {
  const known = run.loading.get(term)
  if (known !== undefined) return known
  const loading = term.state === 'not_asked' ? ask(run, term) : Promise.resolve()
  run.loading.set(term, loading)
  return loading
}

async function ask(run: Run, term: TermDraft): Promise<void> {
  if (leads(term)) return lookAhead(run, await follow(run, term, TOP))
  await lookupHosts(run, term, true)
  hostAnswers(run, term).forEach((answer) => void answer.catch(() => {}))
}
