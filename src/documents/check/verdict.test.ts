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

it('names where the points are lost, the most first', () => {
  const row = (component: 'spf' | 'dkim' | 'mx', points: number) =>
    ({ component, points, kind: 'deduction', finding: null }) as const
  const shown = page({ score: 78, grade: 'B', score_breakdown: [row('mx', 1.5), row('spf', 12), row('mx', 8.5)] })
  expect(shown).toContain('Points lost: <a href="#spf">SPF</a> −12, <a href="#mx">MX</a> −10.')
  expect(page({})).not.toContain('Points lost')
})

it('a domain that does not exist has no checks', () => {
  const shown = page({ score: 0, grade: 'F', domain_role: { name: 'no_such_domain', because: 'NXDOMAIN' } })
  expect(shown).toContain('The domain does not exist, so no mail can reach it.')
  expect(shown).not.toMatch(/id="(?:checks|spf|score)"|class="bars"/)
})
