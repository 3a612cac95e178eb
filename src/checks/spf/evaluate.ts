import type { Problem } from '../../base/problem.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import { lookAhead } from './ahead.ts'
import { checkedName, presentationOf } from './ask.ts'
import { expandName, usesLetter } from './expand.ts'
import { matchMechanism } from './match.ts'
import { isSpf, MAX_RECORD, parseSpf, tooLong } from './parse.ts'
import { validatedName } from './pointer.ts'
import { spfNote } from './problems.ts'
import {
  MAX_LOOKUPS,
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

/** Evaluates the record of one domain (RFC 7208 §4.3 to §4.7); includes and redirects call it again. Recursion ends with the ten lookups. */
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
