import type { CheckAnswer } from '../answers/check.ts'
import type { Acceptance, FindingAnswer, Severity } from '../answers/finding.ts'
import type { FindingTable } from '../checks/check.ts'
import * as checks from '../checks/registry.ts'

const FINDINGS = new Map(Object.values(checks).flatMap(({ table }) => Object.entries(table as FindingTable)))
export const FINDING_IDS: readonly string[] = [...FINDINGS.keys()]
/** The severity of a finding about a domain; undefined for an unknown id. */
export const severityOfFinding = (id: string): Severity | undefined => FINDINGS.get(id)?.severity
/** The title of a finding about a domain; an unknown id, as from a later version, is its own title. */
export const titleOfFinding = (id: string): string => FINDINGS.get(id)?.title ?? id

/** Accepted findings of one domain: who accepted each, why and until when, by the id of the finding. */
export type Acceptances = ReadonlyMap<string, Acceptance>

/** The answer with its accepted findings marked; a mark of before is removed. Score, grade and status stay. */
export const withAccepted = <A extends { readonly findings: readonly FindingAnswer[] }>(
  answer: A,
  all: Acceptances,
): A =>
  all.size === 0 && answer.findings.every(({ accepted }) => accepted === undefined)
    ? answer
    : {
        ...answer,
        findings: answer.findings.map(({ accepted: _, ...finding }) => {
          const accepted = all.get(finding.id)
          return accepted ? { ...finding, accepted } : finding
        }),
      }

/** The scored checks, whose status decides that of the answer. */
const SCORED = ['spf', 'dkim', 'dmarc', 'ptr'] as const

type Judged = Pick<CheckAnswer, 'status' | 'findings' | 'mx_status' | (typeof SCORED)[number]>

/** Statuses that a scored check lowers that of the answer to, the worst first. */
const LOWER = ['fail', 'warn', 'unknown'] as const

/**
 * The status of an answer beside what is accepted. A check with an accepted finding lowers it no further than the most
 * severe of the findings of the answer that are not accepted.
 */
export function statusBeside(answer: Judged): CheckAnswer['status'] {
  const { status, findings } = answer
  const [accepted, open] = [findings.filter((one) => one.accepted), findings.filter((one) => !one.accepted)]
  if (accepted.length === 0 || (status !== 'fail' && status !== 'warn')) return status
  const severities = open.map(({ severity }) => severity)
  const byOpen = severities.some((one) => one === 'critical' || one === 'high')
    ? 'fail'
    : severities.includes('medium')
      ? 'warn'
      : 'pass'
  const statuses = [...SCORED.map((key) => [key, answer[key].status] as const), ['mx', answer.mx_status] as const].map(
    ([key, own]) =>
      (own === 'fail' || own === 'warn') && accepted.some(({ id }) => id.startsWith(`${key}.`)) ? byOpen : own,
  )
  if (status === 'fail' && byOpen === 'fail') return 'fail'
  return LOWER.find((one) => statuses.includes(one)) ?? 'pass'
}

/** Whether an answer is bad beside what is accepted: it fails, and not by accepted findings alone. */
export const isBad = (answer: Judged): boolean => statusBeside(answer) === 'fail'

/** The points, at most 100, that an answer would have more without what its accepted findings cost. */
export function pointsAccepted({ score, score_breakdown: rows, findings }: CheckAnswer): number {
  const ids = findings.flatMap(({ id, accepted }) => (accepted ? [id] : []))
  const sum = (some: typeof rows): number => some.reduce((all, { points }) => all + points, 0)
  const lost = sum(rows.filter(({ kind }) => kind !== 'rounding'))
  // what the scale of a role adds to losses is divided among them
  const causes = rows.filter(({ kind }) => kind !== 'rounding' && kind !== 'rescale')
  const accepted = sum(causes.filter(({ finding }) => finding !== null && ids.includes(finding)))
  return accepted <= 0 ? 0 : Math.round(100 - lost * (1 - accepted / sum(causes))) - score
}
