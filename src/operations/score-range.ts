import type { CheckAnswer } from '../answers/check.ts'
import type { ReportAnswer } from '../answers/report.ts'
import type { ScoreRange, Verdict } from './given.ts'

/** The score of a check; if it is incomplete, from its worst to its best case. */
export const checkScore = ({ score, score_min = score, score_max = score }: CheckAnswer): ScoreRange => ({
  score,
  least: score_min,
  most: score_max,
})

/** The score of a report: that of the check minus the deductions for listings, not below 0. Blacklists without an answer cost nothing. */
export function reportScore(answer: ReportAnswer): ScoreRange {
  const { score, least, most } = checkScore(answer)
  const less = (value: number): number => Math.max(0, value - (score - answer.report_score))
  return { score: answer.report_score, least: less(least), most: less(most) }
}

/** `bad` if a check fails; `unclear` if more than half of the points could not be determined, so that there is no grade. */
export function checkVerdict({ grade, status }: Pick<CheckAnswer, 'grade' | 'status'>): Verdict {
  if (grade === null) return 'unclear'
  return status === 'fail' ? 'bad' : 'good'
}
