import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseZone } from './zone-text.ts'

const read = (text: string) => {
  const zone = parseZone(text, 'a.example')
  return zone.ok
    ? zone.value.records.map(({ name, type, data }) => `${name} ${type} ${JSON.stringify(data)}`)
    : zone.problem.text
}

describe('parseZone', () => {
  it.each<[string, string, string | string[]]>([
    ['nothing', '; a comment\n\n', []],
    [
      'names in every form',
      '@ A 192.0.2.1\nw A 192.0.2.2\nw.b.example. A 192.0.2.3\n',
      ['a.example A "192.0.2.1"', 'w.a.example A "192.0.2.2"', 'w.b.example A "192.0.2.3"'],
    ],
    [
      'a name left out',
      'w A 192.0.2.1\n  AAAA 2001:db8::1',
      ['w.a.example A "192.0.2.1"', 'w.a.example AAAA "2001:db8::1"'],
    ],
    [
      'TTL and class in any order',
      'w 300 IN A 192.0.2.1\nw IN 1h A 192.0.2.2\nw IN A 192.0.2.3',
      ['w.a.example A "192.0.2.1"', 'w.a.example A "192.0.2.2"', 'w.a.example A "192.0.2.3"'],
    ],
    [
      '$ORIGIN and $TTL',
      '$TTL 1h\n$ORIGIN b\nw CNAME x\n$ORIGIN c.example.\nw CNAME x',
      ['w.b.a.example CNAME "x.b.a.example"', 'w.c.example CNAME "x.c.example"'],
    ],
    [
      'parentheses over lines',
      '@ SOA ns h ( 1 ; serial\n 2 3\n 4 5 )\n@ MX 10 m',
      [
        'a.example SOA {"mname":"ns.a.example","rname":"h.a.example","serial":1,"refresh":2,"retry":3,"expire":4,"minimum":5}',
        'a.example MX {"preference":10,"exchange":"m.a.example"}',
      ],
    ],
    [
      'quotes, and a semicolon in them',
      '_dmarc TXT "v=DMARC1; p=none" ; why',
      ['_dmarc.a.example TXT "v=DMARC1; p=none"'],
    ],
    ['several strings, and one without quotes', '@ TXT "v=spf1 " -all', ['a.example TXT "v=spf1 -all"']],
    [
      'an indented paste',
      '  w A 192.0.2.1\n  x A 192.0.2.2',
      ['w.a.example A "192.0.2.1"', 'x.a.example A "192.0.2.2"'],
    ],
    ['blanks and quotes of typography', 'w\u00a0IN\u00a0TXT “v=spf1 -all”', ['w.a.example TXT "v=spf1 -all"']],
    ['an owner that looks like a type', 'mx MX 10 mx', ['mx.a.example MX {"preference":10,"exchange":"mx.a.example"}']],
    [
      'a dot forgotten is a dot forgotten',
      '@ MX 10 mx.a.example',
      ['a.example MX {"preference":10,"exchange":"mx.a.example.a.example"}'],
    ],
    ['other types are skipped', '@ SRV 0 0 5060 sip\n@ TYPE65534 \\# 1 00\n@ A 192.0.2.1', ['a.example A "192.0.2.1"']],
    ['an open quote', '@ A 192.0.2.1\n@ TXT "open\n', 'line 2: a quote that is not closed on the same line'],
    ['an open parenthesis', '\n@ TXT ( "a"\n"b"', 'line 2: a "(" that is never closed'],
    ['a closing one', '@ A 192.0.2.1 )', 'line 1: a ")" without a "("'],
    [
      'a text of 300 octets',
      `@ TXT "${'x'.repeat(300)}"`,
      'line 1: a text of 300 octets: a string has at most 255; write several strings in quotes',
    ],
    ['no type', '@ 300 IN', 'line 1: the type is missing'],
    ['no owner yet', ' A 192.0.2.1', 'line 1: a record without a name, with no record before it'],
    [
      '$INCLUDE',
      '@ A 192.0.2.1\n$INCLUDE other.zone',
      'line 2: "$INCLUDE" is not supported; only $ORIGIN and $TTL are',
    ],
    ['another class', '@ CH TXT "x"', 'line 1: the class "CH" is not IN'],
    ['wrong data', '\n\n@ MX mail', 'line 3: MX data is a preference and a host (10 mail.example.org.)'],
  ])('%s', (_, text, expected) => expect(read(text)).toEqual(expected))

  it('never throws', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'"\\();$@\n A1.TX ') }))
    fc.assert(fc.property(text, (zone) => void parseZone(zone, 'a.example')))
  })

  it.each(['"', '\\', '(', ' ', 'a', 'a\n', '@ A 192.0.2.1\n', '"a" ', ';'])(
    'ends at its bound for 1 MiB of %j',
    (unit) => {
      const zone = parseZone(unit.repeat((1 << 20) / unit.length), 'a.example')
      if (zone.ok) expect(zone.value.records.length).toBeLessThanOrEqual(10_000)
    },
  )
})

it('counts what it passes over, by type', () => {
  const read = parseZone('a LOC x\nb LOC y\nc HINFO z\nd A 192.0.2.1', 'a.example')
  expect(read.ok && Object.fromEntries(read.value.skipped)).toEqual({ LOC: 2, HINFO: 1 })
})
