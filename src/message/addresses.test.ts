import { describe, expect, it } from 'vitest'
import { corpus } from '../../test/lab/corpora.ts'
import { parseAddresses } from './addresses.ts'
import { authorOf, parseMail } from './parse.ts'

const shown = (text: string): string[] =>
  parseAddresses(text, 20).map(({ name, address }) => (name === '' ? address : `${name} <${address}>`))

describe('the mailboxes of an address list', () => {
  it.each<[text: string, mailboxes: string[]]>([
    ['joe@a.example', ['joe@a.example']],
    ['Joe Q. Public <joe@a.example>', ['Joe Q. Public <joe@a.example>']], // RFC 5322 §4.1: a dot in a phrase
    ['"Public, Joe" <joe@a.example>, eve@b.example', ['Public, Joe <joe@a.example>', 'eve@b.example']],
    ['"a \\"b\\" c" <joe@a.example>', ['a "b" c <joe@a.example>']],
    ['joe@a.example (Joe (Q.) Public)', ['Joe (Q.) Public <joe@a.example>']], // a comment as the name
    ['(a, b) joe@a.example', ['a, b <joe@a.example>']],
    [
      'Friends: joe@a.example, Eve <eve@b.example>;, bob@c.example',
      ['joe@a.example', 'Eve <eve@b.example>', 'bob@c.example'],
    ],
    ['Undisclosed recipients:;', []],
    ['Mail From:<joe@a.example>', ['joe@a.example']],
    ['<@b.example,@c.example:joe@a.example>', ['joe@a.example']], // §4.4: a route
    ['<joe @ a.example>', ['joe@a.example']],
    ['joe@a.example; eve@b.example', ['joe@a.example', 'eve@b.example']],
    ['"joe doe"@a.example', ['"joe doe"@a.example']],
    ['<"joe>doe"@a.example>', ['"joe>doe"@a.example']],
    ['"eve@b.example" <joe@a.example>', ['eve@b.example <joe@a.example>']],
    ['"eve@b.example" joe@a.example', ['eve@b.example <joe@a.example>']],
    ['"eve@b.example"', []], // a quoted string alone is a name
    ['eve@b.example <joe@a.example>', ['eve@b.example <joe@a.example>']],
    ['Joe <joe@a.example', ['Joe <joe@a.example>']],
    ['Joe "the boss <joe@a.example>', ['Joe "the boss <joe@a.example>']],
    ['Joe (x <joe@a.example>', ['Joe (x <joe@a.example>']],
    ['Joe <> <joe@a.example> <eve@b.example>', ['Joe <joe@a.example>']],
    ['joe@[192.0.2.1]', ['joe@[192.0.2.1]']],
    ['Joe <joe@[IPv6:2001:db8::1]>, eve@b.example', ['Joe <joe@[IPv6:2001:db8::1]>', 'eve@b.example']],
    ["'joe@a.example'.", ['joe@a.example']],
    ['=?utf-8?q?J=C3=B6?= =?utf-8?q?rg?= <joe@a.example>', ['Jörg <joe@a.example>']],
    ['"=?utf-8?b?SsO2cmc=?=" <joe@a.example>', ['Jörg <joe@a.example>']], // forbidden and usual
    ['=?utf-8?q?eve=40b.example?=', []],
    ['=?utf-8?q?Eve_=3Ceve=40b.example=3E?= <joe@a.example>', ['Eve <eve@b.example> <joe@a.example>']],
    ['joe', []],
    ['', []],
    ['@', []],
    [', ,;:<>', []],
  ])('%s', (text, mailboxes) => expect(shown(text)).toEqual(mailboxes))

  it.each(['"', '(', '<', '@[', '\\"', 'a@b,', '<a@b>', 'a:', '(a)', '"a" ', '=?x?q?', '(('])(
    '300,000 of %s are read once',
    (text) => expect(parseAddresses(text.repeat(300_000), 20).length).toBeLessThanOrEqual(20),
  )
})

const rows: { header: string; domain: string }[] = corpus('dmarc/from-header.json')?.cases ?? []
describe.runIf(rows.length > 0)('the public From fields', () => {
  it.each(rows.map(({ header, domain }) => [header, domain]))('%s', (header, domain) => {
    const { mailboxes } = authorOf(parseMail(Buffer.from(`From: ${header}\r\n\r\n`)).fields)
    expect(mailboxes[0]?.address.split('@').at(-1)).toBe(domain)
  })
})
