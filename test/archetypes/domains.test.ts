import { type DomainCase, domains, questionOf } from './cases.ts'
import { late, serviceFor, worldOf, zoneOf } from './lab.ts'
import { adviceFaults, brokenPlan, type PlannedAnswer } from './plan-rules.ts'
import { steepFixes } from './policies.ts'
import { broken, type ShownAnswer } from './rules.ts'
import { runCases } from './run.ts'
import { harmfulFixes } from './senders.ts'

/** Domains as they stand in the DNS, and what a check must say of each. */
const { cases, ...shared } = domains()

/** The answer about a case; or the status, where the service refuses. */
async function ask(row: DomainCase, domain = row.ask ?? row.domain): Promise<(ShownAnswer & PlannedAnswer) | number> {
  const get = serviceFor(row, shared, late(worldOf(row, shared), row))
  const { format: _format, ...question } = questionOf(row, domain)
  const query = row.path === undefined ? { plan: 'true', ...question } : question
  const { status, body } = await get(row.path ?? '/v1/check', query)
  return status === 200 ? (body as ShownAnswer & PlannedAnswer) : status
}

runCases('archetypes of domains', cases, async (row) => {
  const answer = await ask(row)
  if (typeof answer === 'number') return row.expect.refused?.includes(answer) ? [] : [`answered with status ${answer}`]
  return [
    ...broken(row.expect, answer),
    ...(row.expect.plan ? brokenPlan(row.expect.plan, answer) : []),
    ...adviceFaults(answer, zoneOf(row, shared)),
    ...(await ranking(row, answer)),
    ...(await harmfulFixes(row, shared, answer.findings ?? [])),
    // What is asked first, whether the domain has mail, may end at once.
    ...(answer.plan?.choice ? [] : await steepFixes(row, shared, answer.domain_role?.name, unwaited(answer))),
  ]
})

/** The findings whose record can be published now. */
const unwaited = ({ findings = [], plan }: PlannedAnswer): NonNullable<ShownAnswer['findings']> =>
  findings.filter(({ steps: [first] = [] }) => first === undefined || plan?.steps[first - 1]?.wait === undefined)

/** The score is not below that of the domain named by `not_below`. */
async function ranking(row: DomainCase, { score }: ShownAnswer): Promise<readonly string[]> {
  const { not_below } = row.expect
  if (not_below === undefined) return []
  const other = await ask(row, not_below)
  if (typeof other === 'number' || other.score === undefined) throw new Error(`no score of ${not_below}: ${other}`)
  return (score ?? 0) >= other.score ? [] : [`the score ${score} is below the ${other.score} of ${not_below}`]
}
