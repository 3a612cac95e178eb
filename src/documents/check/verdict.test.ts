import { expect, it } from 'vitest'
import { manyLookups } from '../../../test/lab/documents.ts'
import type { CheckAnswer } from '../../answers/check.ts'
import { htmlBody } from '../html/html.ts'
import { checkDocument } from './check-document.ts'

const told = (severity: 'medium' | 'high' | 'critical'): CheckAnswer['findings'] => [
  { id: 'mta_sts.mx_tls', severity, title: 'A title', detail: 'A detail.', reference: 'RFC 8461 §4.2' },
]
const bare: CheckAnswer = { ...manyLookups, findings: [], score_breakdown: [] }
const page = (more: Partial<CheckAnswer>): string => htmlBody(checkDocument({ ...bare, ...more }, '1.0.0'))

it.each([
  [92, 'A', told('high'), 'warn', 'Mostly good, but'],
  [80, 'B', told('critical'), 'warn', 'Mostly good, but'],
  [92, 'A', told('medium'), 'good', 'Good, with'],
  [45, 'F', told('high'), 'bad', 'Needs repair: most'],
] as const)('a score of %i (%s) looks no better than the gravest finding', (score, grade, findings, look, words) => {
  const shown = page({ score, grade, findings })
  expect(shown).toContain(`class="score ${look}"`)
  expect(shown).toContain(words)
})

it.each([
  ['sends_only', false],
  ['sends_and_accepts_mail', true],
] as const)('MX of a domain in the role %s has points: %s', (name, hasPoints) => {
  const shown = page({ domain_role: { name, because: 'a test' }, mx_status: 'warn' })
  const bar = /<a href="#mx".*?<a href="#ptr"/s.exec(shown)?.[0] ?? ''
  expect(/\b15\b/.test(bar) && !bar.includes('Does not apply'), bar).toBe(hasPoints)
})

it('says why the grade is below its points', () => {
  const because = { finding: 'mta_sts.mx_tls', severity: 'high' } as const
  const shown = page({ score: 96, grade: 'B', grade_because: because, findings: told('high') })
  expect(shown).toContain('B and not A: <a href="#mta_sts">A title</a>.')
  expect(page({})).not.toContain('and not')
})

it('a domain that does not exist has no checks', () => {
  const shown = page({ score: 0, grade: 'F', domain_role: { name: 'no_such_domain', because: 'NXDOMAIN' } })
  expect(shown).toContain('The domain does not exist, so no mail can reach it.')
  expect(shown).not.toMatch(/id="(?:checks|spf|score)"|class="bars"/)
})

it.each([
  ['unknown', [], 'Good as far as it could be determined.'],
  ['unknown', told('medium'), 'Sound, but with gaps worth closing.'],
  ['deduction', [], 'Sound, but with gaps worth closing.'],
] as const)('points that are missing for a row of kind %s', (kind, findings, words) => {
  const rows = [{ component: 'dmarc', points: 15, kind, finding: null }] as const
  const range = { complete: false, score_min: 70, score_max: 100 }
  const shown = page({ score: 85, grade: 'B', score_breakdown: rows, findings, ...range })
  expect(shown).toContain(words)
  expect(shown).toContain('the score is between 70 and 100')
})

it('the bar of a component shows what is left of its points', () => {
  const rows = [
    { component: 'dmarc', points: 9, kind: 'deduction', finding: null },
    { component: 'spf', points: 4, kind: 'deduction', finding: null },
  ] as const
  const shown = page({ score: 87, grade: 'B', score_breakdown: [...rows] })
  const barOf = (name: string) =>
    /<span class="of">(.*?)<\/span>/.exec(shown.slice(shown.indexOf(`<a href="#${name}"`)))?.[1]
  expect([barOf('dmarc'), barOf('spf'), barOf('dkim')]).toEqual(['21 / 30', '21 / 25', '20 / 20'])
})
