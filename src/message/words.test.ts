import { expect, it } from 'vitest'
import { decodeWords } from './words.ts'

it.each<[text: string, decoded: string]>([
  ['plain', 'plain'],
  ['=?utf-8?q?a=C3=A4_b?=', 'aä b'],
  ['=?UTF-8?B?w6Q=?=', 'ä'],
  ['=?iso-8859-1?q?=E4?= x', 'ä x'],
  ['=?utf-8?q?a?= =?utf-8?q?b?=', 'ab'], // RFC 2047 §6.2: white space between words goes
  ['=?utf-8?q?a?=\r\n =?iso-8859-1?q?=E4?=', 'aä'],
  ['=?utf-8?q?a?= and =?utf-8?q?b?=', 'a and b'],
  ['=?utf-8?q?=C3?= =?utf-8?q?=A4?=', 'ä'], // a character cut in two
  ['=?utf-8?b?w6Q=?==?utf-8?b?w6Q=?=', 'ää'],
  ['=?utf-8*en?q?a?=', 'a'], // RFC 2231 §5
  ['=?cp932?b?k/qWew==?=', '日本'],
  ['=?gb2312?b?1tDOxA==?=', '中文'],
  ['=?x-nobody?q?=E4?=', 'ä'],
  ['=?utf-8?q?a=?=', 'a='],
  ['=?utf-8?q?=zz?=', '=zz'],
  ['=?utf-8?x?a?=', '=?x?x?a?='.replace('?x?x', '?utf-8?x')],
  ['=?utf-8?q?not closed', '=?utf-8?q?not closed'],
])('%j is %j', (text, decoded) => expect(decodeWords(text)).toBe(decoded))

it.each(['=?x?q?', '=?x?q?a', '=?', '=?x?q?a?= ', ' ', '=?a'])('300,000 of %j are read once', (text) => {
  expect(decodeWords(text.repeat(300_000)).length).toBeGreaterThan(0)
})
