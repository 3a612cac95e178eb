import { describe, expect, it } from 'vitest'
import { exampleOf } from '../../test/lab/answer.ts'
import { reportsPolicy } from '../operations/reports/policy.ts'
import { reportsShow } from '../operations/reports/show.ts'
import { formatMarkdown } from './markdown/markdown.ts'
import { percents, reportsDocument, reportsPolicyDocument } from './reports.ts'

it.each([
  ['unknown', 'open 1 sender is not judged yet'],
  ['authorized', 'good Nothing to do'],
] as const)('a sender that is %s, and no advice', (verdict, badge) => {
  const example = exampleOf(reportsShow)
  const sender = { id: 'a', name: 'A', verdict, messages: 9, passing: 0 }
  const { blocks } = reportsDocument({ ...example, advice: [], senders: [sender] }, '1')
  const [first] = blocks
  expect(first?.kind === 'conclusion' && `${first.conclusion.mark} ${first.conclusion.badge}`).toBe(badge)
})

it.each([
  [{ messages: 100, passing: 100, forwarded: 0, failing: 0 }, '100 % of the mail passes DMARC.'],
  [{ messages: 100, passing: 90, forwarded: 10, failing: 0 }, '90 % of the mail passes DMARC, 10 % was forwarded.'],
  [{ messages: 100, passing: 90, forwarded: 0, failing: 10 }, '90 % of the mail passes DMARC, 10 % fails.'],
])('%j: %s', (counts, words) =>
  expect(formatMarkdown(reportsDocument({ ...exampleOf(reportsShow), ...counts }, '1'))).toContain(words),
)

it.each([
  ['2026-11-23T09:00:00.000Z', true],
  [null, false],
])('the last report came in at %s', (at, isShown) => {
  const text = formatMarkdown(reportsDocument({ ...exampleOf(reportsShow), last_report_at: at }, '1'))
  expect(text.includes('Last report')).toBe(isShown)
})

it('of an unknown sender that a policy would affect and about which nothing is asked, too little is known', () => {
  const example = exampleOf(reportsPolicy)
  const [first] = example.affected
  const { to_do: _, ...rest } = first!
  const answer = { ...example, affected: [{ ...rest, verdict: 'unknown' as const }] }
  expect(formatMarkdown(reportsPolicyDocument(answer, '1'))).toContain('nothing yet: too little is known of it')
})

describe('shares of one whole that stand beside each other', () => {
  it.each([
    ['thirds', [1, 1, 1], ['34 %', '33 %', '33 %']],
    ['seventh parts', [3, 3, 1], ['43 %', '43 %', '14 %']],
    ['the largest remainders are raised', [664, 172, 164], ['67 %', '17 %', '16 %']],
    ['one part is all', [5, 0, 0], ['100 %', '0 %', '0 %']],
    ['nothing', [0, 0, 0], ['–', '–', '–']],
    ['a small part is never none', [999, 1, 0], ['99 %', '< 1 %', '0 %']],
    ['… nor a whole percent by its remainder', [980, 13, 7], ['98 %', '1 %', '< 1 %']],
  ])('%s: %j', (_, parts, shown) => expect(percents(parts)).toEqual(shown))
})
