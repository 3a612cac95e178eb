import fc from 'fast-check'
import { expect, it } from 'vitest'
import { contentOf, parseMime, parseParameters, quotedPrintable, withoutComments } from './mime.ts'
import { parseMail } from './parse.ts'

const decoded = (text: string): string => quotedPrintable(Buffer.from(text, 'latin1')).toString('latin1')

it.each<[encoded: string, text: string]>([
  ['a=3Db=C3=bc', 'a=b\u00c3\u00bc'],
  ['soft=\r\n break', 'soft break'],
  ['soft= \t\r\nbreak', 'softbreak'],
  ['end  \t\r\nnext', 'end\r\nnext'],
  ['kept=20\r\n', 'kept \r\n'],
  ['= 3D =G1 =4 =', '= 3D =G1 =4 ='],
  ['a \t b', 'a \t b'],
  ['=', '='],
  ['==41', '=A'],
  ['', ''],
])('%j is %j', (encoded, text) => expect(decoded(encoded)).toBe(text))

/** The rules as two replacements, which are slow. */
const byRules = (text: string): string =>
  text
    .replace(/(?<![ \t])[ \t]+(?=\r\n)/g, '')
    .replace(/=(?:\r\n|([0-9A-Fa-f]{2}))/g, (_, hex: string | undefined) =>
      hex === undefined ? '' : String.fromCharCode(Number.parseInt(hex, 16)),
    )

it('any text', () => {
  const piece = fc.constantFrom('=', ' ', '\t', '\r', '\n', '\r\n', '3', 'D', 'g', '\u00ff', '=41')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      expect(decoded(text)).toBe(byRules(text))
    }),
    { numRuns: 20_000 },
  )
})

it.each<[lines: number, faults: readonly string[]]>([
  [19_999, ['not_closed']],
  [20_000, ['too_many']],
])('of %d lines that only begin like a boundary, no more than 20,000 are looked at', (lines, faults) => {
  const text = `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n${'--bc\r\n'.repeat(lines)}`
  const { fields, body } = parseMail(Buffer.from(text))
  expect(parseMime(fields, body).faults).toEqual(faults)
})

it.each<[text: string, value: string, parameters: Record<string, string>]>([
  ['Text/Plain; Charset=UTF-8', 'text/plain', { charset: 'UTF-8' }],
  ['a/b; n="x; y\\"z"; m = 1', 'a/b', { n: 'x; y"z', m: '1' }],
  ['a/b (a comment);n=1;;m=2;', 'a/b', { n: '1', m: '2' }],
  ['a/b; n="not closed; m=2', 'a/b', { n: '"not', m: '2' }],
  ['a/b; n*0=one; n*1="two"; n*2=3', 'a/b', { n: 'onetwo3' }], // RFC 2231 §3
  ['a/b; n*1=two; n*0=one', 'a/b', { n: 'onetwo' }],
  ["a/b; n*=utf-8'en'a%C3%A4%20b", 'a/b', { n: 'aä b' }], // §4
  ["a/b; n*=iso-8859-1''a%E4", 'a/b', { n: 'aä' }],
  ["a/b; n*0*=iso-8859-1''a%E4; n*1=%E4; n*2*=%E4", 'a/b', { n: 'aä%E4ä' }],
  ["a/b; n*=utf-8''%zz%", 'a/b', { n: '%zz%' }],
  ['a/b; n', 'a/b', {}],
  ['', '', {}],
])('the parameters of %s', (text, value, parameters) => {
  const got = parseParameters(text)
  expect([got.value, Object.fromEntries(got.parameters)]).toEqual([value, parameters])
})

it.each(['; a="', '; a="\\"', ';a', '; ', ';a*99=', ';a*0*=%', '(', '("', 'a('])(
  '200,000 of %s are read once',
  (text) => {
    parseParameters(text.repeat(200_000))
    expect(withoutComments(text.repeat(200_000)).length).toBeLessThanOrEqual(text.length * 200_000)
  },
)

/** The number of octets that a search in a body passes, by the places where it begins and ends. */
function searching(body: Buffer): { readonly body: Buffer; readonly passed: () => number } {
  let passed = 0
  const search = (from: Buffer): Buffer =>
    new Proxy(from, {
      get(target, name) {
        const member = Reflect.get(target, name) as unknown
        if (name === 'indexOf')
          return (what: Buffer, at = 0): number => {
            const found = target.indexOf(what, at)
            passed += (found < 0 ? target.length : found) - at
            return found
          }
        if (name === 'subarray') return (a?: number, b?: number): Buffer => search(target.subarray(a, b))
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  return { body: search(body), passed: () => passed }
}

it('a part is searched for its own boundary, and not what is behind it', () => {
  const part = (i: number): string => `--o\r\nContent-Type: multipart/mixed; boundary=b${i}\r\n\r\nx\r\n`
  const text = [...Array(900).keys()].map(part).join('')
  const { fields } = parseMail(Buffer.from('Content-Type: multipart/mixed; boundary=o\r\n\r\n'))
  const { body, passed } = searching(Buffer.from(text))
  expect(parseMime(fields, body).faults).toEqual(['boundary_missing', 'not_closed'])
  expect(passed()).toBeLessThan(4 * text.length)
})

it.each<[encoding: string, encoded: string, octets: string]>([
  ['base64', 'YWJj\r\nZGVm\r\n', 'abcdef'],
  ['base64', 'not base64!', Buffer.from('not base64!', 'base64').toString('latin1')],
  ['quoted-printable', 'a=41=\r\nb', 'aAb'],
  ['8bit', 'a\u00e4', 'a\u00e4'],
  ['7bit', 'abc', 'abc'],
])('the content of %s', (encoding, encoded, octets) => {
  const body = Buffer.from(`x${encoded}y`, 'latin1')
  expect(contentOf(body, { start: 1, end: body.length - 1, encoding }).toString('latin1')).toBe(octets)
})

const FIELDS = 'A: b\r\n'.repeat(2_000)
it.each<[name: string, text: string, fields: number, stray: number, cut: boolean, body: string]>([
  ['fields', 'A: b\r\nB: c\r\n d\r\n\r\nx', 2, 0, false, 'x'],
  ['the last field without a line end', 'A: b\r\nB: c', 2, 0, false, ''],
  ['no body', 'A: b\r\n\r\n', 1, 0, false, ''],
  ['lines that are no fields', ' a\r\nb\r\n c\r\nA: b\r\n\r\nx', 1, 2, false, 'x'],
  ['as many fields as are read', `${FIELDS}\r\nx`, 2_000, 0, false, 'x'],
  ['one more', `${FIELDS}B: c\r\n\r\nx`, 2_000, 0, true, 'x'],
  ['a continuation line of the last one', `${FIELDS} b\r\n\r\nx`, 2_000, 0, false, 'x'],
  ['two million lines', `${'a\r\n'.repeat(2_000_000)}\r\nx`, 0, 2_000, true, 'x'],
  ['two million lines of nothing', ` \r\n`.repeat(2_000_000), 0, 2_000, true, ''],
])('the header section: %s', (_, text, fields, stray, cut, body) => {
  const mail = parseMail(Buffer.from(text))
  expect([mail.fields.length, mail.strayLines, mail.cut, mail.body.toString()]).toEqual([fields, stray, cut, body])
})
