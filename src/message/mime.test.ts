import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseMime, quotedPrintable } from './mime.ts'
import { parseMail } from './parse.ts'

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
])('%j is %j', (encoded, text) => expect(quotedPrintable(encoded)).toBe(text))

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
      expect(quotedPrintable(text)).toBe(byRules(text))
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
