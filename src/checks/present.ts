import type { FindingAnswer } from '../answers/finding.ts'
import { printable } from '../base/text.ts'
import type { Check, Finding, FindingTable, Outcome, OwnFields, Severity } from './check.ts'
import { severityOf, tellArgs } from './finding.ts'

const RANK: Record<Severity, number> = { critical: 0, high: 1, medium: 2, low: 3, info: 4 }
/**
 * Maximum number of characters of evidence, which is external text. A tab appears as in a zone file, `\009` (RFC 1035
 * §5.1): a space would hide it.
 */
const MAX_EVIDENCE = 2_000

/** The texts of a finding from its check's table. */
export function presentFinding(table: FindingTable, finding: Finding): FindingAnswer {
  const words = table[finding.id]
  if (!words) throw new Error(`the finding ${finding.id} is in no table`)
  const args = tellArgs(finding.args)
  const isOffered = finding.fix !== undefined || finding.file !== undefined
  const usual = isOffered ? words.repair : (words.unoffered ?? words.repair)
  const repair = finding.repair ?? words.advice?.(args, isOffered) ?? usual
  return {
    id: finding.id,
    severity: severityOf(table, finding),
    title: words.title,
    detail: printable(words.detail(args), MAX_EVIDENCE),
    ...(finding.evidence === undefined
      ? {}
      : { evidence: printable(finding.evidence.replaceAll('\t', '\\009'), MAX_EVIDENCE) }),
    ...(repair === undefined ? {} : { repair: printable(repair, MAX_EVIDENCE) }),
    ...(finding.follows === undefined ? {} : { follows: finding.follows }),
    ...(finding.file ? { file: finding.file } : {}),
    reference: words.reference,
  }
}

/** The most severe first; otherwise the order stays. */
export const severityOrder = (a: { readonly severity: Severity }, b: { readonly severity: Severity }): number =>
  RANK[a.severity] - RANK[b.severity]

/**
 * One check's object: its own fields, then `status`, and `reason` if it is unknown or does not apply (or the check sets
 * one itself).
 */
export function presentOutcome<Facts, Fields extends OwnFields>(check: Check<Facts, Fields>, outcome: Outcome<Facts>) {
  const own = check.present(outcome)
  return {
    ...own,
    status: outcome.status,
    ...(outcome.reason !== undefined && own.reason === undefined ? { reason: outcome.reason.text } : {}),
  }
}
