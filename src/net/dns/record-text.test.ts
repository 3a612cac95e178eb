import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readSeconds } from './record-data.ts'
import { parseRecord, parseRecordLine } from './record-text.ts'

const at = (name: string, type: string, value: string) => {
  const read = parseRecord({ name, type, value }, 'a.example')
  return read.ok ? [read.value.name, read.value.type, read.value.data] : read.problem.text
}
const mx = (preference: number, exchange: string) => ({ preference, exchange })

describe('parseRecord', () => {
  it.each<[string, string, string, unknown]>([
    ['@', 'A', '192.0.2.1', ['a.example', 'A', '192.0.2.1']],
    ['', 'aaaa', '2001:DB8::1', ['a.example', 'AAAA', '2001:db8::1']],
    ['_dmarc', 'TXT', 'v=DMARC1; p=none', ['_dmarc.a.example', 'TXT', 'v=DMARC1; p=none']], // the text itself
    ['_DMARC.A.example', 'TXT', '"v=DMARC1; p=none"', ['_dmarc.a.example', 'TXT', 'v=DMARC1; p=none']],
    ['x._report._dmarc.b.example.', 'TXT', 'v=DMARC1', ['x._report._dmarc.b.example', 'TXT', 'v=DMARC1']],
    ['*', 'TXT', '"a b" "c"', ['*.a.example', 'TXT', 'a bc']], // RFC 7208 §3.3: joined without a space
    ['@', 'TXT', '"\\195\\188 \\"q\\" \\\\"', ['a.example', 'TXT', 'ü "q" \\']],
    ['@', 'TXT', '"\\255"', ['a.example', 'TXT', 'ÿ']], // an octet that is no UTF-8
    ['@', 'TXT', `"${'x'.repeat(400)}"`, ['a.example', 'TXT', 'x'.repeat(400)]], // cut by itself
    ['@', 'MX', '10 mx.b.example', ['a.example', 'MX', mx(10, 'mx.b.example')]], // a full name, as it is meant
    ['@', 'MX', '10 mail', ['a.example', 'MX', mx(10, 'mail.a.example')]],
    ['@', 'MX', '10 mx.B.example.', ['a.example', 'MX', mx(10, 'mx.b.example')]],
    ['@', 'MX', '0 .', ['a.example', 'MX', mx(0, '')]], // RFC 7505 §3
    ['s1._domainkey', 'CNAME', 'k.b.example.', ['s1._domainkey.a.example', 'CNAME', 'k.b.example']],
    ['@', 'CAA', '128 Issue "ca.example"', ['a.example', 'CAA', { critical: true, tag: 'issue', value: 'ca.example' }]],
    [
      '_25._tcp.mx',
      'TLSA',
      '3 1 1 AB cd',
      ['_25._tcp.mx.a.example', 'TLSA', { usage: 3, selector: 1, matchingType: 1, data: 'abcd' }],
    ],
    ['@', 'DS', '1 13 2 00ff', ['a.example', 'DS', { keyTag: 1, algorithm: 13, digestType: 2, digest: '00ff' }]],
    [
      '@',
      'DNSKEY',
      '257 3 13 AA BB',
      ['a.example', 'DNSKEY', { flags: 257, protocol: 3, algorithm: 13, publicKey: 'AABB' }],
    ],
    [
      '@',
      'SOA',
      'ns h.b.example 1 2h 30m 1w 300',
      [
        'a.example',
        'SOA',
        {
          mname: 'ns.a.example',
          rname: 'h.b.example',
          serial: 1,
          refresh: 7200,
          retry: 1800,
          expire: 604800,
          minimum: 300,
        },
      ],
    ],
    // as they are pasted
    [' \u200b"_dmarc"\u00a0', 'txt', ' v=DMARC1; p=none ', ['_dmarc.a.example', 'TXT', 'v=DMARC1; p=none']],
    ['@', 'TXT', '“v=spf1 -all”', ['a.example', 'TXT', 'v=spf1 -all']],
    ['@', 'TXT', '( "v=spf1 "\n "-all" ) ; SPF', ['a.example', 'TXT', 'v=spf1 -all']],
    ['@', 'TXT', 'v=DMARC1\\; p=none', ['a.example', 'TXT', 'v=DMARC1; p=none']],
    ['@', 'TXT', 'v=spf1\n -all', ['a.example', 'TXT', 'v=spf1 -all']],
    ['s._domainkey', 'TXT', 's._domainkey IN TXT "v=DKIM1; p="', ['s._domainkey.a.example', 'TXT', 'v=DKIM1; p=']],
    [
      's._domainkey',
      'TXT',
      's._domainkey.a.example. 3600 IN TXT ( "v=DKIM1; " "p=" )',
      ['s._domainkey.a.example', 'TXT', 'v=DKIM1; p='],
    ],
    ['@', 'TXT', 'IN TXT v=spf1 -all', ['a.example', 'TXT', 'v=spf1 -all']],
    ['@', 'TXT', 'mail txt of the day', ['a.example', 'TXT', 'mail txt of the day']],
    ['@', 'MX', 'a.example. IN MX 10 mail', ['a.example', 'MX', mx(10, 'mail.a.example')]],
    ['_dmarc:', 'TXT', 'v=DMARC1', ['_dmarc.a.example', 'TXT', 'v=DMARC1']],
    [
      's',
      'CNAME',
      'https://k.b.example',
      '"https://k.b.example" is a URL: write the name of the record, such as k.b.example',
    ],
    ['_dmarc .a.example', 'TXT', 'v=DMARC1', '"_dmarc .a.example" is not a name: it has white space in it'],
    [
      'https://a.example/',
      'TXT',
      'x',
      '"https://a.example/" is a URL: write the name of the record, such as a.example',
    ],
    ['@', 'A', '192.0.2', '"192.0.2" is not an IP address (such as 192.0.2.1 or 2001:db8::1)'],
    ['@', 'A', '2001:db8::1', '"2001:db8::1" is not an IPv4 address'],
    ['@', 'MX', 'mx.b.example', 'MX data is a preference and a host (10 mail.example.org.)'],
    ['@', 'MX', '70000 mx', '"70000" is not a number from 0 to 65535'],
    [
      '@',
      'SPF',
      'v=spf1 -all',
      'the type "SPF" is not one of TXT, MX, A, AAAA, CNAME, NS, PTR, SOA, CAA, TLSA, DS, DNSKEY',
    ],
    ['@', 'TXT', '"open', 'a quote that is not closed on the same line'],
    ['@', 'TXT', '"\\999"', '\\999 is not an octet: write \\000 to \\255'],
    ['@', 'TXT', '', 'the value is empty'],
    ['ü', 'A', '192.0.2.1', '"ü" is not a name; write non-ASCII labels as xn--…'],
    [
      'a..b',
      'A',
      '192.0.2.1',
      '"a..b" is not a name: a label is empty or longer than 63 octets, or the name is longer than 253',
    ],
    ['@', 'TLSA', '3 1 300 abcd', '"300" is not a number from 0 to 255'],
    ['@', 'TLSA', '3 1 1 xyz', '"xyz" is not hexadecimal'],
  ])('%s %s %s', (name, type, value, expected) => expect(at(name, type, value)).toEqual(expected))

  it('never throws, and is quick with 64 KiB', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'"\\( );.0a\n') }))
    fc.assert(
      fc.property(
        text,
        fc.constantFrom('TXT', 'MX', 'SOA', 'CAA', 'DS'),
        text,
        (name, type, value) => void at(name, type, value),
      ),
    )
    for (const unit of ['"', '\\', '(', ' ', 'a', '" ']) at('@', 'CAA', unit.repeat(65_000))
  })
})

describe('parseRecordLine', () => {
  it.each([
    ['_dmarc TXT "v=DMARC1; p=none"', { name: '_dmarc', type: 'TXT', value: '"v=DMARC1; p=none"' }],
    ['  @ 300 IN MX 10 mail ', { name: '@', type: 'MX', value: '10 mail' }],
    ['@ in 1h txt v=spf1 -all', { name: '@', type: 'txt', value: 'v=spf1 -all' }],
  ])('%s', (line, value) => expect(parseRecordLine(line)).toEqual({ ok: true, value }))

  it.each(['', 'alone', '@ TXT', '@ 300 IN'])('refuses %j', (line) => expect(parseRecordLine(line).ok).toBe(false))
})

it.each([
  ['3600', 3_600],
  ['30s', 30],
  ['2m', 120],
  ['1h', 3_600],
  ['1d12H', 129_600],
  ['1w', 604_800],
  ['4294967295', 0xffff_ffff],
  ['4294967296', undefined], // more than 32 bits
  ['1x', undefined],
])('%s are %s seconds', (text, seconds) => expect(readSeconds(text)).toBe(seconds))
