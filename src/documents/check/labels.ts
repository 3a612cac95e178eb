import type { FindingAnswer, Severity } from '../../answers/finding.ts'
import type { Marked } from '../block.ts'
import type { Answer, Section } from './answer.ts'
import { isUnused } from './sentences.ts'

/**
 * What a finding, a check is called: the gravest first, in the order in which a document shows them. `optional` costs no
 * points.
 */
const LABELS = {
  broken: { mark: 'bad', text: 'Broken' },
  weak: { mark: 'warn', text: 'Weak' },
  open: { mark: 'open', text: 'Not known' },
  better: { mark: 'warn', text: 'Could be better' },
  good: { mark: 'good', text: 'Good' },
  optional: { mark: 'none', text: 'Optional' },
  accepted: { mark: 'none', text: 'Accepted' },
  unused: { mark: 'none', text: 'Not used' },
  left_out: { mark: 'none', text: 'Does not apply' },
} as const satisfies Readonly<Record<string, Marked>>
export type Label = keyof typeof LABELS
const ORDER: readonly string[] = Object.keys(LABELS)

export const marked = (label: Label): Marked => LABELS[label]
export const byLabel = (a: Label, b: Label): number => ORDER.indexOf(a) - ORDER.indexOf(b)

const OF: Readonly<Record<Exclude<Severity, 'low' | 'info'>, Label>> = {
  critical: 'broken',
  high: 'broken',
  medium: 'weak',
}

/** The label of a finding; undefined for one that only informs. */
export function findingLabel(
  { score_breakdown: rows }: Answer,
  { id, severity, accepted }: FindingAnswer,
): Label | undefined {
  if (severity === 'info') return undefined
  if (accepted !== undefined) return 'accepted'
  if (severity !== 'low') return OF[severity]
  return rows.some(({ finding, points }) => finding === id && points > 0) ? 'better' : 'optional'
}

const OF_STATUS = { pass: 'good', warn: 'better', fail: 'broken', unknown: 'open', not_applicable: 'left_out' } as const

/** The label of a check: that of its gravest finding, of its status where no finding decides. */
export function checkLabel(answer: Answer, { key, status }: Pick<Section, 'key' | 'status'>): Label {
  if (isUnused(answer, key)) return 'unused'
  if (status === 'not_applicable') return 'left_out'
  const own = answer.findings.flatMap((one) => (one.id.startsWith(`${key}.`) ? (findingLabel(answer, one) ?? []) : []))
  return [...own, ...(status === 'unknown' ? (['open'] as const) : [])].toSorted(byLabel)[0] ?? OF_STATUS[status]
}
