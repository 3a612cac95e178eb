import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mend } from './mend.ts'
import { formatSpf } from './terms.ts'

const read = (text: string): string => {
  const found = mend(text)
  if (!found.ok) return found.problem.text
  return [found.value.slips.join(' '), ...found.value.records.map(formatSpf)].filter((part) => part !== '').join(' | ')
}

describe('what people publish', () => {
  it.each<[string, string]>([
    ['v=spf1 mx -all', 'v=spf1 mx -all'],
    ['V=SPF1  include:b.example   ~ALL  ', 'v=spf1 include:b.example ~all'],
    ['v=spf1', 'v=spf1'],
    // white space
    [' v=spf1 mx -all', 'leading_space | v=spf1 mx -all'],
    ['v=spf1\tmx -all', 'white_space | v=spf1 mx -all'],
    ['v=spf1 ip4:192.0.2.1\tip4:192.0.2.2 -all', 'white_space | v=spf1 ip4:192.0.2.1 ip4:192.0.2.2 -all'],
    ['v=spf1 mx\r\n-all', 'white_space | v=spf1 mx -all'],
    ['v=spf1 mx\u00a0-all', 'no_break_space | v=spf1 mx -all'],
    ['\u00a0v=spf1 mx -all', 'no_break_space leading_space | v=spf1 mx -all'],
    ['\ufeffv=spf1 m\u200bx -all', 'invisible | v=spf1 mx -all'],
    // quotes
    ['"v=spf1 mx -all"', 'quotes | v=spf1 mx -all'],
    ['\\"v=spf1 mx -all\\"', 'quotes | v=spf1 mx -all'],
    ['“v=spf1 mx -all”', 'quotes | v=spf1 mx -all'],
    ["'v=spf1 mx -all'", 'quotes | v=spf1 mx -all'],
    ['"v=spf1 mx" "include:b.example -all"', 'quotes | v=spf1 mx include:b.example -all'],
    // dashes
    ['v=spf1 mx –all', 'dash | v=spf1 mx -all'],
    ['v=spf1 mx \u02dcall', 'dash | v=spf1 mx ~all'],
    // the version
    ['v=spf1; mx -all', 'version | v=spf1 mx -all'],
    ['v = spf1 mx -all', 'version | v=spf1 mx -all'],
    ['spf1 mx -all', 'version | v=spf1 mx -all'],
    ['v=spf1include:b.example -all', 'version | v=spf1 include:b.example -all'],
    ['v=spf1-all', 'version | v=spf1 -all'],
    // two records
    ['v=spf1 mx -all v=spf1 a ~all', 'two_records | v=spf1 mx -all | v=spf1 a ~all'],
    ['v=spf1 mx -allv=spf1 a ~all', 'two_records | v=spf1 mx -all | v=spf1 a ~all'],
    // terms that run together
    ['v=spf1 include:_spf.b.example-all', 'joined | v=spf1 include:_spf.b.example -all'],
    ['v=spf1 include:_spf.b.example~all', 'joined | v=spf1 include:_spf.b.example ~all'],
    ['v=spf1 a:b.example?all', 'joined | v=spf1 a:b.example ?all'],
    ['v=spf1 mx-all', 'joined | v=spf1 mx -all'],
    ['v=spf1 ip4:192.0.2.1ip4:192.0.2.2 -all', 'joined | v=spf1 ip4:192.0.2.1 ip4:192.0.2.2 -all'],
    ['v=spf1 include:b.exampleinclude:c.example -all', 'joined | v=spf1 include:b.example include:c.example -all'],
    ['v=spf1 mxip6:2001:db8::1 -all', 'joined | v=spf1 mx ip6:2001:db8::1 -all'],
    // terms that are read as something else
    ['v=spf1 include=b.example -ip4=192.0.2.1 -all', 'equals | v=spf1 include:b.example -ip4:192.0.2.1 -all'],
    ['v=spf1 include:https://b.example/ -all', 'odd_name | v=spf1 include:b.example -all'],
    ['v=spf1 include:@b.example -all', 'odd_name | v=spf1 include:b.example -all'],
    ['v=spf1 a:joe@b.example -all', 'odd_name | v=spf1 a:b.example -all'],
    ['v=spf1ainclude:b.example;c.example', 'version joined odd_name | v=spf1 a include:b.example include:c.example'],
    ['v=spf1 include:b.example,c.example -all', 'odd_name | v=spf1 include:b.example include:c.example -all'],
    ['v=spf1 ip4:192.0.2.1,192.0.2.2 -all', 'odd_name | v=spf1 ip4:192.0.2.1 ip4:192.0.2.2 -all'],
    [
      'v=spf1 include:b.example-all;c.example~all',
      'joined odd_name | v=spf1 include:b.example -all include:c.example ~all',
    ],
    ['v=spf1;include:b.example;-all', 'version separators | v=spf1 include:b.example -all'],
    ['v=spf1, mx,a, -all', 'version separators | v=spf1 mx a -all'],
    // terms that are torn apart
    ['v=spf1 include: b.example ~all', 'split | v=spf1 include:b.example ~all'],
    [
      'v=spf1 include _spf.b.example ip4 192.0.2.1 mx ~all',
      'split | v=spf1 include:_spf.b.example ip4:192.0.2.1 mx ~all',
    ],
    ['v=spf1 mx - all', 'split | v=spf1 mx -all'],
    ['v=spf1 redirect= b.example', 'split | v=spf1 redirect=b.example'],
    ['v=spf1 mx x= y= -all', 'v=spf1 mx -all x= y='],
    // spelling
    ['v=spf1 mx; -all.', 'spelling | v=spf1 mx -all'],
    [
      'v=spf1 ipv4:192.0.2.1 a:192.0.2.2 ip4:2001:db8::1, -all',
      'spelling | v=spf1 ip4:192.0.2.1 ip4:192.0.2.2 ip6:2001:db8::1 -all',
    ],
    ['v=spf1 198.51.100.0/24 includes:b.example -all', 'spelling | v=spf1 ip4:198.51.100.0/24 include:b.example -all'],
    ['v=spf1 mx redirect:b.example', 'spelling | v=spf1 mx redirect=b.example'],
  ])('%j', (text, expected) => expect(read(text)).toBe(expected))

  it.each([
    ['v=spf10 mx -all', 'the text does not begin like an SPF record'],
    ['spf2.0/pra mx -all', 'the text does not begin like an SPF record'],
    ['google-site-verification=v=spf1', 'the text does not begin like an SPF record'],
    ['v=spf1 foo:bar -all', 'a term cannot be read'],
    ['v=spf1 ip4:192.0.2.300 -all', 'a term cannot be read'],
    ['v=spf1 include:', 'a term cannot be read'],
    [`v=spf1 ${'a '.repeat(5_000)}`, 'the text is longer than 8192 characters'],
  ])('not mended: %j', (text, problem) => expect(read(text)).toBe(problem))

  it.each([
    'include:spf-all.b.example',
    'include:all.b.example',
    'a:ip4.b.example',
    'exists:%{i}.all',
    'include:x-all.b.example',
  ])('one term: %s', (term) => expect(read(`v=spf1 ${term}`)).toBe(`v=spf1 ${term}`))

  it('what it mends has no slips, whatever comes in', () => {
    const piece = fc.constantFrom(
      ...[
        'v=spf1',
        'mx',
        'a',
        ' ',
        ' ',
        '\t',
        '\u00a0',
        '"',
        '-all',
        '~all',
        'include:',
        'b.example',
        'ip4:192.0.2.1',
        ';',
        '+',
        '–',
        ':',
        'redirect=',
      ],
    )
    const text = fc.array(piece, { maxLength: 14 }).map((parts) => ['v=spf1', ...parts].join(''))
    fc.assert(
      fc.property(text, (published) => {
        const found = mend(published)
        if (!found.ok) return
        for (const record of found.value.records) {
          const again = mend(formatSpf(record))
          expect(again).toEqual({ ok: true, value: { records: [record], slips: [] } })
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
