import type { FindingAnswer } from '../../answers/finding.ts'
import type { PlanStep } from '../../answers/plan.ts'
import { earnedGrade, type Grade, worstGrade } from '../../answers/weights.ts'
import { type Block, heading, type Line, quiet, text } from '../block.ts'
import { optionalBlocks, pathBlocks, stepBlocks } from '../plan.ts'
import type { Answer } from './answer.ts'
import type { Step } from './findings.ts'
import { faultsOf } from './sentences.ts'

type Plan = NonNullable<Answer['plan']> & Pick<Answer, 'score' | 'grade'>

/** The points that listings cost a report; 0 for a check. */
const listed = ({ score, report_score: reported = score }: Answer): number => score - reported

/** The way up in one picture. */
export function wayBlocks(answer: Answer): readonly Block[] {
  const plan = planOf(answer)
  return plan ? pathBlocks(plan) : []
}

/** What to publish: each step with its records. */
export function planBlocks(answer: Answer): readonly Block[] {
  const plan = planOf(answer)
  return plan ? stepBlocks(plan) : []
}

/** What else could be published: each optional step with its records. */
export function optionalPlanBlocks(answer: Answer): readonly Block[] {
  const plan = planOf(answer)
  return plan ? optionalBlocks(plan) : []
}

/** Whether the plan has a step that is not optional: otherwise what is to be repaired comes first. */
export const hasWay = (answer: Answer): boolean => planOf(answer)?.steps.some(({ optional }) => !optional) ?? false

/**
 * The plan of the answer. In a report the listings cost the same points at each step until they are removed, which is
 * the step before the first that has to wait.
 */
function planOf(answer: Answer): Plan | undefined {
  const { score: own, grade: given } = answer
  const plan = answer.plan && { ...answer.plan, score: own, grade: given }
  const cost = listed(answer)
  if (!plan || plan.steps.length === 0 || cost === 0) return plan
  const { steps } = plan
  const later = steps.findIndex(({ wait, optional }) => wait !== undefined || optional === true)
  const at = later < 0 ? steps.length : later
  const { score, grade } = steps[at - 1] ?? plan
  const removal: PlanStep = {
    title: 'Removal from the blacklists',
    findings: [],
    records: [],
    by: 'address owner',
    instructions: 'Ask each list to remove the address. How is told below, under each list.',
    assumed: true,
    why: 'Receivers refuse mail from a listed address.',
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

/** The ids of the findings that the steps resolve. */
export const plannedIn = ({ plan }: Answer): ReadonlySet<string> =>
  new Set(plan?.steps.flatMap(({ findings }: PlanStep) => findings))

/** The step of the path that resolves the finding, or publishes its very record; undefined if there is none. */
export function stepFor(answer: Answer, { id, fix }: Pick<Partial<FindingAnswer>, 'id' | 'fix'>): Step | undefined {
  const steps = planOf(answer)?.steps ?? []
  const isResolved = ({ findings }: PlanStep): boolean => id !== undefined && findings.includes(id)
  const isPublished = ({ records }: PlanStep): boolean =>
    records.some(({ name, type, value }) => name === fix?.name && type === fix.rtype && value === fix.value)
  const at = steps.findIndex(isResolved)
  const found = at < 0 ? steps.findIndex(isPublished) : at
  return found < 0 ? undefined : { number: found + 1, hasFile: steps[found]?.file !== undefined }
}

/** Checks whose records are for those who want them. */
const OPTIONAL: readonly string[] = ['caa', 'bimi', 'dane', 'dnssec']

/**
 * Findings of low severity that no step resolves and no fault in `told` names, one line each: the optional ones last,
 * and said to be.
 */
export function improvementBlocks(answer: Answer, told: ReadonlySet<string>): readonly Block[] {
  const planned = plannedIn(answer)
  const keys = [...new Set(answer.findings.map(({ id }) => id.split('.')[0]!))]
  const rows = keys
    .flatMap((key) => faultsOf(answer, key).map((finding) => ({ key, finding, isOptional: OPTIONAL.includes(key) })))
    .filter(({ finding: { id, severity, title } }) => severity === 'low' && !planned.has(id) && !told.has(title))
    .toSorted((a, b) => Number(a.isOptional) - Number(b.isOptional))
  if (rows.length === 0) return []
  return [
    heading(3, 'Details that could be improved', 'improve'),
    {
      kind: 'list',
      items: rows.map(
        ({ key, finding, isOptional }): Line => [
          { link: `#${key}`, text: finding.title },
          ...(isOptional ? [' · optional'] : []),
        ],
      ),
    },
  ]
}

/** That nothing is to be done, as far as it is known, or that the plan could not be made. */
export const nothingBlocks = (isKnown: boolean, { score_min, score_max }: Partial<Answer>): readonly Block[] => [
  heading(2, 'What to do', 'first'),
  isKnown
    ? text(
        score_min === score_max ? 'Nothing needs to be fixed.' : 'Nothing that could be determined needs to be fixed.',
      )
    : text('Find out why the DNS does not answer: each check below gives its reason. Then check again.'),
  ...(isKnown
    ? []
    : [quiet('On the machine of this service, ', { code: 'mailsonde doctor' }, ' tells whether the resolver works.')]),
]
