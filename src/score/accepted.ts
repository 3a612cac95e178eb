import type { CheckAnswer } from '../answers/check.ts'
import type { Acceptance, FindingAnswer, Severity } from '../answers/finding.ts'
import type { FindingTable } from '../checks/check.ts'
import * as checks from '../checks/registry.ts'

const SEVERITIES: ReadonlyMap<string, Severity> = new Map(
  Object.values(checks).flatMap(({ table }) =>
    Object.entries(table as FindingTable).map(([id, { severity }]) => [id, severity] as const),
  ),
)
export const FINDING_IDS: readonly string[] = [...SEVERITIES.keys()]
/** The severity of a finding about a domain; undefined for an unknown id. */
export const severityOfFinding = (id: string): Severity | undefined => SEVERITIES.get(id)

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

/**
 * Whether an answer is bad beside what is accepted: it fails, and not by accepted findings alone. A check that fails is
 * accepted if a finding of it is, and no other finding of the answer is of severity high or critical.
 */
export function isBad(answer: Judged): boolean {
  if (answer.status !== 'fail') return false
  const isOpen = ({ severity, accepted }: FindingAnswer): boolean =>
    accepted === undefined && (severity === 'critical' || severity === 'high')
  if (answer.findings.some(isOpen)) return true
  const failing = [
    ...SCORED.filter((key) => answer[key].status === 'fail'),
    ...(answer.mx_status === 'fail' ? ['mx'] : []),
  ]
  const accepted = answer.findings.filter((one) => one.accepted !== undefined)
  return accepted.length === 0 || failing.some((key) => !accepted.some(({ id }) => id.startsWith(`${key}.`)))
}
