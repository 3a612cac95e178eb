import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSpf, parseSpf } from './parse.ts'
import { formatSpf } from './terms.ts'

describe('selecting', () => {
  it.each([
    ['v=spf1', true], // an empty record, §4.5
    ['v=spf1 -all', true],
    ['V=SpF1 -all', true], // case means nothing, §4.5
    ['v=spf10 -all', false], // the version is a whole word, §4.5
    ['v=spf1\t-all', false], // only a space ends it, §4.5
    [' v=spf1 -all', false],
    ['v=spf1;-all', false],
  ])('%j is an SPF record: %s', (text, yes) => expect(isSpf(text)).toBe(yes))
})

describe('what can be read', () => {
  it.each([
    ['v=spf1', 'v=spf1'],
    ['v=spf1  a   -all  ', 'v=spf1 a -all'], // several spaces and some at the end, §4.6.1
    ['v=spf1 +MX ~ALL', 'v=spf1 mx ~all'], // names are case-insensitive, §4.6.1
    ['v=spf1 a/24//64 mx:m.example//128', 'v=spf1 a/24//64 mx:m.example//128'], // §5.3
    ['v=spf1 a:foo:bar/baz.example/24', 'v=spf1 a:foo:bar/baz.example/24'], // ":" and "/" in a domain-spec, §7.1
    ['v=spf1 ip4:192.0.2.0/24 ip4:192.0.2.1/32', 'v=spf1 ip4:192.0.2.0/24 ip4:192.0.2.1'],
    ['v=spf1 ip6:2001:DB8::/32 ip6:::1', 'v=spf1 ip6:2001:db8::/32 ip6:::1'],
    ['v=spf1 ip6:::ffff:192.0.2.1', 'v=spf1 ip6:::ffff:192.0.2.1'], // stays IPv6, §5
    ['v=spf1 exists:%{ir}.%{l1r+-}._spf.%{d}', 'v=spf1 exists:%{ir}.%{l1r+-}._spf.%{d}'], // §7.4
    ['v=spf1 exists:%{D2}.x%%%_%-', 'v=spf1 exists:%{D2}.x%%%_%-'], // ends in a macro-expand, §7.1
    ['v=spf1 redirect=a.example. exp=%{S}.b.example', 'v=spf1 redirect=a.example. exp=%{S}.b.example'],
    ['v=spf1 exp=e.example -all', 'v=spf1 -all exp=e.example'], // the place of a modifier means nothing, §6
    ['v=spf1 moo.cow-far_out=man:dog/cat -all', 'v=spf1 -all moo.cow-far_out=man:dog/cat'], // unknown modifier, §6
    ['v=spf1 default= ?all', 'v=spf1 ?all default='], // its value may be empty, §12
    ['v=spf1 include:example.xn--zckzah a:x.1-2', 'v=spf1 include:example.xn--zckzah a:x.1-2'], // toplabel, §7.1
  ])('%j', (text, printed) => {
    const record = parseSpf(text)
    expect(record).toMatchObject({ ok: true })
    if (record.ok) expect(formatSpf(record.value)).toBe(printed)
  })
})

describe('what cannot, and where', () => {
  it.each([
    ['v=spf1 -all moo', 12, '"moo" is not a mechanism'], // §4.6
    ['v=spf1 ipv4:192.0.2.1', 7, 'write ip4:'],
    ['v=spf1 redirect:a.example', 7, 'write redirect='], // a modifier, §4.6.1
    ['v=spf1 -all.', 8, '"all." is not a mechanism'],
    ['v=spf1 all:x', 10, 'takes no value'], // §5.1
    ['v=spf1 all/8', 10, 'takes no value'],
    ['v=spf1 include', 14, 'needs a colon'], // §5.2
    ['v=spf1 constructor -all', 7, '"constructor" is not a mechanism'], // a name that every object has
    ['v=spf1 include:', 15, 'empty'],
    ['v=spf1 include:a.example/24', 17, 'top-level'], // no prefix length, §5.2
    ['v=spf1 a:museum', 9, 'not a full domain name'], // §7.1
    ['v=spf1 a:192.0.2.1', 9, 'write ip4:192.0.2.1'], // §7.1
    ['v=spf1 a:abc.123', 13, 'ends in a number'],
    ['v=spf1 a:x.-com', 11, 'top-level domain'],
    ['v=spf1 a/33', 8, 'not an IPv4 prefix'], // §5.3
    ['v=spf1 a//129', 8, 'not an IPv6 prefix'],
    ['v=spf1 a/024', 8, 'not an IPv4 prefix'], // no leading zero, §12
    ['v=spf1 a/24/64', 11, 'not an IPv4 prefix'],
    ['v=spf1 ptr/0', 10, 'takes only a domain'], // §5.5
    ['v=spf1 ip4', 10, 'needs a colon'], // §5.6
    ['v=spf1 ip4:1.2.3', 11, 'not an IPv4 address'],
    ['v=spf1 ip4:1.2.3.04', 11, 'not an IPv4 address'], // qnum, §12
    ['v=spf1 ip4:1.2.3.4/032', 18, 'prefix length'],
    ['v=spf1 ip4:1.2.3.4:25', 11, 'not an IPv4 address'],
    ['v=spf1 ip4:2001:db8::1', 11, 'not an IPv4 address'],
    ['v=spf1 ip6:192.0.2.1', 11, 'not an IPv6 address'],
    ['v=spf1 ip6:fe80::1%eth0', 11, 'not an IPv6 address'],
    ['v=spf1 exists:%(i).x.example', 14, 'does not begin a macro'], // §7.1
    ['v=spf1 a:%{a}.x.example', 9, 'is not a macro letter'],
    ['v=spf1 exp=%{r}.x.example', 11, 'only in an explanation'], // §7.2
    ['v=spf1 -all moo=%{c}', 16, 'only in an explanation'], // nor in an unknown modifier, §7.2
    ['v=spf1 a:%{d0}.x.example', 9, 'must not be 0'], // §7.1
    ['v=spf1 a:%{d}x', 13, 'not a full domain name'], // domain-end, §7.1
    ['v=spf1 -redirect=a.example', 7, 'takes no qualifier'],
    ['v=spf1 exp=a.example exp=a.example', 21, 'occurs twice'], // §6
    ['v=spf1 1up=foo', 7, 'not a term'], // §6
    ['v=spf1 =all', 7, 'not a term'],
    ['v=spf1 a:x.example\tmx', 18, 'visible ASCII'], // §4.6.1
    ['v=spf1 a:ä.example', 9, 'visible ASCII'], // §3.1
    ['spf2.0/pra -all', 0, 'does not begin'],
  ])('%j at %i: %s', (text, at, words) => {
    const record = parseSpf(text)
    expect(record).toMatchObject({ ok: false, at })
    if (!record.ok) expect(record.problem.text).toContain(words)
  })
})

const alphabet = fc.string({ unit: fc.constantFrom(...'v=spf1 alinc:/.%{}dr+-~?4602mxtei_\u0000é'), maxLength: 80 })
const good = fc
  .array(
    fc.constantFrom(
      'a',
      'mx/24',
      '-a:%{d2r-}.x.example//64',
      'ip4:192.0.2.0/24',
      'ip6:::ffff:1.2.3.4/96',
      'ptr:a.example',
      '~all',
      'include:%{l}.a.example',
      'exists:%{i}.b',
      'x=%{L}',
      'exists:%{ir}.b.example',
    ),
    { maxLength: 12 },
  )
  .chain((terms) => fc.tuple(fc.constant(`v=spf1 ${terms.join(' ')}`), fc.nat(200), alphabet))

describe('any text', () => {
  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseSpf(`v=spf1 ${text}`)))
    fc.assert(
      fc.property(alphabet, (text) => void parseSpf(`v=spf1 ${text}`)),
      { numRuns: 2_000 },
    )
  })

  it('parses what it prints to an equal value, also when a good record is damaged', () => {
    const again = (text: string): void => {
      const record = parseSpf(text)
      if (record.ok) expect(parseSpf(formatSpf(record.value))).toEqual(record)
      else expect(record.at).toBeLessThanOrEqual(text.length)
    }
    fc.assert(
      fc.property(good, ([text, at, patch]) => {
        again(text)
        again(text.slice(0, at) + patch.slice(0, 3) + text.slice(at))
      }),
      { numRuns: 1_000 },
    )
  })

  it.each([
    ['spaces', ' '.repeat(65_536)],
    ['one letter', 'a'.repeat(65_536)],
    ['terms', 'a '.repeat(32_768)],
    ['slashes', `a${'/'.repeat(65_536)}`],
    ['digits', `a/${'1'.repeat(65_536)}`],
    ['dots', `a:${'a.'.repeat(32_768)}`],
    ['hyphens', `a:x.${'-'.repeat(65_536)}`],
    ['percent signs', `a:${'%%'.repeat(32_768)}`],
    ['macros', `a:${'%{d}'.repeat(16_384)}`],
    ['open macros', `a:${'%{'.repeat(32_768)}`],
    ['a long macro', `a:%{d${'1'.repeat(65_536)}`],
    ['delimiters', `a:%{d${'.'.repeat(65_536)}}`],
    ['colons', `ip6:${':'.repeat(65_536)}`],
  ])('64 KiB of %s end', (_, text) => expect(typeof parseSpf(`v=spf1 ${text}`).ok).toBe('boolean'))
})
