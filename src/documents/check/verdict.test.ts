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

it.each([
  ['unknown', [], 'Good as far as it could be determined.', 'DMARC</a> −15 (not determined: half).'],
  ['unknown', told('medium'), 'Sound, but with gaps worth closing.', 'DMARC</a> −15 (not determined: half).'],
  ['deduction', [], 'Sound, but with gaps worth closing.', 'DMARC</a> −15.'],
] as const)('points that are missing for a row of kind %s', (kind, findings, words, lost) => {
  const rows = [{ component: 'dmarc', points: 15, kind, finding: null }] as const
  const range = { complete: false, score_min: 70, score_max: 100 }
  const shown = page({ score: 85, grade: 'B', score_breakdown: rows, findings, ...range })
  expect(shown).toContain(words)
  expect(shown).toContain(lost)
})

it.each([
  [true, 'To fix', ['first', 'optional']],
  [false, 'Also to repair', ['steps', 'first', 'optional']],
] as const)(
  'what is to be repaired stands before what is optional; all steps optional: %s',
  (isOptional, title, order) => {
    const step = { title: 'A step', findings: [], records: [], by: 'dns', score: 80, grade: 'B' } as const
    const steps = [...(isOptional ? [] : [step]), { ...step, optional: true as const }]
    const plan = { score: 80, grade: 'B', steps, end: { score: 80, grade: 'B' }, left: [] } as const
    const shown = page({ score: 80, grade: 'B', findings: told('high'), plan })
    expect(shown).toContain(`${title}</h2>`)
    expect([...shown.matchAll(/<h2 id="(steps|first|optional)"/g)].map(([, id]) => id)).toEqual(order)
  },
)
