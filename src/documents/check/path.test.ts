import { describe, expect, it } from 'vitest'
import { manyLookups } from '../../../test/lab/documents.ts'
import type { CheckAnswer } from '../../answers/check.ts'
import type { PlanStep } from '../../answers/plan.ts'
import { formatMarkdown } from '../markdown/markdown.ts'
import type { Answer } from './answer.ts'
import { checkDocument } from './check-document.ts'
import { wayBlocks } from './path.ts'

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

/** Grade, score and title of each milestone, with its number. */
function shown(answer: Partial<Answer>): readonly string[] {
  const whole: Answer = { ...manyLookups, findings: [], score: 75, grade: 'C', plan, ...answer }
  return wayBlocks(whole).flatMap((block) =>
    block.kind === 'path'
      ? [
          `${block.path.start.grade} ${block.path.start.score}`,
          ...block.path.steps.map(({ id, title, note, grade, score }) => `${id} ${title} (${note}) ${grade} ${score}`),
        ]
      : [],
  )
}

it('a check: the steps of the plan', () => {
  expect(shown({})).toEqual([
    'C 75',
    'step-1 PTR (in your DNS) B 82',
    'step-2 Later (later, in your DNS) B 95',
    'step-3 More (optional) B 100',
  ])
})

it('a listing that leaves many points does not better a grade that findings hold down', () => {
  expect(shown({ score: 100, grade: 'B', report_score: 99, report_grade: 'B' })[0]).toBe('B 99')
})

it('a step that waits says for what in one line; what to do until then and the evidence are in the step', () => {
  const wait = 'At least a month in which all mail passes: correct SPF first. Of 90 messages 3 would be lost.'
  const blocks = wayBlocks({
    ...manyLookups,
    findings: [],
    plan: { ...plan, steps: [step('Later', 95, 'B', { wait })] },
  })
  const [path] = blocks.flatMap((one) => (one.kind === 'path' ? one.path.steps : []))
  expect(path?.why).toBe('First: at least a month in which all mail passes')
  expect(path?.blocks).toEqual([{ kind: 'text', line: ['Correct SPF first. Of 90 messages 3 would be lost.'] }])
})

it('what the domain could be for besides is shown with its own steps', () => {
  const end = plan.end
  const options = [
    { title: 'No', steps: STEPS, end },
    { title: 'Yes', steps: [step('MX', 90, 'A')], end: { ...end, score: 90, grade: 'A' as const } },
  ]
  const blocks = wayBlocks({
    ...manyLookups,
    findings: [],
    plan: { ...plan, choice: { question: 'Has it mail?', options } },
  })
  const text = formatMarkdown({ title: '', blocks, footer: [] })
  expect(text).toMatch(
    /\*\*Has it mail\?\*\* These steps are for "No"\.[\s\S]*### Yes – instead to A \(90\)[\s\S]*MX → A 90/,
  )
})

it.each([
  ['a step mends it', 'high', [1], ''],
  ['of high severity', 'high', undefined, 'What to do|✕ Broken A fault: Ask for it.'],
  ['of medium severity', 'medium', undefined, 'What to do|! Weak A fault: Ask for it.'],
  ['of low severity: its row says it', 'low', undefined, ''],
] as const)('a finding %s', (_, severity, steps, told) => {
  const finding = {
    id: 'spf.a',
    severity,
    title: 'A fault',
    detail: '',
    reference: '',
    ...(steps && { steps: [...steps] }),
  }
  const left = [{ finding: 'spf.a', why: 'Ask for it.' }]
  const answer = { ...manyLookups, findings: [finding], plan: { ...plan, steps: [], left } }
  const text = formatMarkdown({ title: '', blocks: wayBlocks(answer), footer: [] })
  const lines = text.split('\n').filter((line) => /^(?:#|-(?!-))/.test(line))
  expect(lines.map((line) => line.replace(/^(?:#+|-) /, '').replaceAll('\\', '')).join('|')).toBe(told)
})

describe('a finding that a step mends leads to that step, in place of a record of its own', () => {
  const fix = {
    type: 'dns' as const,
    action: 'replace' as const,
    name: 'a.example',
    rtype: 'TXT',
    value: 'v=spf1 mx ~all',
  }
  const record = { action: 'replace' as const, name: 'a.example', type: 'TXT', ttl: 3_600, value: fix.value, was: [] }
  const [one] = manyLookups.findings
  const told = (about: Partial<PlanStep>, over: Partial<Answer> = {}): string => {
    const findings = [
      { ...one!, id: 'spf.a', severity: 'high' as const, title: 'A fault', repair: 'Publish it.', fix, steps: [2] },
    ]
    const steps = [step('PTR', 82, 'B'), step('SPF', 95, 'B', { records: [record], ...about })]
    const answer: Answer = { ...manyLookups, score: 75, findings, plan: { ...plan, steps }, ...over }
    return formatMarkdown(checkDocument(answer, '1.0.0'))
  }
  it('its record stands once', () => {
    const text = told({ findings: ['spf.a'] })
    expect(text).toContain('**What to do:** step 2.')
    expect(text.split('to publish at').length - 1).toBe(1)
    expect(text.split(fix.value).length - 1).toBe(1)
  })
})
