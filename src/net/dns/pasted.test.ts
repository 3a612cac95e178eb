import { expect, it } from 'vitest'
import { unpasted } from './pasted.ts'

it.each<[string, string, RegExp, string]>([
  ['nothing before it', 'v=spf1 mx -all', /v=spf1/, 'v=spf1 mx -all'],
  ['a line of a zone file', 'a.com. 3600 IN TXT "v=spf1 mx -all"', /v=spf1/, 'v=spf1 mx -all'],
  ['the strings of a zone file', 'x IN TXT ("v=spf1 mx " "-all")', /v=spf1/, 'v=spf1 mx -all'],
  ['a comment behind it', '_dmarc IN TXT "v=DMARC1; p=none" ; was reject', /v=DMARC1/, 'v=DMARC1; p=none'],
  ['a label', 'SPF: v=spf1 mx -all', /v=spf1/, 'v=spf1 mx -all'],
  ['a letter too many', 'nv=DMARC1; p=none', /v=DMARC1/, 'v=DMARC1; p=none'],
  ['brackets', '(v=spf1 mx -all)', /v=spf1/, 'v=spf1 mx -all'],
  ['quotation marks', '"v=STSv1; id=1;"', /v=STSv1/, 'v=STSv1; id=1;'],
  ['marks of code', '`v=DMARC1; p=none`', /v=DMARC1/, 'v=DMARC1; p=none'],
  ['marks of bold letters', '**v=DMARC1; p=none**', /v=DMARC1/, 'v=DMARC1; p=none'],
  ['prose', 'our record is v=spf1 mx -all, see the wiki', /v=spf1/, 'our record is v=spf1 mx -all, see the wiki'],
  ['another text', 'google-site-verification=abc', /v=spf1/, 'google-site-verification=abc'],
])('%s', (_why, text, marker, record) => expect(unpasted(text, marker)).toBe(record))

it('takes linear time', () => {
  const text = `${'"'.repeat(300)}${' '.repeat(60_000)}v=spf1`
  expect(unpasted(text, /v=spf1/)).toBe(text)
})
