import { printable } from '../../base/text.ts'
import { publicSuffix, registrableDomain } from '../../names/suffix.ts'
import type { Finding, Outcome, Severity } from '../check.ts'
import type { DomainContext } from '../context.ts'
import { type Applied, type DmarcFacts, discardedSteps } from './facts.ts'
import { type DmarcFindingId, finding } from './finding.ts'
import { findings as table } from './findings.ts'
import {
  changedFix,
  mergedFix,
  movedFix,
  policyFix,
  repairedFix,
  reported,
  startFix,
  subdomainFix,
  versionFix,
} from './fixes.ts'
import { invalidPolicyTags, weaker } from './policy.ts'
import { recordFindings } from './record-findings.ts'
import { reportFindings } from './report-findings.ts'

/**
 * Judges how a domain stands with DMARC. `unknown` where the policy could not be found out; `fail`: no record that can be applied;
 * `warn`: one that asks for nothing or has faults; `pass`: one that protects.
 */
export function judgeDmarc(facts: DmarcFacts, context: Mail): Outcome<DmarcFacts> {
  const discarded = discardedSteps(facts).map((step) =>
    step.decision === 'discarded_several'
      ? finding(
          'dmarc.several_records',
          { name: step.name, count: step.count },
          { evidence: step.records.join(' | '), fix: mergedFix(step) },
        )
      : finding('dmarc.malformed', { name: step.name }, { evidence: step.records[0], fix: versionFix(step) }),
  )
  const { applied } = facts
  const findings = applied
    ? [...discarded, ...appliedFindings(facts, applied, context)]
    : facts.unknown === undefined && discarded.length === 0
      ? nothingFound(facts, context)
      : discarded
  if (facts.unknown !== undefined) return { status: 'unknown', reason: facts.unknown, facts, findings }
  // What was thrown away at one name does no harm where another record governs.
  const counted = applied && !applied.broken ? findings.slice(discarded.length) : findings
  const status = statusOf(counted)
  return { status: status === 'pass' && discarded.length > 0 ? 'warn' : status, facts, findings }
}

/** Which mail the domain has. */
type Mail = Pick<DomainContext, 'role' | 'takes'>
const hasNoMail = ({ role }: Mail): boolean => role === 'parked'

function nothingFound(facts: DmarcFacts, context: Mail): Finding[] {
  const { domain } = facts
  if (facts.misplaced !== undefined)
    return [finding('dmarc.misplaced', { domain }, { evidence: facts.misplaced, fix: movedFix(facts) })]
  const id = hasNoMail(context) ? 'dmarc.no_record_parked' : 'dmarc.no_record'
  const other = facts.walk.steps[0]!.others
  return [
    finding(id, { domain }, { fix: startFix(facts, hasNoMail(context)) }),
    ...(other > 0 ? [finding('dmarc.other_txt', { name: `_dmarc.${domain}`, count: other })] : []),
  ]
}

function appliedFindings(facts: DmarcFacts, applied: Applied, context: Mail): Finding[] {
  const inherited = applied.inherited
    ? [finding('dmarc.inherited', { domain: facts.domain, from: applied.domain, tag: applied.tag })]
    : []
  if (applied.broken) return [broken(applied), ...inherited]
  return [
    ...policyFindings(applied, context),
    ...inherited,
    ...recordFindings(applied),
    ...reportFindings(facts, applied),
    ...readingFindings(facts, applied),
  ]
}

function broken(applied: Applied): Finding {
  const { text: evidence, domain, reading } = applied
  if (applied.broken === 'duplicate') {
    const tags = [...new Set(reading.faults.filter((fault) => fault.kind === 'duplicate').map((fault) => fault.tag))]
    return finding('dmarc.duplicate_tag', { domain, tags }, { evidence, fix: repairedFix(applied) })
  }
  const fault = reading.faults.find((candidate) => candidate.tag === invalidPolicyTags(reading)[0])!
  const args = { domain, tag: fault.tag, value: printable(fault.value, 80), at: fault.at }
  return finding('dmarc.unusable_policy', args, { evidence, fix: repairedFix(applied) })
}

function policyFindings(applied: Applied, context: Mail): Finding[] {
  const { effective, policy, policies, text: evidence } = applied
  const { record } = applied.reading
  const out: Finding[] = []
  if (invalidPolicyTags(applied.reading).length > 0) {
    const tags = invalidPolicyTags(applied.reading)
    return [finding('dmarc.invalid_policy', { tags }, { evidence, fix: repairedFix(applied) })]
  }
  if (record.p === undefined) out.push(finding('dmarc.missing_policy', {}, { evidence, fix: changedFix(applied, {}) }))
  if (record.testing && policy !== undefined && policy !== 'none')
    out.push(
      finding(
        'dmarc.testing',
        { policy, effective: effective! },
        { evidence, fix: changedFix(applied, { testing: false }) },
      ),
    )
  else if (effective === 'none')
    out.push(
      finding(
        'dmarc.policy_none',
        { tag: applied.tag },
        {
          evidence,
          fix: hasNoMail(context) ? policyFix(applied, 'reject') : policyFix(reported(applied), 'quarantine'),
        },
      ),
    )
  else if (effective === 'quarantine') out.push(finding('dmarc.policy_quarantine', {}, { evidence }))
  if (policies && (weaker(policies.sp, policies.p) || weaker(policies.np, policies.p)))
    out.push(finding('dmarc.subdomains_weaker', { ...policies }, { evidence, fix: subdomainFix(applied) }))
  if (record.rua.length === 0 && context.takes !== false) {
    const fix = changedFix(reported(applied), {})
    out.push(finding('dmarc.no_rua', {}, { evidence, fix }))
  }
  return out
}

/** What is to say of the walk and of other readers of the same records. */
function readingFindings(facts: DmarcFacts, applied: Applied): Finding[] {
  const out: Finding[] = []
  const psd = applied.reading.record.psd
  if (psd === 'y' && publicSuffix(applied.domain) !== applied.domain)
    out.push(
      finding(
        'dmarc.psd_misused',
        { domain: applied.domain },
        {
          evidence: applied.text,
          fix: changedFix(applied, { psd: registrableDomain(applied.domain) === applied.domain ? 'n' : 'u' }),
        },
      ),
    )
  const gap = facts.walk.steps.find((step) => step.decision === 'unanswered')
  if (gap) out.push(finding('dmarc.walk_gap', { name: gap.name, reason: gap.reason ?? '' }))
  if (facts.legacy) {
    const { foundAt = '', policy = '', pct = 100, organizationalDomain } = facts.legacy
    const now = facts.walk.organizationalDomain ?? ''
    out.push(
      finding('dmarc.legacy_differs', {
        foundAt,
        policy,
        pct,
        organizationalDomain,
        now,
        effective: applied.effective ?? '',
      }),
    )
  }
  return out
}

const RANK: Record<Severity, 'fail' | 'warn' | 'pass'> = {
  critical: 'fail',
  high: 'fail',
  medium: 'warn',
  low: 'warn',
  info: 'pass',
}

function statusOf(findings: readonly Finding[]): 'pass' | 'warn' | 'fail' {
  const ranks = findings.map((found) => RANK[table[found.id as DmarcFindingId].severity])
  return ranks.includes('fail') ? 'fail' : ranks.includes('warn') ? 'warn' : 'pass'
}
