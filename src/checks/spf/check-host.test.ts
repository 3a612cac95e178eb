import { describe, expect, it } from 'vitest'
import { type LabZone, labDns } from '../../../test/lab/dns.ts'
import { inWaves } from '../../../test/lab/waves.ts'
import { ip } from '../../names/ip.ts'
import { type CheckHostAnswer, type CheckHostInput, checkHost } from './check-host.ts'
import { presentCheckHost } from './present.ts'

const FOUR = '192.0.2.3'
const SIX = '2001:db8::3'
const spf = (text: string) => ({ TXT: [`v=spf1 ${text}`] })

function check(
  zone: LabZone,
  input: Partial<Omit<CheckHostInput, 'ip'>> & { ip?: string } = {},
): Promise<CheckHostAnswer> {
  return checkHost(
    { resolve: labDns(zone).resolve, signal: AbortSignal.timeout(10_000), now: () => 0 },
    { sender: 'a@a.example', helo: 'mail.a.example', ...input, ip: ip(input.ip ?? FOUR) },
  )
}

describe('the result', () => {
  const A = { A: [FOUR] }
  it.each<[string, LabZone, string, string | undefined]>([
    ['no record', { 'a.example': {} }, 'none', undefined],
    ['no such domain, §4.3', {}, 'none', undefined],
    ['several records, §4.5', { 'a.example': { TXT: ['v=spf1 -all', 'v=spf1 +all'] } }, 'permerror', undefined],
    ['no answer, §4.4', { 'a.example': 'TIMEOUT' }, 'temperror', undefined],
    ['nothing matched, §4.7', { 'a.example': spf('') }, 'neutral', 'default'],
    ['a fault behind the match, §4.6', { 'a.example': spf('+all moo') }, 'permerror', undefined],
    ['ip4', { 'a.example': spf('ip4:192.0.2.0/24 -all') }, 'pass', 'ip4:192.0.2.0/24'],
    [
      'a name that gives SERVFAIL, §5',
      { 'a.example': spf('a:b.example -all'), 'b.example': 'SERVFAIL' },
      'temperror',
      'a:b.example',
    ],
    ['an error that is not reached', { 'a.example': spf('+all a:b.example'), 'b.example': 'SERVFAIL' }, 'pass', 'all'],
    [
      'mx at one of its hosts, §5.4',
      {
        'a.example': {
          ...spf('mx -all'),
          MX: [
            [1, 'm.example'],
            [2, 'n.example'],
          ],
        },
        'n.example': A,
      },
      'pass',
      'mx',
    ],
    ['mx without MX: no falling back, §5.4', { 'a.example': { ...spf('mx -all'), ...A } }, 'fail', '-all'],
    ['null MX, RFC 7505', { 'a.example': { ...spf('mx -all'), MX: [[0, '.']] } }, 'fail', '-all'],
    [
      '11 MX names, §4.6.4',
      {
        'a.example': { ...spf('mx -all'), MX: Array.from({ length: 11 }, (_, i) => [i, 'm.example'] as const) },
        'm.example': A,
      },
      'permerror',
      'mx',
    ],
    [
      '10 MX names, §4.6.4',
      {
        'a.example': { ...spf('mx -all'), MX: Array.from({ length: 10 }, (_, i) => [i, 'm.example'] as const) },
        'm.example': A,
      },
      'pass',
      'mx',
    ],
    [
      'redirect changes the implied domain, §6.1',
      { 'a.example': { ...spf('redirect=b.example'), ...A }, 'b.example': { ...spf('a -all'), A: ['192.0.2.9'] } },
      'fail',
      '-all',
    ],
    ['redirect to nothing, §6.1', { 'a.example': spf('redirect=b.example') }, 'permerror', undefined],
    ['redirect that matters not beside all, §6.1', { 'a.example': spf('redirect=b.example ~all') }, 'softfail', '~all'],
    ['include of nothing, §5.2', { 'a.example': spf('include:b.example -all') }, 'permerror', 'include:b.example'],
    [
      'include that fails does not match, §5.2',
      { 'a.example': spf('include:b.example ?all'), 'b.example': spf('-all') },
      'neutral',
      '?all',
    ],
    [
      'include that has no answer, §5.2',
      { 'a.example': spf('include:b.example -all'), 'b.example': 'SERVFAIL' },
      'temperror',
      'include:b.example',
    ],
    ['a name too long to be asked, §4.8', { 'a.example': spf(`a:${'x'.repeat(64)}.example -all`) }, 'fail', '-all'],
    [
      'exists with macros, §5.7',
      { 'a.example': spf('exists:%{ir}.%{l}.x.example -all'), '3.2.0.192.a.x.example': { A: ['127.0.0.2'] } },
      'pass',
      'exists:%{ir}.%{l}.x.example',
    ],
    [
      'ptr, §5.5',
      { 'a.example': spf('ptr -all'), '3.2.0.192.in-addr.arpa': { PTR: ['m.a.example'] }, 'm.a.example': A },
      'pass',
      'ptr',
    ],
    [
      'ptr that is not confirmed, §5.5',
      {
        'a.example': spf('ptr -all'),
        '3.2.0.192.in-addr.arpa': { PTR: ['m.a.example'] },
        'm.a.example': { A: ['192.0.2.4'] },
      },
      'fail',
      '-all',
    ],
    [
      'ptr without an answer does not match, §5.5',
      { 'a.example': spf('ptr -all'), '3.2.0.192.in-addr.arpa': 'SERVFAIL' },
      'fail',
      '-all',
    ],
    [
      'ptr looks at 10 names, §5.5',
      {
        'a.example': spf('ptr -all'),
        '3.2.0.192.in-addr.arpa': { PTR: [...Array.from({ length: 10 }, (_, i) => `m${i}.b.example`), 'm.a.example'] },
        'm.a.example': A,
      },
      'fail',
      '-all',
    ],
    [
      'ptr does not match the end of a label, §5.5',
      { 'a.example': spf('ptr -all'), '3.2.0.192.in-addr.arpa': { PTR: ['xa.example'] }, 'xa.example': A },
      'fail',
      '-all',
    ],
    [
      'p prefers the domain itself, §7.3',
      {
        'a.example': { ...spf('exists:%{p}.x.example -all'), ...A },
        '3.2.0.192.in-addr.arpa': { PTR: ['z.example', 'm.a.example', 'a.example'] },
        'z.example': A,
        'm.a.example': A,
        'a.example.x.example': A,
      },
      'pass',
      'exists:%{p}.x.example',
    ],
  ])('%s', async (_, zone, result, mechanism) => {
    const answer = await check(zone, {})
    expect([answer.result, answer.mechanism]).toEqual([result, mechanism])
  })
})

describe('who is asked about', () => {
  const zone: LabZone = {
    'a.example': spf('ip4:192.0.2.3 -all'),
    'mail.a.example': spf('ip6:2001:db8::/64 -all'),
    'xn--bcher-kva.example': spf('exists:%{o}.x.example -all'),
    'xn--bcher-kva.example.x.example': { A: ['127.0.0.2'] },
    'l.example': spf('exists:%{l}.l.example -all exp=e.l.example'),
    'postmaster.l.example': { A: ['127.0.0.2'] },
  }
  it.each([
    ['an empty sender: the HELO name, §2.4', { sender: '', ip: SIX }, 'pass'],
    ['an empty sender and a literal', { sender: '', helo: '[192.0.2.3]' }, 'none'],
    ['an empty sender and one label, §4.3', { sender: '', helo: 'mail' }, 'none'],
    ['no local part: postmaster, §4.3', { sender: '@l.example' }, 'pass'],
    ['a bare domain', { sender: 'l.example' }, 'pass'],
    ['an IPv4-mapped client is IPv4, §5', { ip: '::ffff:192.0.2.3' }, 'pass'],
    ['a domain of the caller', { domain: 'mail.a.example', ip: SIX }, 'pass'],
    ['a U-label, §4.3', { sender: 'x@bücher.example' }, 'pass'],
    ['a non-ASCII local part matches no %{l}, RFC 8616 §4', { sender: 'bücher@l.example' }, 'fail'],
    ['several @', { sender: '"a@b"@a.example' }, 'pass'],
    ['a trailing dot', { sender: 'a@a.example.' }, 'pass'],
  ])('%s', async (_, input, result) => expect((await check(zone, input)).result).toBe(result))
})

describe('the limits of §4.6.4', () => {
  const many = (count: number, text: string) =>
    Array.from({ length: count }, (_, i) => text.replaceAll('#', `${i}`)).join(' ')
  const hosts = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`h${i}.example`, { A: ['192.0.2.9'] }]))
  it.each<[string, LabZone, string, number, number]>([
    ['10 terms', { 'a.example': spf(`${many(10, 'a:h#.example')} -all`), ...hosts }, 'fail', 10, 0],
    ['11 terms', { 'a.example': spf(`${many(11, 'a:h#.example')} -all`), ...hosts }, 'permerror', 11, 0],
    ['2 void lookups', { 'a.example': spf(`${many(2, 'a:v#.example')} -all`) }, 'fail', 2, 2],
    ['3 void lookups', { 'a.example': spf(`${many(3, 'exists:v#.example')} -all`) }, 'permerror', 3, 3],
    [
      'a term of many void questions is one',
      {
        'a.example': {
          ...spf('mx mx:a.example a:v.example -all'),
          MX: [
            [1, 'v1.example'],
            [2, 'v2.example'],
            [3, 'v3.example'],
          ],
        },
      },
      'fail',
      3,
      1,
    ],
    [
      'a loop of includes',
      { 'a.example': spf('include:b.example'), 'b.example': spf('include:a.example') },
      'permerror',
      11,
      0,
    ],
    ['a loop of redirects', { 'a.example': spf('redirect=a.example') }, 'permerror', 11, 0],
    ['exp counts nothing', { 'a.example': spf('a:v1.example a:v2.example -all exp=v3.example') }, 'fail', 2, 2],
  ])('%s', async (_, zone, result, lookups, voids) => {
    const answer = await check(zone)
    expect([answer.result, answer.lookups, answer.voidLookups]).toEqual([result, lookups, voids])
  })
})

describe('the explanation, §6.2', () => {
  const zone = (txt: readonly string[] | 'SERVFAIL', exp = 'e.example'): LabZone => ({
    'a.example': spf(`-all exp=${exp}`),
    'e.example': { TXT: txt },
  })
  it.each<[string, LabZone, string | undefined]>([
    ['its text', zone(['No mail from %{i} for %{S}.']), 'No mail from 192.0.2.3 for a%40a.example.'],
    ['two records', zone(['a', 'b']), undefined],
    ['none', zone([]), undefined],
    ['no answer', zone('SERVFAIL'), undefined],
    ['a fault', zone(['%{x}']), undefined],
    ['not ASCII', zone(['für']), undefined],
    ['a name that has to be expanded', zone(['yes'], '%{l1}.e.example'), undefined],
    [
      'of an include is not used',
      {
        'a.example': spf('include:b.example -all'),
        'b.example': spf('-all exp=e.example'),
        'e.example': { TXT: ['b'] },
      },
      undefined,
    ],
    [
      'of the redirect is used, not the own',
      {
        'a.example': spf('redirect=b.example exp=x.example'),
        'x.example': { TXT: ['own'] },
        'b.example': spf('-all exp=e.example'),
        'e.example': { TXT: ['b'] },
      },
      'b',
    ],
    ['not for softfail', { 'a.example': spf('~all exp=e.example'), 'e.example': { TXT: ['b'] } }, undefined],
  ])('%s', async (_, of, text) => expect((await check(of)).explanation).toBe(text))
})

it('asks ahead: 9 includes, one within another, cost their depth and one more wait for the hosts', async () => {
  const zone: Record<string, { TXT?: string[]; A?: string[]; MX?: [number, string][] }> = {
    'a.example': spf(`${Array.from({ length: 7 }, (_, i) => `include:i${i}.example`).join(' ')} -all`),
    'i7.example': spf('-all'),
    'i8.example': { ...spf('mx -all'), MX: [[1, 'm.example']] },
    'm.example': { A: ['192.0.2.9'] },
  }
  for (let i = 0; i < 6; i++) zone[`i${i}.example`] = spf('ip4:192.0.2.77 -all')
  zone['i6.example'] = spf('include:i7.example include:i8.example -all')
  const dns = labDns(zone as LabZone)
  const { resolve, waits } = inWaves(dns.resolve)
  const input = { ip: ip(FOUR), sender: 'a@a.example', helo: '' }
  const answer = await checkHost({ resolve, signal: AbortSignal.timeout(10_000), now: () => 0 }, input)
  expect([answer.result, answer.lookups]).toEqual(['fail', 10])
  expect(waits()).toBeLessThanOrEqual(3 + 2)
  expect(new Set(dns.asked).size).toBe(dns.asked.length)
})

it('asks nothing ahead that a local match makes needless', async () => {
  const { resolve, asked } = labDns({ 'a.example': spf('ip4:192.0.2.3 include:b.example -all') })
  await checkHost(
    { resolve, signal: AbortSignal.timeout(10_000), now: () => 0 },
    { ip: ip(FOUR), sender: 'a@a.example', helo: '' },
  )
  expect(asked).toEqual(['a.example TXT'])
})

it.each([
  ['what macros make is escaped', spf('a:%{l}.x.example -all'), 'a\\\\b.x.example A'],
  [
    'what the DNS names is asked as it is',
    { ...spf('mx -all'), MX: [[1, 'a\\\\b.example']] as const },
    'a\\\\b.example A',
  ],
])('takes a backslash for a character: %s (RFC 1035 §5.1)', async (_, node, question) => {
  const { resolve, asked } = labDns({ 'a.example': node })
  const input = { ip: ip(FOUR), sender: 'a\\b@a.example', helo: '' }
  await checkHost({ resolve, signal: AbortSignal.timeout(10_000), now: () => 0 }, input)
  expect(asked).toContain(question)
})

it('is temperror at the deadline', async () => {
  const { resolve } = labDns({ 'a.example': spf('-all') })
  const input = { ip: ip(FOUR), sender: 'a@a.example', helo: '' }
  expect((await checkHost({ resolve, signal: AbortSignal.abort(), now: () => 0 }, input)).result).toBe('temperror')
})

it('bounds questions and trace for a hostile record', async () => {
  const bomb = Array.from({ length: 300 }, (_, i) => `include:i${i}.example`).join(' ')
  const zone: Record<string, { TXT: string[] }> = {
    'a.example': spf(`${'ip4:192.0.2.200 '.repeat(2_000)}${bomb} -all`),
  }
  for (let i = 0; i < 300; i++) zone[`i${i}.example`] = spf(bomb)
  const { resolve, asked } = labDns(zone)
  const answer = await checkHost(
    { resolve, signal: AbortSignal.timeout(10_000), now: () => 0 },
    { ip: ip(FOUR), sender: 'a@a.example', helo: '' },
  )
  expect(answer.result).toBe('permerror')
  expect(answer.trace.length).toBeLessThanOrEqual(100)
  expect(asked.length).toBeLessThanOrEqual(40)
})

it('presents the answer as /v1/spf has it', async () => {
  const answer = await check({
    'a.example': spf('a:v.example -all exp=e.example'),
    'e.example': { TXT: ['Not \u0007you'] },
  })
  expect(presentCheckHost(answer)).toEqual({
    result: 'fail',
    mechanism: '-all',
    explanation: undefined, // a control character: not used, §6.2
    lookups: 1,
    void_lookups: 1,
    trace: [
      { domain: 'a.example', term: 'a:v.example', outcome: 'no_match', note: undefined },
      { domain: 'a.example', term: '-all', outcome: 'match', note: undefined },
    ],
    domain: 'a.example',
  })
})

it('names the domain of the sender, not the first one that the trace names', async () => {
  const answer = await check({ 'a.example': spf('include:b.example -all'), 'b.example': spf('-all') })
  expect([answer.domain, answer.trace[0]?.domain]).toEqual(['a.example', 'b.example'])
})

describe('prefix lengths where none is written, §5.3, §5.6', () => {
  it.each([
    ['a', '192.0.2.3', 'pass'],
    ['a', '192.0.2.2', 'neutral'],
    ['a', '2001:db8::3', 'pass'],
    ['a', '2001:db8::2', 'neutral'],
    ['a/31', '192.0.2.2', 'pass'],
    ['a/31', '192.0.2.1', 'neutral'],
    ['a/24', '2001:db8::2', 'neutral'],
    ['a//127', '2001:db8::2', 'pass'],
    ['a//127', '2001:db8::1', 'neutral'],
    ['a//127', '192.0.2.2', 'neutral'],
    ['mx', '2001:db8::3', 'pass'],
    ['mx', '2001:db8::2', 'neutral'],
    ['mx/31//127', '192.0.2.2', 'pass'],
    ['mx/31//127', '2001:db8::2', 'pass'],
    ['ip4:192.0.2.3', '192.0.2.3', 'pass'],
    ['ip4:192.0.2.3', '192.0.2.2', 'neutral'],
    ['ip6:2001:db8::3', '2001:db8::3', 'pass'],
    ['ip6:2001:db8::3', '2001:db8::2', 'neutral'],
    ['ip6:2001:db8::3/127', '2001:db8::2', 'pass'],
    ['ip6:::/0', '2001:db8::3', 'pass'],
    ['ip6:::/0', '192.0.2.3', 'neutral'],
    ['ip4:0.0.0.0/0', '2001:db8::3', 'neutral'],
  ])('%s, %s: %s', async (term, client, result) => {
    const zone: LabZone = {
      'a.example': { ...spf(term), MX: [[1, 'a.example']], A: ['192.0.2.3'], AAAA: ['2001:db8::3'] },
    }
    const { resolve } = labDns(zone)
    const ctx = { resolve, signal: AbortSignal.timeout(5_000), now: () => 0 }
    const input = { ip: ip(client), sender: 'joe@a.example', helo: 'h.example' }
    expect((await checkHost(ctx, input)).result).toBe(result)
  })
})
