import type { CheckAnswer } from '../../answers/check.ts'
import type { FindingAnswer } from '../../answers/finding.ts'
import { better, type Row, worse } from './row.ts'

/** Findings of severity info are not reported as changes. */
const TOLD: readonly FindingAnswer['severity'][] = ['critical', 'high', 'medium', 'low']

/** Whether the check of a finding has a result. */
function isKnown(answer: CheckAnswer, id: string): boolean {
  const key = id.split('.')[0]!
  if (key === 'mx') return answer.mx_status !== 'unknown'
  const section: unknown = Object.hasOwn(answer, key) ? Reflect.get(answer, key) : undefined
  return typeof section === 'object' && section !== null && Reflect.get(section, 'status') !== 'unknown'
}

const told = ({ findings }: CheckAnswer): ReadonlyMap<string, FindingAnswer> =>
  new Map(findings.filter(({ severity }) => TOLD.includes(severity)).map((one) => [one.id, one]))

/** The findings of one answer that the other does not have, if both are known. */
const only = (one: CheckAnswer, other: CheckAnswer): readonly FindingAnswer[] => {
  const all = new Set(other.findings.map(({ id }) => id))
  return [...told(one).values()].filter(({ id }) => !all.has(id) && isKnown(one, id) && isKnown(other, id))
}
const isCut = (answer: CheckAnswer): boolean => Object.hasOwn(answer, 'findings_left_out')

/** Whether the score is the same whatever the unknown parts are: lists without an answer make a report incomplete, but do not change its score. */
export const isScoreKnown = ({
  complete,
  score_min,
  score_max,
}: Pick<CheckAnswer, 'complete' | 'score_min' | 'score_max'>): boolean =>
  complete || (score_min !== undefined && score_min === score_max)

export const FINDING_ROWS: readonly Row<CheckAnswer>[] = [
  {
    id: 'finding.new',
    area: 'New findings',
    compare: (before, after) =>
      isCut(before) ? [] : only(after, before).map(({ title, id }) => worse(`${title} (${id})`)),
  },
  {
    id: 'finding.solved',
    area: 'Solved',
    compare: (before, after) =>
      isCut(after) ? [] : only(before, after).map(({ title, id }) => better(`${title} (${id})`)),
  },
  {
    id: 'score',
    area: 'Score',
    compare: (before, after) => {
      if (!isScoreKnown(before) || !isScoreKnown(after) || before.score_version !== after.score_version) return []
      if (before.score === after.score) return []
      const words = `${after.score} (${after.grade}) instead of ${before.score} (${before.grade})`
      return [after.score < before.score ? worse(words) : better(words)]
    },
  },
]
