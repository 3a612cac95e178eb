import type { FindingAnswer, Severity } from '../../answers/finding.ts'
import type { PlanStep } from '../../answers/plan.ts'
import { earnedGrade, type Grade, worstGrade } from '../../answers/weights.ts'
import { type Block, heading, type Line } from '../block.ts'
import { pathBlocks } from '../plan.ts'
import type { Answer } from './answer.ts'
import { findingLabel, marked } from './labels.ts'

type Plan = NonNullable<Answer['plan']> & Pick<Answer, 'score' | 'grade'>

/** The points that listings cost a report; 0 for a check. */
const listed = ({ score, report_score: reported = score }: Answer): number => score - reported

/** The one list of what to do: the steps, then what no step mends. Nothing for a domain that has neither. */
export function wayBlocks(answer: Answer): readonly Block[] {
  const plan = planOf(answer)
  const way = plan ? pathBlocks(plan) : []
  const left = leftOf(answer)
  if (left.length === 0) return way
  const isFirst = plan === undefined || plan.steps.every(({ optional }) => optional)
  const rest = [
    isFirst ? heading(2, 'What to do', 'first') : heading(3, 'What no step mends', 'first'),
    { kind: 'list', items: left.map((one) => leftLine(answer, one)) } as const,
  ]
  return isFirst ? [...rest, ...way] : [...way, ...rest]
}

/** Findings of medium severity and more without a step, each cause once. */
function leftOf({ findings }: Answer): readonly FindingAnswer[] {
  const grave = findings.filter(({ severity }) => severity !== 'low' && severity !== 'info')
  const own = grave.filter(({ steps, follows }) => !steps && !grave.some(({ id }) => id === follows))
  return [...new Map(own.map((one) => [`${one.id} ${one.title}`, one])).values()].toSorted(
    (a, b) => RANK.indexOf(a.severity) - RANK.indexOf(b.severity),
  )
}
const RANK: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'info']

function leftLine(answer: Answer, finding: FindingAnswer): Line {
  const label = findingLabel(answer, finding)
  const why = answer.plan?.left.find((one) => one.finding === finding.id)?.why ?? finding.repair ?? finding.detail
  return [
    ...(label ? [marked(label), ' '] : []),
    { link: `#${finding.id.split('.')[0]}`, text: finding.title },
    `: ${why}`,
  ]
}

/**
 * The plan of the answer. In a report the listings cost the same points at each step until they are removed, which is
 * the step before the first that has to wait.
 */
function planOf(answer: Answer): Plan | undefined {
  const { score: own, grade: given } = answer
  const plan = answer.plan && { ...answer.plan, score: own, grade: given }
  const cost = listed(answer)
  if (!plan || cost === 0) return plan
  const { steps } = plan
  const at = nowOf(steps)
  const { score, grade } = steps[at - 1] ?? plan
  const removal: PlanStep = {
    title: 'Removal from the blacklists',
    findings: [],
    records: [],
    by: 'address owner',
    instructions:
      'Find and stop the source of the mail that caused the listing, then ask each list to remove it; otherwise the listing returns. Each list is below, with the way to ask.',
    assumed: true,
    why: 'Receivers refuse or distrust mail of what is listed.',
    before: [],
    score,
    grade,
    grade_because: null,
  }
  const less = <T extends { readonly score: number; readonly grade: Grade | null }>(one: T): T => {
    const left = Math.max(0, one.score - cost)
    return { ...one, score: left, grade: one.grade && worstGrade(one.grade, earnedGrade(left)) }
  }
  return { ...less(plan), steps: [...steps.slice(0, at).map(less), removal, ...steps.slice(at)] }
}

/** The number of steps that need not wait; the removal from lists comes after them. */
const nowOf = (steps: readonly PlanStep[]): number => {
  const later = steps.findIndex(({ wait, optional }) => wait !== undefined || optional === true)
  return later < 0 ? steps.length : later
}

/** The number of the step of the path that mends the finding, or begins to; undefined if there is none. */
export function stepFor(answer: Answer, { steps = [] }: Pick<FindingAnswer, 'steps'>): number | undefined {
  const [number] = steps
  if (number === undefined || !answer.plan) return undefined
  return listed(answer) > 0 && number > nowOf(answer.plan.steps) ? number + 1 : number
}
