import { contains } from '../../names/cidr.ts'
import { checkedName, presentationOf } from './ask.ts'
import { expandName, usesLetter } from './expand.ts'
import { isSpf, MAX_RECORD, parseSpf } from './parse.ts'
import { addressesOf, MAX_MX_NAMES, type Run } from './run.ts'
import type { Directive, MacroString, SpfRecord } from './terms.ts'

/** Maximum number of terms that are queried ahead in one evaluation: all that ten lookups can need, and some spare ones. */
const MAX_AHEAD = 20

/**
 * Starts the queries that evaluating `record` may need, and those of the records it includes, so that the evaluation, which keeps the order and the counts of
 * RFC 7208, finds them in progress. Returns nothing and never fails.
 */
export function lookAhead(run: Run, record: SpfRecord, domain: string): void {
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
