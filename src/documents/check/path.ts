import type { FindingAnswer, Severity } from '../../answers/finding.ts'
import { type Block, heading, type Line } from '../block.ts'
import { pathBlocks } from '../plan.ts'
import type { Answer } from './answer.ts'
import { findingLabel, marked } from './labels.ts'

/** The one list of what to do: the steps, then what no step mends. Nothing for a domain that has neither. */
export function wayBlocks(answer: Answer): readonly Block[] {
  const { plan, report_score: score = answer.score, report_grade: grade = answer.grade } = answer
  const way = plan
    ? pathBlocks({ ...plan, score, grade }, (id) => answer.findings.find((one) => one.id === id)?.title ?? id)
    : []
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
