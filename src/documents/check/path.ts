import type { PlanStep } from '../../answers/plan.ts'
import { type Block, heading, type Line, type Path, quiet, text } from '../block.ts'
import { pathBlocks, stepBlocks } from '../plan.ts'
import type { Answer } from './answer.ts'
import { faultsOf } from './sentences.ts'

type Plan = NonNullable<Answer['plan']>

/** The points that listings cost a report; 0 for a check. */
const listed = ({ score, report_score: reported = score }: Answer): number => score - reported

/** The way up in one picture. In a report, the listings cost the same points after each step, and their removal is the last one. */
export function wayBlocks(answer: Answer): readonly Block[] {
  const { plan } = answer
  if (!plan || plan.steps.length === 0) return []
  const cost = listed(answer)
  if (cost === 0) return pathBlocks(plan)
  const [block] = pathBlocks(plan)
  return block?.kind === 'path' ? [{ kind: 'path', path: withListings(block.path, plan, cost) }] : []
}

function withListings({ label, start, steps }: Path, { end }: Plan, cost: number): Path {
  const less = ({ score }: { readonly score: number }): { readonly score: number } => ({
    score: Math.max(0, score - cost),
  })
  const needed = steps.filter(({ note }) => note !== 'optional')
  const removal = { title: 'Removal from the blacklists', href: '#blacklists', note: 'by the owner of the address' }
  return {
    label,
    start: less(start),
    steps: [
      ...needed.map(({ grade: _, ...step }) => ({ ...step, ...less(step) })),
      { ...removal, score: end.score, ...(end.grade !== null && { grade: end.grade }) },
      ...steps.filter(({ note }) => note === 'optional'),
    ],
  }
}

/** What to publish: each step with its records, the optional ones apart. */
export const planBlocks = ({ plan }: Answer): readonly Block[] => (plan ? stepBlocks(plan) : [])

/** The ids of the findings that the steps resolve. */
export const plannedIn = ({ plan }: Answer): ReadonlySet<string> =>
  new Set(plan?.steps.flatMap(({ findings }: PlanStep) => findings))

/** Checks whose records are for those who want them. */
const OPTIONAL: readonly string[] = ['caa', 'bimi', 'dane', 'dnssec']

/** Findings of low severity that no step resolves, one line each: the optional ones last, and said to be. */
export function improvementBlocks(answer: Answer): readonly Block[] {
  const planned = plannedIn(answer)
  const keys = [...new Set(answer.findings.map(({ id }) => id.split('.')[0]!))]
  const rows = keys
    .flatMap((key) => faultsOf(answer, key).map((finding) => ({ key, finding, isOptional: OPTIONAL.includes(key) })))
    .filter(({ finding: { id, severity } }) => severity === 'low' && !planned.has(id))
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

/** That nothing is to be done, or that the plan could not be made. */
export const nothingBlocks = (isKnown: boolean): readonly Block[] => [
  heading(2, 'What to do', 'first'),
  isKnown
    ? text('Nothing needs to be fixed.')
    : text('Find out why the DNS does not answer: each check below gives its reason. Then check again.'),
  ...(isKnown
    ? []
    : [quiet('On the machine of this service, ', { code: 'mailsonde doctor' }, ' tells whether the resolver works.')]),
]
