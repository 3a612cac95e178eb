import type { Problem } from '../../base/problem.ts'
import { printable } from '../../base/text.ts'
import { hostError } from '../../mailhosts/mailhosts.ts'
import { registrableDomain } from '../../names/suffix.ts'
import type { Finding, Outcome, Severity } from '../check.ts'
import { severityOf } from '../finding.ts'
import { type Applied, type DmarcFacts, discardedSteps, doubledName, writtenTag } from './facts.ts'
import { finding, findings as table } from './findings.ts'
import { type Basis, basisOf, changedFix, mendedFix, mergedFix, movedFix, softening, startFix } from './fixes.ts'
import { type Mended, mendDmarc, type Slip } from './mend.ts'
import { type DmarcRecord, formatDmarc } from './parse.ts'
import { destinationProblem, dmarcSlip } from './problems.ts'
import {
  brokenFinding,
  hasNoMail,
  type Mail,
  policyFindings,
  readingFindings,
  recordFindings,
  reportFindings,
} from './record-findings.ts'
import { MAX_DESTINATIONS } from './reports.ts'
import type { Step } from './walk.ts'

/**
 * Judges the DMARC policy of a domain. `unknown` if the policy could not be determined; `fail`: no record that can be
 * applied; `warn`: one that requests nothing or has faults; `pass`: one that protects.
 */
export function judgeDmarc(facts: DmarcFacts, context: Mail): Outcome<DmarcFacts> {
  const discarded = discardedSteps(facts).map((step) => discardedFinding(step, facts))
  const { applied } = facts
  const judged = applied
    ? [...discarded, ...appliedFindings(facts, applied, context)]
    : facts.unknown === undefined && discarded.length === 0
      ? nothingFound(facts, context)
      : discarded
  const findings = [...withoutAliased(facts, judged), ...aliases(facts), ...misplaced(facts)]
  if (facts.unknown !== undefined) return { status: 'unknown', reason: facts.unknown, facts, findings }
  // Discarded records at one name do no harm if another record applies.
  const counted = applied && !applied.broken ? judged.slice(discarded.length) : judged
  const status = statusOf(counted)
  const open = status === 'pass' && discarded.length === 0 ? openDestination(facts, context) : undefined
  if (open) return { status: 'unknown', reason: open, facts, findings }
  return { status: status === 'pass' && discarded.length > 0 ? 'warn' : status, facts, findings }
}

/** A record at the name itself, where receivers do not look, while that of the organization applies. */
function misplaced({ domain, applied, misplaced: text }: DmarcFacts): Finding[] {
  if (text === undefined || !applied?.inherited) return []
  return [finding('dmarc.misplaced', { domain, softened: false, from: applied.domain }, { evidence: text })]
}

/** Why it is not known whether reports arrive, if an answer is missing. */
function openDestination(
  { domain, rua, ruf, applied }: DmarcFacts,
  { takes, mailError, mail }: Mail,
): Problem | undefined {
  if (!applied || applied.broken) return undefined
  const all = [...rua, ...ruf]
  const hosts = [...new Set(all.flatMap(({ host }) => host ?? []))].slice(0, MAX_DESTINATIONS)
  const asked = all.filter(({ host }) => host !== undefined && hosts.includes(host))
  const silent = asked.find(({ authorization, takesMail }) => authorization === 'unknown' || takesMail === null)
  if (silent) return silent.reason ?? destinationProblem('no_answer')
  if (takes !== null || !asked.some(({ host }) => host === domain)) return undefined
  return mailError ?? mail?.hosts.map(hostError).find((error) => error)?.problem
}

/**
 * Steps whose records are behind an alias (CNAME): the owner of that name changes them. An alias without a record may
 * come from a wildcard, beside which a record can be published.
 */
const aliased = ({ walk }: DmarcFacts) =>
  walk.steps.filter(({ alias, records }) => alias !== undefined && records.length > 0)

function withoutAliased(facts: DmarcFacts, findings: readonly Finding[]): Finding[] {
  const names = new Set(aliased(facts).map(({ name }) => name))
  return findings.map((one) => {
    const { fix, ...rest } = one
    return fix && names.has(fix.name) ? rest : one
  })
}

const aliases = (facts: DmarcFacts): Finding[] =>
  aliased(facts).map(({ name, alias = '', records }) =>
    finding('dmarc.alias', { name, target: printable(alias, 255) }, { evidence: records[0] }),
  )

/** A step whose records are discarded: several at one name, or one that receivers ignore. */
function discardedFinding(step: Step, { domain, applied }: DmarcFacts): Finding {
  const above = step.domain === domain && !applied?.broken ? applied : undefined
  if (step.decision === 'discarded_several') {
    const meant = mergedFix(step, above?.effective)
    const args = {
      name: step.name,
      count: step.count,
      softened: meant !== undefined && softening(meant.record, meant.fix),
      ...(above ? { above: above.domain } : {}),
    }
    return finding('dmarc.several_records', args, { evidence: step.records.join(' | '), fix: meant?.fix })
  }
  const text = step.records[0] ?? ''
  const meant = mendedFix(step, above?.effective)
  const softened = meant !== undefined && softening(meant.record, meant.fix)
  const args = { name: step.name, reasons: slipProblems(mendDmarc(text)), softened }
  return finding('dmarc.malformed', args, { evidence: text, fix: meant?.fix })
}

function nothingFound(facts: DmarcFacts, context: Mail): Finding[] {
  const { domain } = facts
  if (facts.misplaced !== undefined) {
    const meant = movedFix(facts)
    const softened = meant !== undefined && softening(meant.record, meant.fix)
    const found = finding('dmarc.misplaced', { domain, softened }, { evidence: facts.misplaced, fix: meant?.fix })
    return [{ ...found, severity: 'high' }]
  }
  if (facts.doubled !== undefined) {
    const meant = movedFix(facts)
    const args = { name: doubledName(domain), softened: meant !== undefined && softening(meant.record, meant.fix) }
    return [finding('dmarc.doubled_name', args, { evidence: facts.doubled, fix: meant?.fix })]
  }
  const none = hasNoMail(context)
  const { others: other, alias = '' } = facts.walk.steps[0]!
  const organization = registrableDomain(domain)
  // A record of its own would end the organization below it: the signatures of the organization would align no more.
  const above = !context.silent && organization !== domain ? organization : undefined
  // With a key there may be senders: the first record refuses nothing.
  const sendsNothing = (none && context.silent) || context.role === 'no_mail'
  const fix = above === undefined ? startFix(facts, { none: sendsNothing, takes: context.takes !== false }) : undefined
  return [
    finding(
      none ? 'dmarc.no_record_parked' : 'dmarc.no_record',
      {
        domain,
        ...(other === 0 && alias ? { alias: printable(alias, 255) } : {}),
        ...(above === undefined ? {} : { above }),
        silent: context.silent,
      },
      { fix },
    ),
    ...(other > 0 ? [finding('dmarc.other_txt', { name: `_dmarc.${domain}`, count: other })] : []),
  ]
}

function appliedFindings(facts: DmarcFacts, applied: Applied, context: Mail): Finding[] {
  const meant: Mended | undefined = meantBy(applied)
  // Mail hosts that cannot be reached will be repaired.
  const deadHost = context.takes === false && context.noMail !== undefined ? facts.domain : undefined
  const basis = basisOf(applied, meant?.record, deadHost)
  const inherited = applied.inherited
    ? [finding('dmarc.inherited', { domain: facts.domain, from: applied.domain, tag: writtenTag(applied) })]
    : []
  const slips = slipFindings(applied, basis, meant)
  if (applied.broken) {
    // Two records in one text contain each tag twice: the finding about the two records is more useful than the
    // duplicates.
    const isTold = slips.some(({ id }) => id === 'dmarc.two_records')
    return [...slips, ...(isTold ? [] : [brokenFinding(applied, basis)]), ...inherited]
  }
  return [
    ...slips,
    ...policyFindings(facts, applied, basis, context),
    ...inherited,
    ...recordFindings(applied, basis),
    ...reportFindings(facts, applied, basis, context),
    ...readingFindings(facts, applied),
  ]
}

const RANK: Record<Severity, 'fail' | 'warn' | 'pass'> = {
  critical: 'fail',
  high: 'fail',
  medium: 'warn',
  low: 'warn',
  info: 'pass',
}

function statusOf(findings: readonly Finding[]): 'pass' | 'warn' | 'fail' {
  const ranks = findings.map((found) => RANK[severityOf(table, found)])
  return ranks.includes('fail') ? 'fail' : ranks.includes('warn') ? 'warn' : 'pass'
}

/**
 * What the owner of the applied record meant, if something in it cannot be read as published; undefined if everything
 * can.
 */
export function meantBy({ text, reading }: Applied): Mended | undefined {
  const { record, faults, unknown } = reading
  const isClean =
    faults.length === 0 && unknown.length === 0 && ![...record.rua, ...record.ruf].some((uri) => uri.problem)
  return isClean ? undefined : mendDmarc(text)
}

/** Typing errors that make something unreadable; none if the record means the same with and without them. */
function slipFindings({ text, reading, broken }: Applied, basis: Basis, meant: Mended | undefined): Finding[] {
  if (!meant) return []
  // If a record cannot be applied, nothing of it is used.
  const lost = lostTags(broken ? undefined : reading.record, meant.record)
  if (lost.length === 0) return []
  const fix = changedFix(basis)
  const args = {
    tags: lost,
    code: meant.hidden?.code ?? '',
    at: meant.hidden?.at ?? 0,
    softened: softening(meant.record, fix),
  }
  const ids = new Set(meant.slips.flatMap((slip) => IDS[slip] ?? []))
  return [...ids].map((id) => finding(id, args, { evidence: text, fix }))
}

const IDS: Readonly<
  Partial<Record<Slip, 'dmarc.hidden_character' | 'dmarc.quotes' | 'dmarc.separator' | 'dmarc.two_records'>>
> = {
  hidden_character: 'dmarc.hidden_character',
  quotes: 'dmarc.quotes',
  backslashes: 'dmarc.quotes',
  separator: 'dmarc.separator',
  two_records: 'dmarc.two_records',
}

/** The tags whose values receivers do not read as their owner meant them. */
function lostTags(read: DmarcRecord | undefined, meant: DmarcRecord): string[] {
  const tagsOf = (record: DmarcRecord): Map<string, string> =>
    new Map(
      formatDmarc(record)
        .split('; ')
        .map((item) => [item.slice(0, item.indexOf('=')), item]),
    )
  const before = read ? tagsOf(read) : new Map<string, string>()
  return [...tagsOf(meant)].flatMap(([tag, item]) => (before.get(tag) === item ? [] : [tag]))
}

/** Why receivers ignore a record as a whole. */
function slipProblems(meant: Mended | undefined): readonly Problem[] {
  const { code = '', at = 0 } = meant?.hidden ?? {}
  return (meant?.slips ?? []).map((slip) =>
    slip === 'hidden_character' ? dmarcSlip(slip, { code, index: at }) : dmarcSlip(slip),
  )
}
