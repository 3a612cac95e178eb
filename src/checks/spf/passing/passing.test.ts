import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LabZone, labDns } from '../../../../test/lab/dns.ts'
import { FOUR, SIX, spfZones } from '../../../../test/lab/spf-zones.ts'
import { domain } from '../../../names/domain.ts'
import { ip } from '../../../names/ip.ts'
import { checkHost } from '../check-host.ts'
import { lookupSpf } from '../lookup.ts'
import type { SpfNode } from '../tree.ts'
import { firstPassing, namedAddresses, passes, passingOf } from './passing.ts'
import { extentOf, publicIpv4, publicPrefixes } from './wide.ts'

const signal = () => AbortSignal.timeout(10_000)
const spf = (...terms: string[]) => ({ TXT: [['v=spf1', ...terms].join(' ')] })

async function treeOf(zone: LabZone): Promise<SpfNode> {
  const { tree } = await lookupSpf({ resolve: labDns(zone).resolve, signal: signal() }, domain('a.example'))
  return tree!
}

describe('who passes', () => {
  it('are those for whom check_host says pass', () =>
    fc.assert(
      fc.asyncProperty(
        spfZones,
        fc.constantFrom(...FOUR, ...SIX, '10.0.0.130', '172.16.0.1', '2001:db8::ff'),
        async (zone, client) => {
          const passing = passingOf(await treeOf(zone))
          const ctx = { resolve: labDns(zone).resolve, signal: signal(), now: () => 0 }
          const { result } = await checkHost(ctx, { ip: ip(client), sender: 'joe@a.example', helo: 'h.example' })
          // Where an answer is missing, the set has who would pass if what is asked there matched nobody.
          if (result !== 'temperror') expect(passes({ ...passing, open: false }, ip(client))).toBe(result === 'pass')
          // What is known to the end says no only where check_host has no fault of the DNS to tell.
          if (!passing.open) expect(result).not.toBe('temperror')
        },
      ),
      { numRuns: 1_500 },
    ))

  it.each<[string, LabZone, string, readonly string[], readonly string[]]>([
    [
      'first match wins',
      { 'a.example': spf('-ip4:10.0.0.1', 'ip4:10.0.0.0/30', '-all') },
      'ip4:10.0.0.0/30',
      ['10.0.0.2'],
      ['10.0.0.1'],
    ],
    [
      'an include that fails does not match',
      {
        'a.example': spf('include:b.example', 'ip4:10.0.0.1', '-all'),
        'b.example': spf('-ip4:10.0.0.1', 'ip4:10.0.0.0/30'),
      },
      'include:b.example',
      ['10.0.0.1', '10.0.0.2'],
      ['10.0.0.4'],
    ],
    [
      'the eleventh lookup is permerror, but not for those who matched before',
      {
        'a.example': spf(...Array.from({ length: 10 }, () => 'include:b.example'), 'ip4:10.0.0.2', 'a', 'ip4:10.0.0.3'),
        'b.example': spf('ip4:10.0.0.1'),
      },
      'include:b.example',
      ['10.0.0.1', '10.0.0.2'],
      ['10.0.0.3'],
    ],
    [
      'who leaves an include early has lookups to spare',
      {
        'a.example': spf('include:b.example', 'ip4:10.0.0.0/24'),
        'b.example': spf('?ip4:10.0.0.1', ...Array.from({ length: 10 }, () => '-include:c.example')),
        'c.example': spf('ip4:10.0.0.9'),
      },
      'ip4:10.0.0.0/24',
      ['10.0.0.1', '10.0.0.9'],
      ['10.0.0.2'],
    ],
    [
      'the third void lookup is permerror, by family',
      {
        'a.example': spf('a:h1.example', 'a:h1.example', 'a:h1.example', 'ip4:10.0.0.2', 'ip6:2001:db8::2'),
        'h1.example': { AAAA: ['2001:db8::1'] },
      },
      'a:h1.example',
      ['2001:db8::1', '2001:db8::2'],
      ['10.0.0.2'],
    ],
  ])('%s', async (_why, zone, text, yes, no) => {
    const passing = passingOf(await treeOf(zone))
    expect(passing.terms.map((term) => term.text)).toContain(text)
    expect(yes.map((address) => passes(passing, ip(address)))).toEqual(yes.map(() => true))
    expect(no.map((address) => passes(passing, ip(address)))).toEqual(no.map(() => false))
  })

  it.each<[string, string[], string[]]>([
    [
      'a term that depends on the message',
      ['exists:%{i}.x.example', 'ip4:10.0.0.1', '-all'],
      ['exists:%{i}.x.example'],
    ],
    ['ptr', ['ptr', '-all'], ['ptr']],
    ['not where it lets nobody pass', ['-exists:%{l}.x.example', '?ptr', '-all'], []],
  ])('%s is named', async (_why, terms, conditional) =>
    expect(passingOf(await treeOf({ 'a.example': spf(...terms) })).conditional).toEqual(conditional),
  )
})

const B = (...terms: string[]): LabZone => ({
  'a.example': spf('include:b.example', '-all'),
  'b.example': spf(...terms),
})
const many = (count: number, text: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => text(i))

describe('everybody, by whatever road', () => {
  it.each<[string, LabZone, readonly string[]]>([
    ['+all', { 'a.example': spf('+all') }, ['all']],
    ['0.0.0.0/0', { 'a.example': spf('ip4:0.0.0.0/0', '-all') }, ['ip4:0.0.0.0/0']],
    ['half of IPv4', { 'a.example': spf('ip4:0.0.0.0/1', '-all') }, ['ip4:0.0.0.0/1']],
    ['two halves', { 'a.example': spf('ip4:0.0.0.0/1', 'ip4:128.0.0.0/1') }, ['ip4:0.0.0.0/1', 'ip4:128.0.0.0/1']],
    [
      'sixteen /4',
      { 'a.example': spf(...many(16, (i) => `ip4:${i * 16}.0.0.0/4`)) },
      many(16, (i) => `ip4:${i * 16}.0.0.0/4`),
    ],
    ['128 times two /9', { 'a.example': spf(...many(256, (i) => `ip4:${i >> 1}.${(i & 1) * 128}.0.0/9`)) }, []],
    ['a/0', { 'a.example': { ...spf('a/0', '-all'), A: ['192.0.2.1'] } }, ['a/0']],
    ['mx/1//0', { 'a.example': { ...spf('mx/1//0'), MX: [[1, 'a.example']], AAAA: ['2001:db8::1'] } }, ['mx/1//0']],
    ['all of IPv6', { 'a.example': spf('ip6:::/0', '-all') }, ['ip6:::/0']],
    ['the public part of IPv6', { 'a.example': spf('ip6:2000::/3', '-all') }, ['ip6:2000::/3']],
    ['the same with a hole', { 'a.example': spf('-ip6:2001:db8::/32', 'ip6:2000::/3') }, ['ip6:2000::/3']],
    ['a name that exists', { 'a.example': { ...spf('exists:%{d}', '-all'), A: ['192.0.2.1'] } }, ['exists:%{d}']],
    [
      'names that all exist',
      { 'a.example': spf('exists:%{i}.x.example', '-all'), '*.x.example': { A: ['192.0.2.1'] } },
      ['exists:%{i}.x.example'],
    ],
    ['in an include', B('ip4:0.0.0.0/0', '?all'), ['ip4:0.0.0.0/0']],
    ['+all in an include', B('+all'), ['all']],
    [
      'behind an include and a redirect',
      {
        ...B('redirect=c.example'),
        'c.example': spf('include:d.example'),
        'd.example': spf('exists:h.example'),
        'h.example': { A: ['192.0.2.1'] },
      },
      ['exists:h.example'],
    ],
  ])('%s', async (_why, zone, wide) => {
    const extent = extentOf(await treeOf(zone))
    expect(extent.everybody).toBe(true)
    expect(extent.wide.map(({ text }) => text)).toEqual(wide)
  })

  it.each<[string, LabZone]>([
    ['less than half', { 'a.example': spf('ip4:0.0.0.0/2', 'ip4:128.0.0.0/3', '-all') }],
    ['neutral for all', { 'a.example': spf('?ip4:0.0.0.0/0', '-all') }],
    ['who was refused before', { 'a.example': spf('-ip4:0.0.0.0/0', '-ip6:::/0', '+all') }],
    ['not in a refused include', { 'a.example': spf('-include:b.example', '-all'), 'b.example': spf('+all') }],
    [
      'a name that depends on the message',
      { 'a.example': spf('exists:%{i}.x.example', '-all'), '192.0.2.9.x.example': { A: ['192.0.2.1'] } },
    ],
    ['a name that does not exist', { 'a.example': spf('exists:h.example', '-all') }],
    ['an IPv6 /4', { 'a.example': spf('ip6:2000::/4', '-all') }],
    ['IPv4 written as IPv6 (RFC 7208 §5)', { 'a.example': spf('ip6:::ffff:0:0/96', 'ip6:::ffff:9.9.9.9/100') }],
    ['a broken record', { 'a.example': spf('+all', 'foo') }],
  ])('not %s', async (_why, zone) => expect(extentOf(await treeOf(zone)).everybody).toBe(false))
})

describe('how many', () => {
  it.each<[string, string[], number, number, number]>([
    ['an address and a network', ['ip4:8.8.8.8', 'ip4:9.9.9.0/24', '-all'], 257, 257, 0],
    ['each once', ['ip4:9.9.9.0/24', 'ip4:9.9.9.128/25', 'ip4:9.9.9.1'], 256, 256, 0],
    ['private ones count for nothing', ['ip4:10.0.0.0/8', 'ip4:127.0.0.1', 'ip4:224.0.0.0/4', 'ip6:fc00::/7'], 0, 0, 0],
    ['includes are told apart', ['include:b.example', 'ip4:9.9.9.9'], 257, 1, 65_536],
    ['IPv6 by /64', ['ip6:2a01:4f8::/64', 'ip6:2a01:4f8::1', 'ip6:2a01:4f9::1', 'ip6:2a01:4f9::9'], 0, 0, 2],
  ])('%s', async (_why, terms, ipv4, own, prefixes) => {
    const zone = { 'a.example': spf(...terms), 'b.example': spf('ip4:8.8.8.0/24', 'ip6:2a01:4f8::/48') }
    const { passing, ...counts } = extentOf(await treeOf(zone))
    expect(counts).toMatchObject({ ipv4, ownIpv4: own, ipv6Prefixes: prefixes })
    expect([publicIpv4(passing.ip4), publicPrefixes(passing.ip6)]).toEqual([ipv4, prefixes])
  })
})

describe('hosts that the record names one by one', () => {
  const hosts: LabZone = {
    'm.example': { A: ['192.0.2.1'], AAAA: ['2001:db8::1'] },
    'b.example': spf('ip4:192.0.2.99'),
    'wide.example': { A: ['192.0.2.7'] },
  }
  it.each<[string, string[], string[]]>([
    [
      'ip4 up to /30',
      ['ip4:192.0.2.9', 'ip4:192.0.2.4/31', 'ip4:192.0.2.16/29', '-all'],
      ['192.0.2.9', '192.0.2.4', '192.0.2.5'],
    ],
    ['ip6 up to /124', ['ip6:2001:db8::2', 'ip6:2001:db8:1::/123', '-all'], ['2001:db8::2']],
    ['a and mx', ['mx', 'a:wide.example/24', '-all'], ['192.0.2.1', '2001:db8::1']],
    ['not who is refused', ['-ip4:192.0.2.4', 'ip4:192.0.2.4/31', '-ip4:192.0.2.9'], ['192.0.2.5']],
    ['not the web page', ['a', '-all'], []],
    ['not those of an include', ['include:b.example', '-all'], []],
    ['ten', ['ip4:192.0.2.0/30', 'ip4:192.0.2.4/30', 'ip4:192.0.2.8/30'], many(10, (i) => `192.0.2.${i}`)],
  ])('%s', async (_why, terms, expected) => {
    const tree = await treeOf({ 'a.example': { ...spf(...terms), MX: [[1, 'm.example']] }, ...hosts })
    expect(namedAddresses(tree, passingOf(tree))).toEqual(expected)
  })
})

describe('bounds', () => {
  it('eight thousand characters of networks at each of many names', async () => {
    const networks = many(480, (i) => `ip4:${11 + (i % 100)}.${i >> 4}.${i & 255}.1`)
    const names = many(10, (i) => `i${i}.example`)
    const zone: LabZone = {
      'a.example': spf(...names.map((name) => `include:${name}`)),
      ...Object.fromEntries(names.map((name, i) => [name, spf(`?ip4:9.9.9.${i}`, ...networks)])),
    }
    const { passing, ipv4 } = extentOf(await treeOf(zone))
    expect([passing.tooWide, passing.open]).toEqual([false, false])
    expect(ipv4).toBe(new Set(networks).size)
  })

  it('says so where the sets have too many intervals', async () => {
    const tree = await treeOf({ 'a.example': spf(...many(300, (i) => `ip4:9.9.${i >> 7}.${(i & 127) * 2}`), '-all') })
    expect(passingOf(tree).tooWide).toBe(false)
    const { tooWide, ip4 } = passingOf(tree, 500)
    expect([tooWide, ip4.length < 300]).toEqual([true, true])
    expect(passes(passingOf(tree, 500), ip('8.8.8.8'))).toBe(null)
  })
})

it('the first of several records by which an address passes is that of a search one by one', () =>
  fc.assert(
    fc.asyncProperty(fc.array(spfZones, { minLength: 1, maxLength: 5 }), async (zones) => {
      const records = await Promise.all(zones.map(async (zone) => passingOf(await treeOf(zone))))
      const first = firstPassing(records)
      for (const text of [...FOUR, ...SIX, '10.0.0.130', '172.16.0.1', '2001:db8::ff', '::', '255.255.255.255']) {
        const found = records.findIndex((record) => passes(record, ip(text)) === true)
        expect(first(ip(text))).toBe(found < 0 ? undefined : found)
      }
    }),
    { numRuns: 200 },
  ))
