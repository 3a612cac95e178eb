import type { PlanStep } from '../answers/plan.ts'
import type { ReportAnswer } from '../answers/report.ts'
import { earnedGrade, type Grade, worstGrade } from '../answers/weights.ts'
import { counted, firstOf } from '../base/text.ts'
import { STOP_FIRST } from '../dnsbl/present.ts'

/**
 * A report whose listings cost points, with the removal from the blacklists as a step of its plan: before the first one
 * that has to wait or is optional. Until then the listings cost the same points at each step. The steps of findings are
 * numbered anew.
 */
export function withRemoval(answer: ReportAnswer): ReportAnswer {
  const { plan, findings, score, grade, report_score: reported } = answer
  const cost = score - reported
  if (!plan || cost === 0) return answer
  const at = nowOf(plan.steps)
  const insert = (steps: readonly PlanStep[]): PlanStep[] => {
    const first = nowOf(steps)
    const { score: reached, grade: earned } = steps[first - 1] ?? { score, grade }
    const removal = { ...stepOf(answer), score: reached, grade: earned, grade_because: null }
    return [...steps.slice(0, first).map((step) => less(step, cost)), removal, ...steps.slice(first)]
  }
  const { choice } = plan
  return {
    ...answer,
    findings: findings.map((one) =>
      one.steps ? { ...one, steps: one.steps.map((number) => (number > at ? number + 1 : number)) } : one,
    ),
    plan: {
      ...plan,
      steps: insert(plan.steps),
      ...(choice && { choice: { ...choice, options: choice.options.map((o) => ({ ...o, steps: insert(o.steps) })) } }),
    },
  }
}

/** The number of steps that need not wait. */
const nowOf = (steps: readonly PlanStep[]): number => {
  const later = steps.findIndex(({ wait, optional }) => wait !== undefined || optional === true)
  return later < 0 ? steps.length : later
}

function less<T extends { readonly score: number; readonly grade: Grade | null }>(one: T, cost: number): T {
  const left = Math.max(0, one.score - cost)
  return { ...one, score: left, grade: one.grade && worstGrade(one.grade, earnedGrade(left)) }
}

/** Addresses and lists that the step names; the report has all of them. */
const NAMED = 5

function stepOf({ blacklists, domain_blacklists: ofDomain }: ReportAnswer) {
  const subjects = [
    ...blacklists.map(({ ip, results }) => ({ name: ip, results })),
    ...(ofDomain ? [{ name: ofDomain.domain, results: ofDomain.results }] : []),
  ].map(({ name, results }) => ({ name, lists: results.flatMap((one) => (one.listed ? [one.blacklist] : [])) }))
  const listed = subjects.filter(({ lists }) => lists.length > 0)
  const counts = listed.map(({ name, lists }) => `${name} is on ${counted(lists.length, 'list')}`)
  const lists = [...new Set(listed.flatMap((one) => one.lists))]
  return {
    title: 'Removal from the blacklists',
    findings: [],
    records: [],
    by: 'address owner' as const,
    instructions: `${STOP_FIRST} Then ask for the removal from ${firstOf(lists, NAMED)}: each listing says who can ask, and where.`,
    assumed: true as const,
    why: `${firstOf(counts, NAMED)}: receivers refuse or distrust its mail`,
    before: [],
  }
}
