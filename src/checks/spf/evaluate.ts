import type { Problem } from '../../base/problem.ts'
import { contains } from '../../names/cidr.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import { checkedName, presentationOf } from './ask.ts'
import { expandName, usesLetter } from './expand.ts'
import { matchMechanism, validatedName } from './match.ts'
import { isSpf, MAX_RECORD, parseSpf, tooLong } from './parse.ts'
import { spfNote } from './problems.ts'
import {
  addressesOf,
  MAX_LOOKUPS,
  MAX_MX_NAMES,
  MAX_VOID_LOOKUPS,
  type Match,
  type Run,
  type SpfResult,
  type TraceStep,
  type Verdict,
} from './run.ts'
import {
  asksDns,
  type Directive,
  formatDirective,
  formatMacroString,
  type MacroString,
  type Qualifier,
  type SpfRecord,
} from './terms.ts'

/** Maximum number of steps in the trace of an evaluation. */
const MAX_TRACE = 100
const RESULTS = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' } as const satisfies Record<
  Qualifier,
  SpfResult
>

/**
 * Evaluates the record of one domain (RFC 7208 §4.3 to §4.7); includes and redirects call it again. Recursion ends with
 * the ten lookups.
 */
export async function evaluate(run: Run, text: string): Promise<Verdict> {
  const domain = checkedName(text)
  if (domain === undefined) return end(run, text, 'none', spfNote('name')) // §4.3
  const selected = await select(run, domain)
  if ('result' in selected) return selected
  const { record } = selected
  lookAhead(run, record, domain)
  for (const directive of record.directives) {
    const match = await evaluateDirective(run, directive, domain)
    note(run, { domain, term: formatDirective(directive), ...shown(match) })
    if (match.kind === 'error') return { result: match.result, domain, mechanism: formatDirective(directive) }
    if (match.kind === 'match')
      return {
        result: RESULTS[directive.qualifier],
        domain,
        mechanism: formatDirective(directive),
        ...(record.exp ? { exp: record.exp } : {}),
      }
  }
  if (record.redirect) return redirected(run, record.redirect, domain)
  return { ...end(run, domain, 'neutral', spfNote('none_matched')), mechanism: 'default' } // §4.7
}

/** Selects the single SPF record of a domain (RFC 7208 §4.4, §4.5). */
async function select(run: Run, domain: string): Promise<{ readonly record: SpfRecord } | Verdict> {
  let texts: readonly string[]
  try {
    texts = (await run.ask(presentationOf(domain), 'TXT')).records.filter(isSpf)
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    if (error.reason === 'invalid_name') return end(run, domain, 'none', error.problem)
    return end(run, domain, 'temperror', error.problem)
  }
  if (texts.length === 0) return end(run, domain, 'none', spfNote('no_record'))
  if (texts.length > 1) return end(run, domain, 'permerror', spfNote('records', { count: texts.length }))
  if (texts[0]!.length > MAX_RECORD) return end(run, domain, 'permerror', tooLong(texts[0]!))
  const record = parseSpf(texts[0]!)
  if (record.ok) return { record: record.value }
  return end(run, domain, 'permerror', spfNote('syntax', { index: record.at ?? 0, why: record.problem }))
}

async function evaluateDirective(run: Run, { mechanism }: Directive, domain: string): Promise<Match> {
  if (asksDns(mechanism) && ++run.state.lookups > MAX_LOOKUPS) return tooManyLookups()
  if (mechanism.kind === 'include') return included(run, mechanism.domain, domain)
  const match = await matchMechanism(run, mechanism, domain)
  // RFC 7208 §4.6.4 counts terms: a term that found nothing is one void lookup, however many queries it needed.
  if (match.void && ++run.state.voidLookups > MAX_VOID_LOOKUPS)
    return { kind: 'error', result: 'permerror', note: spfNote('void_lookups', { max: MAX_VOID_LOOKUPS }) }
  return match
}

/** RFC 7208 §5.2: the table of the included domain's results. */
async function included(run: Run, target: MacroString, domain: string): Promise<Match> {
  const name = await targetName(run, target, domain)
  const { result } = await evaluate(run, name)
  if (result === 'pass') return { kind: 'match' }
  if (result === 'temperror') return { kind: 'error', result, note: spfNote('resulted', { name, result }) }
  if (result === 'permerror' || result === 'none')
    return { kind: 'error', result: 'permerror', note: spfNote('resulted', { name, result }) }
  return { kind: 'no_match', note: spfNote('resulted', { name, result }) }
}

/** RFC 7208 §6.1: the redirect's result is the result, but a missing record is a permerror. */
async function redirected(run: Run, target: MacroString, domain: string): Promise<Verdict> {
  const term = `redirect=${formatMacroString(target)}`
  if (++run.state.lookups > MAX_LOOKUPS) {
    note(run, { domain, term, ...shown(tooManyLookups()) })
    return { result: 'permerror', domain, mechanism: term }
  }
  note(run, { domain, term, outcome: 'followed' })
  const name = await targetName(run, target, domain)
  const verdict = await evaluate(run, name)
  return verdict.result === 'none' ? end(run, name, 'permerror', spfNote('no_target')) : verdict
}

/** The expansion of a target; one that cannot be expanded is a malformed name and gives `none` (RFC 7208 §4.3). */
async function targetName(run: Run, target: MacroString, domain: string): Promise<string> {
  const validated = usesLetter(target, 'p') ? await validatedName(run, domain) : undefined
  return expandName(target, { ...run.values, domain, ...(validated === undefined ? {} : { validated }) }) ?? ''
}

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
  if (run.state.trace.length < MAX_TRACE) run.state.trace.push(step)
}

/**
 * Maximum number of terms that are queried ahead in one evaluation: all that ten lookups can need, and some spare ones.
 */
const MAX_AHEAD = 20

/**
 * Starts the queries that evaluating `record` may need, and those of the records it includes, so that the evaluation,
 * which keeps the order and the counts of RFC 7208, finds them in progress. Returns nothing and never fails.
 */
function lookAhead(run: Run, record: SpfRecord, domain: string): void {
  const terms = undecided(run, record)
  for (const { mechanism } of terms) {
    if (mechanism.kind === 'include') follow(run, mechanism.domain, domain)
    if (mechanism.kind === 'exists') begin(run, mechanism.domain, domain, (name) => run.ask(presentationOf(name), 'A'))
    if (mechanism.kind === 'a') begin(run, mechanism.domain, domain, (name) => addressesOf(run, presentationOf(name)))
    if (mechanism.kind === 'mx') begin(run, mechanism.domain, domain, (name) => exchanges(run, presentationOf(name)))
  }
  if (terms.length === record.directives.length && record.redirect) follow(run, record.redirect, domain)
}

/** The directives before the first one that is known to match without a query. */
function undecided(run: Run, record: SpfRecord): readonly Directive[] {
  const end = record.directives.findIndex(
    ({ mechanism }) => mechanism.kind === 'all' || ('network' in mechanism && contains(mechanism.network, run.ip)),
  )
  return end < 0 ? record.directives : record.directives.slice(0, end)
}

function follow(run: Run, target: MacroString, domain: string): void {
  begin(run, target, domain, async (name) => {
    const checked = checkedName(name)
    if (checked === undefined) return
    const texts = (await run.ask(presentationOf(checked), 'TXT')).records.filter(isSpf)
    const record = texts.length === 1 && texts[0]!.length <= MAX_RECORD ? parseSpf(texts[0]!) : undefined
    if (record?.ok) lookAhead(run, record.value, checked)
  })
}

async function exchanges(run: Run, name: string): Promise<void> {
  const answer = await run.ask(name, 'MX')
  if (answer.records.length > MAX_MX_NAMES) return
  for (const { exchange } of answer.records) if (exchange !== '') void addressesOf(run, exchange).catch(() => {})
}

function begin(
  run: Run,
  target: MacroString | undefined,
  domain: string,
  ask: (name: string) => Promise<unknown>,
): void {
  if (run.state.ahead >= MAX_AHEAD || (target && usesLetter(target, 'p'))) return
  const name = target ? expandName(target, { ...run.values, domain }) : domain
  if (name === undefined) return
  run.state.ahead++
  // A failure occurs again, and is reported, when the evaluation reaches the term.
  ask(name).catch(() => {})
}
