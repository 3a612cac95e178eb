import { describe, expect, it } from 'vitest'
import { manyLookups } from '../../../test/lab/documents.ts'
import type { CheckAnswer } from '../../answers/check.ts'
import type { PlanStep } from '../../answers/plan.ts'
import { formatMarkdown } from '../markdown/markdown.ts'
import type { Answer } from './answer.ts'
import { checkDocument } from './check-document.ts'
import { optionalPlanBlocks, planBlocks, wayBlocks } from './path.ts'

const step = (title: string, score: number, grade: PlanStep['grade'], more: Partial<PlanStep> = {}): PlanStep => ({
  title,
  findings: [],
  records: [],
  by: 'dns',
  why: '',
  before: [],
  score,
  grade,
  grade_because: null,
  ...more,
})
const STEPS = [
  step('PTR', 82, 'B'),
  step('Later', 95, 'B', { wait: 'a month' }),
  step('More', 100, 'B', { optional: true }),
]
const plan: NonNullable<CheckAnswer['plan']> = {
  steps: STEPS,
  end: { score: 95, grade: 'B', grade_because: null },
  left: [],
}

/** Grade, score and title of each milestone, and the headings of the steps. */
function shown(answer: Partial<Answer>) {
  const whole: Answer = { ...manyLookups, score: 75, grade: 'C', plan, ...answer }
  const [way] = wayBlocks(whole)
  const milestones = way?.kind === 'path' ? [way.path.start, ...way.path.steps] : []
  return {
    way: milestones.map(({ grade, score }) => `${grade} ${score}`),
    steps: [...planBlocks(whole), ...optionalPlanBlocks(whole)].flatMap((block) =>
      block.kind === 'group' && block.blocks[0]?.kind === 'heading'
        ? [
            block.blocks[0].line
              .map((part) => (typeof part === 'object' && 'strong' in part ? part.strong : part))
              .join(''),
          ]
        : [],
    ),
  }
}

it('a check: the way and its steps have the same numbers', () => {
  expect(shown({})).toEqual({
    way: ['C 75', 'B 82', 'B 95', 'B 100'],
    steps: ['1. PTR → B (82)', '2. Later (later) → B (95)', '3. More (optional) → B (100)'],
  })
})

it('a report: listings cost the same until they are removed, before what has to wait; the way and its steps agree', () => {
  expect(shown({ report_score: 35 })).toEqual({
    way: ['F 35', 'F 42', 'B 82', 'B 95', 'B 100'],
    steps: [
      '1. PTR → F (42)',
      '2. Removal from the blacklists (by the owner of the address) → B (82)',
      '3. Later (later) → B (95)',
      '4. More (optional) → B (100)',
    ],
  })
})

it('a listing that leaves many points does not better a grade that findings hold down', () => {
  expect(shown({ score: 100, grade: 'B', report_score: 99 }).way[0]).toBe('B 99')
})

describe('a finding that a step repairs leads to that step, in place of a record of its own', () => {
  const fix = {
    type: 'dns' as const,
    action: 'replace' as const,
    name: 'a.example',
    rtype: 'TXT',
    value: 'v=spf1 mx ~all',
  }
  const record = { action: 'replace' as const, name: 'a.example', type: 'TXT', ttl: 3_600, value: fix.value, was: [] }
  const [one] = manyLookups.findings
  const told = (repair: string | undefined, about: Partial<PlanStep>, over: Partial<Answer> = {}): string => {
    const findings = [{ ...one!, id: 'spf.a', severity: 'high' as const, title: 'A fault', repair, fix }]
    const steps = [step('PTR', 82, 'B'), step('SPF', 95, 'B', { records: [record], ...about })]
    const answer: Answer = { ...manyLookups, score: 75, findings, plan: { ...plan, steps }, ...over }
    return formatMarkdown(checkDocument(answer, '1.0.0'))
  }
  it.each<[repair: string | undefined, words: string]>([
    ['Publish the record shown.', 'Publish the record in step 2.'],
    ['Publish the record shown here: the name sends no mail.', 'Publish the record in step 2: the name sends no mail.'],
    [
      'Replace the text with the record shown; if none is shown, ask.',
      'Replace the text with the record in step 2; if none is shown, ask.',
    ],
    ['Remove t=y from the record.', 'Remove t=y from the record. See step 2.'],
    [undefined, 'See step 2.'],
  ])('%s', (repair, words) => {
    const text = told(repair, { findings: ['spf.a'] })
    expect(text).toContain(`**What to do:** ${words}`)
    expect(text.split('to publish at').length - 1).toBe(1)
    expect(text.split(fix.value).length - 1).toBe(1)
  })

  it('also where the step has the very record, and resolves another finding', () =>
    expect(told('Publish the record shown.', { findings: ['spf.b'] })).toMatch(
      /## Also to repair[\s\S]*What to do:\*\* Publish the record in step 2\.[\s\S]*### SPF[\s\S]*What to do:\*\* Publish the record in step 2\./,
    ))

  it('in a report the number is that of the step after the removal from lists', () =>
    expect(told('Publish the record shown.', { findings: ['spf.a'], wait: 'a month' }, { report_score: 35 })).toContain(
      'Publish the record in step 3.',
    ))
})
