import type { CheckAnswer } from '../answers/check.ts'
import type { ReportAnswer } from '../answers/report.ts'
import type { ScoreRange } from './given.ts'

/** The score of a check; where it is not complete, between its worst and its best reading. */
export const checkScore = ({ score, score_min = score, score_max = score }: CheckAnswer): ScoreRange => ({
  score,
  least: score_min,
  most: score_max,
})

/** The score of a report: that of the check, less what the listings take, not below 0. Blacklists that gave no answer cost nothing. */
export function reportScore(answer: ReportAnswer): ScoreRange {
  const { score, least, most } = checkScore(answer)
  const less = (value: number): number => Math.max(0, value - (score - answer.report_score))
  return { score: answer.report_score, least: less(least), most: less(most) }
}
