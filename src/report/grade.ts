import { type Grade, WEIGHTS } from '../answers/weights.ts'
import type { Severity } from '../checks/check.ts'

/** A score, and the scores of the worst and the best case; absent if it is complete. */
export type GradedScore = {
  readonly score: number
  readonly least?: number | undefined
  readonly most?: number | undefined
}

const GRADES = Object.keys(WEIGHTS.grades) as readonly Grade[]

/**
 * The grade of a score: A+ is 100, A from 90, B from 80, C from 65, D from 50, else F. With an open finding of high or critical severity at most B, with one
 * of medium severity at most A, whether or not the finding costs points. Null, "not known": the worst and the best case are more than 50 points apart.
 */
export function gradeOf(
  { score, least = score, most = score }: GradedScore,
  findings: readonly { readonly severity: Severity }[],
): Grade | null {
  if (most - least > WEIGHTS.graded_within_points) return null
  const best: Readonly<Partial<Record<Severity, Grade>>> = WEIGHTS.best_grade
  const ceilings = findings.flatMap(({ severity }) => best[severity] ?? [])
  const earned = GRADES.find((grade) => score >= WEIGHTS.grades[grade]) ?? 'F'
  return GRADES[Math.max(...[earned, ...ceilings].map((grade) => GRADES.indexOf(grade)))]!
}
