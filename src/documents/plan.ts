import type { PlanAnswer, PlanStep } from '../answers/plan.ts'
import { earnedGrade } from '../answers/weights.ts'
import { counted } from '../base/text.ts'
import { type Block, type Conclusion, code, type Document, heading, type Line, quiet, text } from './block.ts'
import { footerOf } from './words.ts'

/**
 * The plan of a domain: the way to the best score in one picture, then each step with its records. `version` is the
 * program's.
 */
export function planDocument(plan: PlanAnswer, version: string): Document {
  const { domain, left, observed_at, setup } = plan
  return {
    title: `Plan: ${domain}`,
    blocks: [
      { kind: 'conclusion', conclusion: { subject: domain, ...concluded(plan), notes: notesOf(plan) } },
      ...pathBlocks(plan),
      ...missingBlocks(plan),
      ...(left.length === 0
        ? []
        : [
            heading(2, 'What no record repairs', 'left'),
            { kind: 'list', items: left.map(({ finding, why }): Line => [code(finding), `: ${why}`]) } as const,
          ]),
      ...(setup && setup.sources.length > 0 ? [quiet(`Sources: ${setup.sources.join('; ')}.`)] : []),
    ],
    footer: footerOf(version, observed_at),
  }
}

type Way = Pick<PlanAnswer, 'steps' | 'score' | 'grade' | 'end' | 'left' | 'choice' | 'organization'>

const graded = (score: number, grade: string | null): string =>
  grade === null ? `${score}, no grade` : `${grade} (${score})`

function concluded({ steps, score, grade, end, left }: Way): Pick<Conclusion, 'mark' | 'badge' | 'words'> {
  const needed = steps.filter(({ optional }) => !optional)
  if (needed.length > 0)
    return {
      mark: 'warn',
      badge: counted(needed.length, 'step'),
      words: `${counted(needed.length, 'step')} ${needed.length === 1 ? 'leads' : 'lead'} from ${graded(score, grade)} to ${graded(end.score, end.grade)}.`,
    }
  if (left.some(({ finding }) => !finding.includes('.')))
    return {
      mark: 'open',
      badge: 'Not known',
      words: 'Too little is known about the domain for a plan: the reasons are below.',
    }
  return left.length > 0
    ? {
        mark: 'warn',
        badge: 'No record helps',
        words: `No record improves ${graded(score, grade)}; what is left is below.`,
      }
    : { mark: 'good', badge: 'Nothing to do', words: `Nothing needs to be published: ${graded(score, grade)}.` }
}

function notesOf({ expected, published, steps }: PlanAnswer): Line[] {
  return [
    ...(expected === undefined ? [] : [[`${published ?? 0} of ${expected} expected records are published.`]]),
    ...(steps.some(({ assumed }) => assumed)
      ? [
          [
            'Each score is measured with the records of the step and all before it; what others have to do is assumed to be done.',
          ],
        ]
      : steps.length > 0
        ? [['Each score is measured with the records of the step and all before it.']]
        : []),
  ]
}

/** The way, each step with its records; nothing if there is no step. What else the domain could be for is a row. */
export const pathBlocks = ({ choice, organization, ...way }: Omit<Way, 'left'>): Block[] => [
  ...(choice ? [text({ strong: `${choice.question} ` }, `${choice.options[0]?.title ?? ''}.`)] : []),
  ...wayBlocks(way, 'step'),
  ...(choice?.options.slice(1) ?? []).map(
    (option, i): Block => ({
      kind: 'group',
      look: 'row',
      blocks: [
        {
          kind: 'heading',
          level: 3,
          line: [
            option.title,
            ' ',
            { mark: 'none', text: 'instead' },
            ` to ${graded(option.end.score, option.end.grade)}`,
          ],
        },
        ...wayBlocks({ ...way, ...option }, `option-${i + 2}-step`),
      ],
    }),
  ),
  ...(organization
    ? [
        quiet(
          'The DMARC record of ',
          code(organization.domain),
          ' governs this name; its own plan is at ',
          code(organization.plan),
          '.',
        ),
      ]
    : []),
]

/** The steps; their ids begin with `prefix`. */
const wayBlocks = (
  { score, grade, steps, end }: Pick<Way, 'score' | 'grade' | 'steps' | 'end'>,
  prefix: string,
): Block[] =>
  steps.length === 0
    ? []
    : [
        {
          kind: 'path',
          path: {
            label: end.grade === null || end.grade === grade ? 'What the records gain' : `The path to ${end.grade}`,
            start: { score, ...(grade !== null && { grade }) },
            steps: steps.map((step, i) => ({
              id: `${prefix}-${i + 1}`,
              title: step.title,
              score: step.score,
              ...(step.grade !== null && { grade: step.grade }),
              stage: step.optional ? 'optional' : step.wait ? 'later' : 'now',
              note: noteOf(step),
              why: step.wait !== undefined && step.wait !== '' ? `First: ${step.wait}` : step.why,
              blocks: blocksOf(step),
            })),
          },
        },
        ...(end.grade_because && end.grade !== null
          ? [
              quiet(
                `It ends at ${end.grade} and not at ${earnedGrade(end.score)}: `,
                code(end.grade_because.finding),
                '.',
              ),
            ]
          : []),
      ]

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

const blocksOf = ({ why, before, wait, instructions, file, records, findings, by }: PlanStep): Block[] => [
  ...before.map((one) => text({ strong: 'First: ' }, one)),
  ...(wait === undefined || why === '' ? [] : [text(why)]),
  ...(instructions === undefined ? [] : [text({ strong: by === 'dns' ? 'Note: ' : 'What to do: ' }, instructions)]),
  ...(file ? [{ kind: 'seen', label: `File at ${file.url}`, text: file.text.trim().split('\n') } as const] : []),
  ...records.flatMap((record): Block[] => recordBlocks(record)),
  ...(findings.length === 0
    ? []
    : [quiet('Resolves ', ...findings.flatMap((id, i) => [i === 0 ? '' : ', ', code(id)]), '.')]),
]

function recordBlocks({ action, name, type, value, was }: PlanStep['records'][number]): Block[] {
  if (action === 'remove') return [{ kind: 'seen', label: `Remove this ${type} record at ${name}`, text: value }]
  if (action === 'keep') return [quiet('Stays at ', code(`${name} ${type}`), ': ', code(value))]
  return [{ kind: 'publish', record: { name, rtype: type, value, ...(was.length > 0 && { replaces: was }) } }]
}

/** Expected records that are not published. */
const missingBlocks = ({ missing = [] }: PlanAnswer): Block[] =>
  missing.length === 0
    ? []
    : [
        heading(2, 'Not published yet', 'missing'),
        {
          kind: 'list',
          items: missing.map(
            ({ name, type, value, reason }): Line => [
              code(`${name} ${type} ${value}`),
              ...(reason === undefined ? [] : [`: not known, ${reason}`]),
            ],
          ),
        },
      ]
