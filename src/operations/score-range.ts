import type { CheckAnswer } from '../answers/check.ts'
import type { ReportAnswer } from '../answers/report.ts'
import type { ScoreRange, Verdict } from './given.ts'

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

/** Whether a check could tell anything: `unclear` where none of the scored checks that apply could be made. What they found is a matter of the score. */
export function checkVerdict({ spf, dkim, dmarc, mx_status, ptr }: CheckAnswer): Verdict {
  const statuses = [spf.status, dkim.status, dmarc.status, mx_status, ptr.status].filter(
    (one) => one !== 'not_applicable',
  )
  return statuses.length > 0 && statuses.every((one) => one === 'unknown') ? 'unclear' : 'good'
}
