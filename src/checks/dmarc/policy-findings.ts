import { printable } from '../../base/text.ts'
import type { DnsRecord, Finding } from '../check.ts'
import type { DomainContext } from '../context.ts'
import type { Applied } from './facts.ts'
import { finding } from './finding.ts'
import { type Basis, changedFix, refusingFix, reported, softening, stepFix, subdomainFix } from './fixes.ts'
import { invalidPolicyTags, shareOf, weaker } from './policy.ts'

/** Which mail the domain has. */
export type Mail = Pick<DomainContext, 'role' | 'takes' | 'canPass' | 'noMail' | 'mail' | 'mailError'>
export const hasNoMail = ({ role }: Mail): boolean => role === 'parked'

/** A record that receivers cannot apply (RFC 9989 §4.10.1). */
export function brokenFinding(applied: Applied, basis: Basis): Finding {
  const { text: evidence, domain, reading } = applied
  const fix = changedFix(basis)
  const softened = softening(fix)
  if (applied.broken === 'duplicate') {
    const tags = [...new Set(reading.faults.filter((fault) => fault.kind === 'duplicate').map((fault) => fault.tag))]
    return finding('dmarc.duplicate_tag', { domain, tags, softened }, { evidence, fix })
  }
  const fault = reading.faults.find((candidate) => candidate.tag === invalidPolicyTags(reading)[0])!
  const args = { domain, tag: fault.tag, value: printable(fault.value, 80), at: fault.at, softened }
  return finding('dmarc.unusable_policy', args, { evidence, fix })
}

/** The findings about the policy, about subdomains, and about a record without report addresses. */
export function policyFindings(applied: Applied, basis: Basis, context: Mail): Finding[] {
  const { policies, text: evidence, reading } = applied
  const tags = invalidPolicyTags(reading)
  const mended = tags.length > 0 || reading.record.p === undefined ? changedFix(basis) : undefined
  if (tags.length > 0)
    return [finding('dmarc.invalid_policy', { tags, softened: softening(mended) }, { evidence, fix: mended })]
  const out: Finding[] = []
  if (reading.record.p === undefined)
    out.push(finding('dmarc.missing_policy', { softened: softening(mended) }, { evidence, fix: mended }))
  const isUnreported = reading.record.rua.length === 0 && !hasNoMail(context) && canReport(applied, context)
  const report = isUnreported ? { basis: reported(basis), fix: changedFix(reported(basis)) } : undefined
  out.push(...strengthFindings(applied, basis, context, report))
  if (policies && (weaker(policies.sp, policies.p) || weaker(policies.np, policies.p)))
    out.push(finding('dmarc.subdomains_weaker', { ...policies }, { evidence, fix: subdomainFix(basis) }))
  if (reading.record.rua.length === 0 && !hasNoMail(context)) {
    // One that is published, but not recognized by receivers.
    const unread = basis.record.rua.length > 0
    out.push(finding('dmarc.no_rua', { unread, softened: softening(report?.fix) }, { evidence, fix: report?.fix }))
  }
  return out
}

/** Reports are proposed only for the domain itself, if it accepts mail: nobody asked about a domain above. */
const canReport = (applied: Applied, { takes }: Mail): boolean => takes !== false && !applied.inherited

/** The record with reports, where it has none and they are proposed. */
type Reported = { readonly basis: Basis; readonly fix: DnsRecord | undefined }

/** A policy that requests little. */
function strengthFindings(applied: Applied, basis: Basis, context: Mail, report: Reported | undefined): Finding[] {
  const { effective, policy, text: evidence } = applied
  if (applied.reading.record.testing && policy !== undefined && policy !== 'none') {
    const args = { policy, effective: effective! }
    return [finding('dmarc.testing', args, { evidence, fix: changedFix(basis, { testing: false }) })]
  }
  if (effective === 'quarantine') return [finding('dmarc.policy_quarantine', {}, { evidence })]
  if (effective !== 'none') return []
  const args = { tag: applied.tag, unread: applied.reading.record.p === undefined, canPass: context.canPass }
  if (hasNoMail(context)) return [finding('dmarc.policy_none', args, { evidence, fix: refusingFix(basis) })]
  if (!context.canPass) return [finding('dmarc.policy_none', args, { evidence })]
  const step = stepFix(report?.basis ?? basis)
  // Without reports nobody can tell when the step is safe: they come first.
  const [fix, next] = report ? [report.fix, step] : [step, undefined]
  const share = shareOf(applied.reading)
  const told = {
    ...args,
    ...(share < 100 && { pct: share }),
    softened: softening(step),
    unreported: report !== undefined && softening(fix) === '',
  }
  return [finding('dmarc.policy_none', told, { evidence, fix, next })]
}
