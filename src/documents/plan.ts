import type { PlanAnswer, PlanStep } from '../answers/plan.ts'
import { earnedGrade } from '../answers/weights.ts'
import { counted } from '../base/text.ts'
import {
  type Block,
  blocksOf,
  bullets,
  code,
  codes,
  conclude,
  type Document,
  group,
  heading,
  type Inline,
  type Line,
  type Mark,
  type Parts,
  type Path,
  quiet,
  seen,
  text,
} from './block.ts'
import { profileBlocks } from './profile.ts'
import { footerOf } from './words.ts'

/**
 * The plan of a domain: the way to the best score in one picture, then each step with its records. `version` is the
 * program's.
 */
export function planDocument(plan: PlanAnswer, version: string): Document {
  const { domain, left, observed_at, setup } = plan
  return {
    title: `Plan: ${domain}`,
    blocks: blocksOf([
      conclude(domain, ...concluded(plan), notesOf(plan)),
      pathBlocks(plan),
      missingBlocks(plan),
      left.length > 0 && heading(2, 'What no record repairs', 'left'),
      bullets(left.map(({ finding, why }) => [code(finding), `: ${why}`])),
      plan.profile && [
        heading(2, `Profile ${plan.profile.name}, today`, 'profile'),
        profileBlocks(plan.profile, 'Rules'),
      ],
      setup && setup.sources.length > 0 && quiet(`Sources: ${setup.sources.join('; ')}.`),
    ]),
    footer: footerOf(version, observed_at),
  }
}

type Way = Pick<PlanAnswer, 'steps' | 'score' | 'grade' | 'end' | 'left' | 'choice' | 'organization'>

/** The checks of the score; what another one could not see changes no record. */
const SCORED: ReadonlySet<string> = new Set(['spf', 'dkim', 'dmarc', 'mx', 'ptr'])

const graded = (score: number, grade: string | null): string =>
  grade === null ? `${score}, no grade` : `${grade} (${score})`

function concluded({ steps, score, grade, end, left }: Way): [mark: Mark, badge: string, words: string] {
  const now = graded(score, grade)
  const needed = steps.filter(({ optional }) => !optional)
  if (needed.length > 0) {
    const count = counted(needed.length, 'step')
    const leads = needed.length === 1 ? 'leads' : 'lead'
    const then = graded(end.score, end.grade)
    return [
      'warn',
      count,
      now === then ? `${count}; the score stays ${now}.` : `${count} ${leads} from ${now} to ${then}.`,
    ]
  }
  if (left.some(({ finding }) => SCORED.has(finding)))
    return ['open', 'Not known', 'Too little is known about the domain for a plan: the reasons are below.']
  const best = steps.at(-1)
  const most = best ? graded(best.score, best.grade) : now
  const isGood = grade === 'A' || grade === 'A+'
  if (most !== now)
    return [
      isGood ? 'good' : 'warn',
      'Optional steps',
      `${isGood ? 'No step is needed. ' : ''}Optional ones lead from ${now} to ${most}.`,
    ]
  if (grade === 'A+')
    return [
      'good',
      'Nothing to do',
      `Nothing has to be published: ${now}.${left.length > 0 ? ' What more can be done is below.' : ''}`,
    ]
  return left.length > 0
    ? ['warn', 'No record helps', `No record improves ${now}; what is left is below.`]
    : ['good', 'Nothing to do', `Nothing needs to be published: ${now}.`]
}

function notesOf({ expected, published, steps }: PlanAnswer): Line[] {
  const measured = 'Each score is measured with the records of the step and all before it'
  const assumed = steps.some(({ assumed }) => assumed) ? '; what others have to do is assumed to be done' : ''
  return [
    ...(expected === undefined ? [] : [[`${published ?? 0} of ${expected} expected records are published.`]]),
    ...(steps.length > 0 ? [[`${measured}${assumed}.`]] : []),
  ]
}

/** The way, each step with its records; nothing if there is no step. What else the domain could be for is a row. */
export const pathBlocks = (
  { choice, organization, ...way }: Omit<Way, 'left'>,
  titleOf: (finding: string) => Inline = code,
): readonly Block[] =>
  blocksOf([
    choice && text({ strong: `${choice.question} ` }, `These steps are for "${choice.options[0]?.title ?? ''}".`),
    wayBlocks(way, 'step', titleOf),
    (choice?.options.slice(1) ?? []).map((option, i) => {
      const end = ` to ${graded(option.end.score, option.end.grade)}`
      return group(
        'row',
        heading(3, [option.title, ' ', { mark: 'none', text: 'instead' }, end]),
        wayBlocks({ ...way, ...option }, `option-${i + 2}-step`, titleOf),
      )
    }),
    organization &&
      quiet(
        ...['The name belongs to ', code(organization.domain), ', whose DMARC record covers it; its plan is at '],
        ...[code(organization.plan), '.'],
      ),
  ])

/** The steps; their ids begin with `prefix`. */
function wayBlocks(
  { score, grade, steps, end }: Pick<Way, 'score' | 'grade' | 'steps' | 'end'>,
  prefix: string,
  titleOf: (finding: string) => Inline,
): readonly Block[] {
  if (steps.length === 0) return []
  const path: Path = {
    label: end.grade === null || end.grade === grade ? 'What the records gain' : `The path to ${end.grade}`,
    start: { score, ...(grade !== null && { grade }) },
    steps: steps.map((step, i) => ({
      id: `${prefix}-${i + 1}`,
      title: step.title,
      score: step.score,
      ...(step.grade !== null && { grade: step.grade }),
      stage: step.optional ? 'optional' : step.wait ? 'later' : 'now',
      note: noteOf(step),
      why: step.wait ? `First: ${waitWords(step.wait).first}` : step.why,
      blocks: stepBlocks(step),
    })),
  }
  const because =
    end.grade_because &&
    end.grade !== null &&
    quiet(`It ends at ${end.grade} and not at ${earnedGrade(end.score)}: `, titleOf(end.grade_because.finding), '.')
  return blocksOf([{ kind: 'path', path }, because])
}

/** The way without its records: one line a step. */
export const briefPath = (blocks: readonly Block[]): Block[] =>
  blocks
    .filter(({ kind }) => kind !== 'group')
    .map((one) =>
      one.kind === 'path'
        ? { ...one, path: { ...one.path, steps: one.path.steps.map((step) => ({ ...step, why: '', blocks: [] })) } }
        : one,
    )

const BY: Readonly<Record<PlanStep['by'], string>> = {
  dns: 'in your DNS',
  'mail provider': 'by the mail provider',
  'address owner': 'by the owner of the address',
  'web server': 'on the web server',
  'report receiver': 'by the report receiver',
  registrar: 'by the registrar',
}

const noteOf = ({ optional, wait, by }: PlanStep): string =>
  optional ? 'optional' : wait ? `later, ${BY[by]}` : BY[by]

/** What to wait for, and the rest of it, which is in the step: what to do until then, and the evidence. */
function waitWords(wait: string): { readonly first: string; readonly rest: string } {
  const [, first = '', rest = ''] = /^(.*?)(?:[:.] (.*)|\.?)$/s.exec(wait) ?? []
  return {
    first: `${first.slice(0, 1).toLowerCase()}${first.slice(1)}`,
    rest: `${rest.slice(0, 1).toUpperCase()}${rest.slice(1)}`,
  }
}

function stepBlocks({ why, before, wait, instructions, file, records, findings, by }: PlanStep): readonly Block[] {
  const { rest } = waitWords(wait ?? '')
  return blocksOf([
    rest !== '' && text(rest),
    before.map((one) => text({ strong: 'First: ' }, one)),
    wait !== undefined && why !== '' && text(why),
    instructions !== undefined && text({ strong: by === 'dns' ? 'Note: ' : 'What to do: ' }, instructions),
    file && seen(`File at ${file.url}`, file.text.trim().split('\n')),
    records.map(recordBlock),
    findings.length > 0 && quiet('Resolves ', ...codes(findings), '.'),
  ])
}

function recordBlock({ action, name, type, value, was }: PlanStep['records'][number]): Block {
  if (action === 'remove') return seen(`Remove this ${type} record at ${name}`, value)
  if (action === 'keep') return quiet('Stays at ', code(`${name} ${type}`), ': ', code(value))
  return { kind: 'publish', record: { name, rtype: type, value, ...(was.length > 0 && { replaces: was }) } }
}

/** Expected records that are not published. */
const missingBlocks = ({ missing = [] }: PlanAnswer): Parts => [
  missing.length > 0 && heading(2, 'Not published yet', 'missing'),
  bullets(
    missing.map(({ name, type, value, reason }) => [
      code(`${name} ${type} ${value}`),
      ...(reason === undefined ? [] : [`: not known, ${reason}`]),
    ]),
  ),
]
