import { describe, expect, it } from 'vitest'
import { runCheck } from '../../../test/lab/checks.ts'
import { corpus } from '../../../test/lab/corpora.ts'
import type { LabNode, LabZone } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { ip, reverseName } from '../../names/ip.ts'
import { DnsError } from '../../net/dns/resolver.ts'
import { type DomainContext, UNKNOWN_CONTEXT } from '../context.ts'
import { tellArgs } from '../finding.ts'
import { runInContext } from '../run.ts'
import { findings } from './findings.ts'
import { ptr, ptrOf } from './index.ts'
import { addressState, lookupAddress, lookupPtr } from './lookup.ts'

const A = domain('a.example')
const look = (zone: LabZone, context: Partial<DomainContext> = {}) =>
  runCheck(ptr, labCtx(zone), A, {}, { ...UNKNOWN_CONTEXT, ...context })
/** A domain with the one mail host `m.example` on 45.53.5.1, whose reverse node is `node`. */
const host = (node: LabNode | 'SERVFAIL', rest: LabZone = {}): LabZone => ({
  'a.example': { MX: [[10, 'm.example']] },
  'm.example': { A: ['45.53.5.1'] },
  '1.5.53.45.in-addr.arpa': node,
  ...rest,
})
const names = (count: number) => Array.from({ length: count }, (_, i) => `m${'abcdefghijklmnop'[i]}.example`)

const TWO = [
  [10, 'm.example'],
  [20, 'n.example'],
] as const

it('what is shown of the best MX is not firm while it has no answer, also where another sender has no name', async () => {
  const addresses = { 'm.example': { A: ['45.53.5.1'] }, 'n.example': { A: ['45.53.5.2'] } } as const
  const zone: LabZone = { 'a.example': { MX: [...TWO] }, ...addresses, '1.5.53.45.in-addr.arpa': 'SERVFAIL' }
  const outcome = await look(zone, { sends: true, sendingHosts: [ip('45.53.5.1'), ip('45.53.5.2')] })
  const { valid, reason } = ptr.present(outcome)
  expect([outcome.status, valid, outcome.findings.map(({ id }) => id)]).toEqual([
    'unknown',
    false,
    ['ptr.not_asked', 'ptr.missing'],
  ])
  expect(reason).toContain('1.5.53.45.in-addr.arpa')
})

const ROWS: [why: string, zone: LabZone, status: string, ids: string[]][] = [
  ['resolves back', host({ PTR: ['m.example'] }), 'pass', []],
  [
    'IPv6 resolves back',
    {
      'a.example': { MX: [[1, 'm.example']] },
      'm.example': { AAAA: ['2a00:db8::1'] },
      [reverseName(ip('2a00:db8::1'))]: { PTR: ['m.example'] },
    },
    'pass',
    [],
  ],
  ['none', host({}), 'fail', ['ptr.missing']],
  [
    'does not resolve back',
    host({ PTR: ['n.example'] }, { 'n.example': { A: ['45.53.9.9'] } }),
    'warn',
    ['ptr.not_confirmed'],
  ],
  ['leads nowhere', host({ PTR: ['gone.example'] }), 'warn', ['ptr.not_confirmed']],
  [
    'made by the provider',
    host({ PTR: ['45-53-5-1.isp.example'] }, { '45-53-5-1.isp.example': { A: ['45.53.5.1'] } }),
    'warn',
    ['ptr.generic'],
  ],
  [
    'made by the provider, but another name resolves back',
    host({ PTR: ['45-53-5-1.isp.example', 'm.example'] }),
    'pass',
    ['ptr.several_names'],
  ],
  [
    'eleven names',
    host({ PTR: [...names(10), 'm.example'] }, { 'ma.example': { A: ['45.53.5.1'] } }),
    'pass',
    ['ptr.many_names'],
  ],
  ['could not be asked', host('SERVFAIL'), 'unknown', ['ptr.not_asked']],
  [
    'the name could not be followed',
    host({ PTR: ['s.example'] }, { 's.example': 'SERVFAIL' }),
    'unknown',
    ['ptr.confirmation_unknown'],
  ],
  [
    'one name could not be followed, another resolves back',
    host({ PTR: ['s.example', 'm.example'] }, { 's.example': 'SERVFAIL' }),
    'pass',
    ['ptr.several_names'],
  ],
  [
    'missing at a lesser MX only',
    host(
      { PTR: ['m.example'] },
      {
        'a.example': {
          MX: [
            [10, 'm.example'],
            [20, 'n.example'],
          ],
        },
        'n.example': { A: ['45.53.6.1'] },
      },
    ),
    'pass',
    [],
  ],
  [
    'the best MX has no address: the next is the best',
    host(
      { PTR: ['m.example'] },
      {
        'a.example': {
          MX: [
            [1, 'gone.example'],
            [10, 'm.example'],
          ],
        },
      },
    ),
    'pass',
    [],
  ],
  [
    'missing weighs more than unknown',
    host({}, { 'm.example': { A: ['45.53.5.1', '45.53.5.2'] }, '2.5.53.45.in-addr.arpa': 'SERVFAIL' }),
    'fail',
    ['ptr.missing', 'ptr.not_asked'],
  ],
  ['null MX', { 'a.example': { MX: [[0, '.']] } }, 'not_applicable', []],
  ['no mail host', { 'a.example': { TXT: ['x'] } }, 'fail', ['ptr.no_address']],
  ['no such domain', {}, 'fail', ['ptr.no_address']],
  [
    'the mail host could not be asked about',
    { 'a.example': { MX: [[1, 's.example']] }, 's.example': 'SERVFAIL' },
    'unknown',
    [],
  ],
  ['implicit MX', { 'a.example': { A: ['45.53.5.1'] } }, 'fail', ['ptr.missing']],
  [
    'one family of the best MX could not be asked: there may be more addresses',
    host({ PTR: ['m.example'] }, { 'm.example': { A: ['45.53.5.1'], AAAA: 'SERVFAIL' } }),
    'unknown',
    [],
  ],
  [
    '… beside one that has no PTR record',
    host({}, { 'm.example': { A: ['45.53.5.1'], AAAA: 'SERVFAIL' } }),
    'fail',
    ['ptr.missing'],
  ],
  [
    'implicit MX though one family is silent',
    { ...host({ PTR: ['a.example'] }), 'a.example': { A: ['45.53.5.1'], AAAA: 'TIMEOUT' } },
    'unknown',
    [],
  ],
  ['the best MX could not be asked: the next may not be the best', host({}, betterThan('SERVFAIL')), 'unknown', []],
  [
    'a lesser MX could not be asked',
    host({ PTR: ['m.example'] }, { 'a.example': { MX: TWO }, 'n.example': 'TIMEOUT' }),
    'pass',
    [],
  ],
  [
    '31 addresses',
    {
      'a.example': {
        MX: [
          [1, 'm.example'],
          [2, 'n.example'],
        ],
      },
      ...wide('m.example', 5),
      ...wide('n.example', 6, 11),
    },
    'pass',
    ['ptr.too_many'],
  ],
]

/** A mail host before `m.example` that gives this answer. */
function betterThan(node: 'SERVFAIL'): LabZone {
  return {
    'a.example': {
      MX: [
        [1, 's.example'],
        [10, 'm.example'],
      ],
    },
    's.example': node,
  }
}

/** A host with 20 addresses that all resolve back. */
function wide(name: string, third: number, count = 20): LabZone {
  const octets = Array.from({ length: count }, (_, i) => i + 1)
  return Object.fromEntries([
    [name, { A: octets.map((octet) => `45.53.${third}.${octet}`) }],
    ...octets.map((octet) => [`${octet}.${third}.53.45.in-addr.arpa`, { PTR: [name] }] as const),
  ])
}

const REVERSED = (address: string, name: string): LabZone => ({
  [reverseName(ip(address))]: { PTR: [name] },
  [name]: { A: [address] },
})
const GENERIC = REVERSED('45.53.7.7', '45-53-7-7.isp.example')
const spf = (text: string): LabZone => ({ 'a.example': { MX: [[10, 'm.example']], TXT: [`v=spf1 ${text}`] } })

describe('whose addresses are judged', () => {
  it.each<[string, LabZone, string, string[]]>([
    ['the MX addresses that SPF passes', host({}, spf('mx -all')), 'fail', ['ptr.missing']],
    ['not those that it does not pass', host({}, spf('ip4:45.53.9.0/24 -all')), 'pass', []],
    ['what it names one by one', { ...host({}, spf('ip4:45.53.7.7 -all')), ...GENERIC }, 'warn', ['ptr.generic']],
    [
      'not what an include names',
      { ...host({}, spf('include:b.example -all')), ...GENERIC, 'b.example': { TXT: ['v=spf1 ip4:45.53.7.7 -all'] } },
      'pass',
      [],
    ],
    ['not a network', { ...host({}, spf('ip4:45.53.7.0/29 -all')), ...GENERIC }, 'pass', []],
    ['an address twice', { ...host({}, spf('mx ip4:45.53.5.1 -all')) }, 'fail', ['ptr.missing']],
    ['a broken SPF: the best MX', host({}, spf('ip4:x -all')), 'fail', ['ptr.missing']],
    [
      'an MX host that SPF may let pass, if it has an address',
      {
        ...host({ PTR: ['m.example'] }, spf('ip4:45.53.5.1 -all')),
        'a.example': { MX: TWO, TXT: ['v=spf1 ip4:45.53.5.1 -all'] },
        'n.example': 'TIMEOUT',
      },
      'unknown',
      [],
    ],
    [
      'a private address has no PTR to set',
      host({}, { ...spf('mx ip4:192.168.1.1 -all'), 'm.example': { A: ['10.0.0.1'] } }),
      'pass',
      [],
    ],
    [
      "a provider's MX host",
      {
        'a.example': { MX: [[10, 'smtp.google.com']], TXT: ['v=spf1 mx -all'] },
        'smtp.google.com': { A: ['45.53.5.1'] },
      },
      'pass',
      [],
    ],
    [
      "a name in a provider's zone",
      host({ PTR: ['mx.zoho.com'] }, { ...spf('mx -all'), 'mx.zoho.com': { A: ['45.53.5.1'] } }),
      'pass',
      [],
    ],
    [
      "a generic name in a provider's zone is a customer's",
      host(
        { PTR: ['static.1.5.53.45.clients.your-server.de'] },
        { ...spf('mx -all'), 'static.1.5.53.45.clients.your-server.de': { A: ['45.53.5.1'] } },
      ),
      'warn',
      ['ptr.generic'],
    ],
    [
      'a bare a: the web page',
      {
        ...host(
          { PTR: ['m.example'] },
          { 'a.example': { MX: [[10, 'm.example']], A: ['45.53.7.7'], TXT: ['v=spf1 a mx -all'] } },
        ),
        ...GENERIC,
      },
      'pass',
      [],
    ],
    [
      'an MX that is an IP address',
      {
        'a.example': {
          MX: [
            [10, '45.53.7.7'],
            [20, 'm.example'],
          ],
          TXT: ['v=spf1 ip4:45.53.7.7 -all'],
        },
        'm.example': { A: ['45.53.5.1'] },
      },
      'pass',
      [],
    ],
    [
      "a name that only claims to be a provider's",
      host({ PTR: ['mx.zoho.com'] }, spf('mx -all')),
      'warn',
      ['ptr.not_confirmed'],
    ],
    [
      'a sender that takes no mail',
      { 'a.example': { MX: [[0, '.']], TXT: ['v=spf1 ip4:45.53.7.7 -all'] }, ...GENERIC },
      'warn',
      ['ptr.generic'],
    ],
  ])('%s', async (_why, zone, status, ids) => {
    const outcome = await runInContext('ptr', labCtx(zone), A)
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual([status, ids])
  })

  it('the plain fact about the best MX stays', async () => {
    const outcome = await runInContext('ptr', labCtx(host({}, spf('ip4:45.53.9.0/24 -all'))), A)
    expect(ptr.present(outcome)).toMatchObject({ valid: false, reason: 'no PTR record for 45.53.5.1' })
  })

  it('no fix for an address that no MX host has', async () => {
    const outcome = await runInContext('ptr', labCtx({ ...host({}, spf('ip4:45.53.7.7 -all')), ...GENERIC }), A)
    expect(outcome.findings.map(({ fix }) => fix)).toEqual([undefined])
  })
})

describe('judges', () => {
  it.each(ROWS)('%s', async (_why, zone, status, ids) => {
    const outcome = await look(zone)
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual([status, ids])
    expect(ptr.present(outcome).reason === undefined).toBe(ptr.present(outcome).valid)
    for (const { id, args } of outcome.findings)
      expect(findings[id as keyof typeof findings].detail(tellArgs(args))).not.toMatch(/undefined|\[object|NaN/)
  })

  it('shows every finding of the table', () =>
    expect([...new Set(ROWS.flatMap(([, , , ids]) => ids))].toSorted()).toEqual(Object.keys(findings).toSorted()))

  it('does not blame a domain that sends and takes no mail', async () =>
    expect((await look({ 'a.example': { TXT: ['v=spf1 -all'] } }, { role: 'parked' })).status).toBe('not_applicable'))

  it.each(ROWS.filter(([, , , ids]) => ids.length > 0))(
    'has fixes that make the findings go away: %s',
    async (_why, zone) => {
      const { findings: before } = await look(zone)
      const fixed = before.flatMap(({ fix }) => (fix ? [[fix.name, { PTR: [fix.value] }] as const] : []))
      const after = await look({ ...zone, ...Object.fromEntries(fixed) })
      for (const { id, args, fix } of before)
        if (fix)
          expect(after.findings.map((finding) => [finding.id, finding.args?.address])).not.toContainEqual([
            id,
            args?.address,
          ])
    },
  )
})

it('asks 12 questions and less for each address', async () => {
  const ctx = labCtx(host({ PTR: names(16) }))
  await lookupPtr(ctx, A)
  expect(ctx.asked.length).toBe(3 + 1 + 10)
})

it('rejects when the mail hosts could not be asked for', () =>
  expect(lookupPtr(labCtx({ 'a.example': 'SERVFAIL' }), A)).rejects.toBeInstanceOf(DnsError))

it.each<[string, LabZone, object]>([
  ['resolves back', host({ PTR: ['m.example'] }), { valid: true, forward_confirmed: true }],
  ['none', host({}), { valid: false, reason: 'no PTR record for 45.53.5.1', forward_confirmed: false }],
  [
    'null MX',
    { 'a.example': { MX: [[0, '.']] } },
    { valid: false, reason: 'the domain declares that it accepts no mail', forward_confirmed: null },
  ],
  [
    'one family is not known',
    host({ PTR: ['m.example'] }, { 'm.example': { A: ['45.53.5.1'], AAAA: 'SERVFAIL' } }),
    { valid: false, reason: expect.stringContaining('m.example'), forward_confirmed: null },
  ],
  [
    'one family is not known, and another address has none',
    host({}, { 'm.example': { A: ['45.53.5.1'], AAAA: 'SERVFAIL' } }),
    { valid: false, reason: 'no PTR record for 45.53.5.1', forward_confirmed: false },
  ],
  ['no host', {}, { valid: false, reason: 'no mail host has an address', forward_confirmed: null }],
])('presents: %s', async (_why, zone, expected) => expect(ptr.present(await look(zone))).toMatchObject(expected))

it('tells an address of the MX with its names', async () => {
  const { facts } = await look(host({ PTR: ['m.example'] }))
  expect(ptrOf(facts, ip('45.53.5.1'))).toEqual({ address: '45.53.5.1', ptr: ['m.example'], forward_confirmed: true })
  expect(ptrOf(undefined, ip('45.53.5.1'))).toEqual({ address: '45.53.5.1', ptr: [], forward_confirmed: null })
})

type Case = {
  ip: string
  ptr: string[] | 'SERVFAIL'
  forward: LabZone
  expect: { status: string; name: string | null; names: string[] | null }
}
describe.runIf(corpus('dns/fcrdns.json'))('corpus dns/fcrdns', () => {
  const STATUS = new Map<boolean | null, string>([
    [true, 'pass'],
    [false, 'fail'],
    [null, 'temperror'],
  ])
  it.each((corpus('dns/fcrdns.json')?.cases ?? []) as Case[])('$ip', async (row) => {
    const node: LabNode = { PTR: row.ptr }
    const found = await lookupAddress(labCtx({ ...row.forward, [reverseName(ip(row.ip))]: node }), ip(row.ip))
    expect(STATUS.get(addressState(found).confirmed)).toBe(row.expect.status)
    expect(found.names).toEqual(row.expect.names ?? [])
    expect(found.forward.find((forward) => forward.leads === 'back')?.name ?? null).toBe(row.expect.name)
  })
})
