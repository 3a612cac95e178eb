import { earnedGrade, type Grade, WEIGHTS, worstGrade } from '../answers/weights.ts'
import type { Severity } from '../checks/check.ts'

/** A score, and the scores of the worst and the best case; absent if it is complete. */
export type GradedScore = {
  readonly score: number
  readonly least?: number | undefined
  readonly most?: number | undefined
}

/**
 * The grade of a score: what its points earn ({@link earnedGrade}). With an open finding of high or critical severity
 * at most B, with one of medium severity at most A, whether or not the finding costs points. Null, "not known": the
 * worst and the best case are more than 50 points apart.
 */
export function gradeOf(
  { score, least = score, most = score }: GradedScore,
  findings: readonly { readonly severity: Severity }[],
): Grade | null {
  if (most - least > WEIGHTS.graded_within_points) return null
  const best: Readonly<Partial<Record<Severity, Grade>>> = WEIGHTS.best_grade
  return worstGrade(earnedGrade(score), ...findings.flatMap(({ severity }) => best[severity] ?? []))
}
