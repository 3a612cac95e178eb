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

/** Whether a check has a result: `unclear` if none of the scored checks that apply could be made. Their results affect the score. */
export function checkVerdict({ spf, dkim, dmarc, mx_status, ptr }: CheckAnswer): Verdict {
  const statuses = [spf.status, dkim.status, dmarc.status, mx_status, ptr.status].filter(
    (one) => one !== 'not_applicable',
  )
  return statuses.length > 0 && statuses.every((one) => one === 'unknown') ? 'unclear' : 'good'
}
