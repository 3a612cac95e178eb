import { describe, expect, it } from 'vitest'
import { runCheck } from '../../../test/lab/checks.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labProblem } from '../../../test/lab/problem.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { type DomainContext, UNKNOWN_CONTEXT } from '../context.ts'
import { severityOf, tellArgs } from '../finding.ts'
import { runInContext } from '../run.ts'
import { findings } from './findings.ts'
import { mx, presentMx } from './index.ts'

const A = domain('a.example')
const look = (zone: LabZone, context: Partial<DomainContext> = {}) =>
  runCheck(mx, labCtx(zone), A, {}, { ...UNKNOWN_CONTEXT, ...context })
const at = (...records: [number, string][]): LabZone => ({ 'a.example': { MX: records } })
const TWO = { A: ['45.53.5.1', '45.53.5.2'] }
const ONE = { A: ['45.53.5.1'] }
const SIX = { AAAA: ['2a00:1450::1'] }
const OTHER = { A: ['45.53.6.1'] }
const hosts: LabZone = { 'm.example': ONE, 'n.example': OTHER }
/** Without the note on IPv6, which nearly every row has; it has rows of its own. */
const idsOf = ({ findings: found }: { readonly findings: readonly { readonly id: string }[] }): string[] =>
  found.map(({ id }) => id).filter((id) => id !== 'mx.no_ipv6')
const many = (count: number): [number, string][] => Array.from({ length: count }, (_, i) => [i, `m${i}.example`])

const ROWS: [why: string, zone: LabZone, status: string, ids: string[]][] = [
  ['two hosts in order', { ...hosts, ...at([10, 'm.example'], [20, 'n.example']) }, 'pass', []],
  ['no such domain', {}, 'fail', ['mx.no_domain']],
  ['nothing at all', { 'a.example': { TXT: ['x'] } }, 'fail', ['mx.none']],
  ['null MX', at([0, '.']), 'not_applicable', ['mx.null']],
  [
    'null MX beside others',
    { ...hosts, ...at([0, '.'], [10, 'm.example'], [20, 'n.example']) },
    'warn',
    ['mx.null_beside_others'],
  ],
  ['implicit MX', { 'a.example': TWO }, 'warn', ['mx.implicit']],
  ['implicit MX on one address is no second fault', { 'a.example': ONE }, 'warn', ['mx.implicit']],
  [
    'implicit MX through a CNAME of the domain: no alias at an exchange',
    { 'a.example': { CNAME: ['b.example'] }, 'b.example': TWO },
    'warn',
    ['mx.implicit', 'mx.domain_alias'],
  ],
  [
    'no host has an address',
    at([10, 'gone.example'], [20, 'off.example']),
    'fail',
    ['mx.none_resolvable', 'mx.unresolvable', 'mx.unresolvable'],
  ],
  [
    'one of three has none',
    { ...hosts, ...at([10, 'm.example'], [20, 'n.example'], [30, 'gone.example']) },
    'warn',
    ['mx.unresolvable'],
  ],
  [
    'a host whose registrable domain is free',
    { ...hosts, ...at([10, 'm.example'], [20, 'n.example'], [30, 'mx.gone-host.com']) },
    'warn',
    ['mx.takeover'],
  ],
  [
    'a host that is gone at a domain that exists',
    { ...hosts, ...at([10, 'm.example'], [20, 'n.example'], [30, 'mx.kept-host.com']), 'kept-host.com': OTHER },
    'warn',
    ['mx.unresolvable'],
  ],
  [
    'a host whose registrable domain could not be asked for',
    { ...hosts, ...at([10, 'm.example'], [20, 'n.example'], [30, 'mx.a-host.com']), 'a-host.com': { SOA: 'SERVFAIL' } },
    'warn',
    ['mx.unresolvable'],
  ],
  [
    'the domain twice: a missing dot',
    { ...hosts, ...at([10, 'm.example'], [20, 'n.example'], [30, 'mx.a.example.a.example']) },
    'warn',
    ['mx.missing_dot'],
  ],
  [
    "a provider's host with the domain behind",
    at([10, 'smtp.google.com.a.example']),
    'fail',
    ['mx.none_resolvable', 'mx.missing_dot'],
  ],
  [
    'a host of another name below the domain is no missing dot',
    { ...hosts, ...at([10, 'm.example'], [20, 'n.example'], [30, 'b.example.a.example']) },
    'warn',
    ['mx.unresolvable'],
  ],
  [
    'an underscore',
    { ...hosts, ...at([10, 'm_x.example'], [20, 'n.example']), 'm_x.example': ONE },
    'warn',
    ['mx.underscore'],
  ],
  [
    'the zone itself is an alias',
    {
      ...hosts,
      'a.example': { CNAME: ['b.example'] },
      'b.example': {
        MX: [
          [10, 'm.example'],
          [20, 'n.example'],
        ],
      },
    },
    'warn',
    ['mx.domain_alias'],
  ],
  [
    'an address as exchange',
    { ...hosts, ...at([10, '45.53.5.9'], [20, 'm.example'], [30, 'n.example']) },
    'warn',
    ['mx.ip_literal'],
  ],
  ['an address as the only exchange', at([10, '45.53.5.9']), 'fail', ['mx.ip_literal']],
  [
    'an address and a name that is gone',
    at([10, '45.53.5.9'], [20, 'gone.example']),
    'fail',
    ['mx.none_resolvable', 'mx.ip_literal', 'mx.unresolvable'],
  ],
  [
    'a host behind a web proxy',
    { ...at([10, 'm.example']), 'm.example': { A: ['104.21.33.44'], AAAA: ['2606:4700:3031::6815:212c'] } },
    'fail',
    ['mx.web_proxy'],
  ],
  [
    'an alias of a mail provider in the range of a web proxy',
    {
      ...at([10, 'm.example']),
      'm.example': { CNAME: ['route1.mx.cloudflare.net'] },
      'route1.mx.cloudflare.net': { A: ['162.159.205.11', '162.159.205.12'] },
    },
    'warn',
    ['mx.single_host', 'mx.cname'],
  ],
  ['a verification record alone', at([10, 'ms1.msv1.invalid']), 'fail', ['mx.none_resolvable']],
  [
    'a verification record beside hosts',
    { ...hosts, ...at([1, 'm.example'], [1, 'n.example'], [15, 'abc.mx-verification.google.com']) },
    'pass',
    ['mx.verification_left'],
  ],
  [
    'hosts of two mailbox providers',
    { ...at([1, 'smtp.google.com'], [10, 'mx00.ionos.de']), 'smtp.google.com': TWO, 'mx00.ionos.de': OTHER },
    'pass',
    ['mx.two_providers'],
  ],
  [
    'two names of one operator, and a gateway',
    {
      ...at(
        [1, 'a-com.mail.protection.outlook.com'],
        [10, 'a-com.olc.protection.outlook.com'],
        [20, 'd1.mimecast.com'],
      ),
      'a-com.mail.protection.outlook.com': TWO,
      'a-com.olc.protection.outlook.com': TWO,
      'd1.mimecast.com': TWO,
    },
    'pass',
    [],
  ],
  [
    'a name that Cloudflare makes for a host',
    { ...at([10, '_dc-mx.0a1b.a.example']), '_dc-mx.0a1b.a.example': TWO },
    'pass',
    ['mx.single_host'],
  ],
  ['a private address as the only exchange', at([10, '10.0.0.1']), 'fail', ['mx.ip_literal']],
  [
    'an alias',
    { ...at([10, 'al.example']), 'al.example': { CNAME: ['m.example'] }, 'm.example': TWO },
    'warn',
    ['mx.single_host', 'mx.cname'],
  ],
  [
    'a private address only',
    { ...at([10, 'm.example']), 'm.example': { A: ['10.0.0.1', '127.0.0.1'] } },
    'fail',
    ['mx.single_host', 'mx.not_public'],
  ],
  [
    'a private address beside a public host',
    { ...hosts, 'p.example': { AAAA: ['fd00::1'] }, ...at([10, 'm.example'], [20, 'p.example']) },
    'warn',
    ['mx.not_public'],
  ],
  [
    'a host named twice',
    { ...hosts, ...at([10, 'm.example'], [20, 'm.example'], [30, 'n.example']) },
    'pass',
    ['mx.duplicate'],
  ],
  [
    'one address in all',
    { 'm.example': ONE, 'n.example': ONE, ...at([10, 'm.example'], [20, 'n.example']) },
    'pass',
    ['mx.single_address'],
  ],
  ['one host with two addresses', { 'm.example': TWO, ...at([10, 'm.example']) }, 'pass', ['mx.single_host']],
  [
    '21 hosts',
    { ...Object.fromEntries(many(21).map(([i, name]) => [name, { A: [`45.53.5.${i}`] }])), ...at(...many(21)) },
    'warn',
    ['mx.too_many'],
  ],
  [
    '21 addresses',
    {
      'm.example': { A: many(21).map(([i]) => `45.53.5.${i}`) },
      'n.example': OTHER,
      ...at([1, 'm.example'], [2, 'n.example']),
    },
    'warn',
    ['mx.too_many_addresses'],
  ],
  [
    'one host could not be asked',
    { ...hosts, 's.example': 'SERVFAIL', ...at([1, 'm.example'], [2, 'n.example'], [3, 's.example']) },
    'unknown',
    ['mx.host_unknown'],
  ],
  [
    'the only host could not be asked',
    { 's.example': 'SERVFAIL', ...at([1, 's.example']) },
    'unknown',
    ['mx.host_unknown'],
  ],
  [
    'one empty, one silent: it stays open',
    { 's.example': { AAAA: 'TIMEOUT' }, ...at([1, 's.example']) },
    'unknown',
    ['mx.host_unknown'],
  ],
  [
    'one family silent',
    { 'm.example': { ...TWO, AAAA: 'TIMEOUT' }, 'n.example': OTHER, ...at([1, 'm.example'], [2, 'n.example']) },
    'pass',
    ['mx.family_unknown'],
  ],
]

describe('judges', () => {
  it.each(ROWS)('%s', async (_why, zone, status, ids) => {
    const outcome = await look(zone)
    expect([outcome.status, idsOf(outcome)]).toEqual([status, ids])
  })

  it('shows every finding of the table in a row, and not in another', () => {
    const seen = new Set(ROWS.flatMap(([, , , ids]) => ids))
    expect(Object.keys(findings).filter((id) => !seen.has(id))).toEqual([
      'mx.reverse_zone',
      'mx.null_missing',
      'mx.no_replies',
      'mx.ipv6_only',
      'mx.no_ipv6',
    ]) // shown below
  })

  it.each<[string, LabZone, string, string, string | undefined]>([
    ['nothing at all', { 'a.example': { TXT: ['v=spf1 -all'] } }, 'not_applicable', 'mx.null_missing', '0 .'],
    ['an address, perhaps a web server', { 'a.example': ONE }, 'not_applicable', 'mx.null_missing', '0 .'],
    ['no such domain', {}, 'fail', 'mx.no_domain', undefined],
  ])('knows that the domain sends no mail: %s', async (_why, zone, status, id, fix) => {
    const outcome = await look(zone, { sends: false, takes: false, role: 'parked' })
    expect([outcome.status, outcome.findings[0]?.id, outcome.findings[0]?.fix?.value]).toEqual([status, id, fix])
  })

  it.each<[string, LabZone, string]>([
    ['a null MX', at([0, '.']), 'a null MX declares'],
    ['neither MX nor address', { 'a.example': { TXT: ['v=spf1 ip4:45.53.5.1 -all'] } }, 'neither an MX record nor'],
  ])('tells a domain that sends and cannot be answered (RFC 7505 §4.2): %s', async (_why, zone, words) => {
    const outcome = await runInContext(
      'mx',
      labCtx({ ...zone, 'a.example': { TXT: ['v=spf1 ip4:45.53.5.1 -all'], ...(zone['a.example'] as object) } }),
      A,
    )
    expect([outcome.status, ...outcome.findings.map(({ id }) => id)]).toEqual(['warn', 'mx.no_replies'])
    expect(findings['mx.no_replies'].detail(tellArgs(outcome.findings[0]?.args))).toContain(words)
  })

  it.each<[string, LabZone, status: string, string[]]>([
    [
      'all hosts have IPv6 only',
      { ...at([1, 'm.example'], [2, 'n.example']), 'm.example': SIX, 'n.example': SIX },
      'warn',
      ['mx.ipv6_only', 'mx.single_address'],
    ],
    [
      'one host has IPv4',
      { ...at([1, 'm.example'], [2, 'n.example']), 'm.example': SIX, 'n.example': ONE },
      'pass',
      [],
    ],
    [
      'a host without address does not count',
      { ...at([1, 'm.example'], [2, 'n.example']), 'm.example': ONE },
      'warn',
      ['mx.single_address', 'mx.unresolvable'],
    ],
    [
      'A could not be asked for',
      { ...at([1, 'm.example']), 'm.example': { ...SIX, A: 'SERVFAIL' } },
      'unknown',
      ['mx.family_unknown'],
    ],
    [
      'AAAA could not be asked for',
      { ...at([1, 'm.example'], [2, 'n.example']), 'm.example': { ...TWO, AAAA: 'SERVFAIL' }, 'n.example': OTHER },
      'pass',
      ['mx.family_unknown'],
    ],
  ])('senders without IPv6: %s', async (_why, zone, status, ids) => {
    const outcome = await runInContext('mx', labCtx(zone), A)
    expect([outcome.status, idsOf(outcome).toSorted()]).toEqual([status, ids.toSorted()])
  })

  it('says that anybody could register a host only where the DNS says so', async () => {
    const wordsAt = async (zone: LabZone) => {
      const { findings: found } = await look({ ...at([10, 'mx.gone-host.com']), ...zone })
      return findings['mx.unresolvable'].detail(tellArgs(found.find(({ id }) => id === 'mx.unresolvable')?.args))
    }
    expect(await wordsAt({})).toMatch(/anyone who registers gone-host\.com/)
    expect(await wordsAt({ 'gone-host.com': ONE })).not.toMatch(/registers/)
    expect(await wordsAt({ 'gone-host.com': { SOA: 'SERVFAIL' } })).not.toMatch(/registers/)
  })

  it.each<[string, [number, string][], string, string[]]>([
    ['alone', [[10, 'BAD']], 'high', []],
    [
      'before a host that works',
      [
        [10, 'BAD'],
        [20, 'm.example'],
      ],
      'medium',
      ['mx.unresolvable high', 'mx.missing_dot high'],
    ],
    [
      'beside one of equal preference',
      [
        [10, 'BAD'],
        [10, 'm.example'],
      ],
      'low',
      ['mx.unresolvable high', 'mx.missing_dot high'],
    ],
    [
      'behind one that works',
      [
        [10, 'm.example'],
        [20, 'BAD'],
      ],
      'low',
      ['mx.unresolvable low', 'mx.missing_dot low'],
    ],
  ])('grades a host that takes no mail by whether senders meet it: %s', async (_why, records, severity, gone) => {
    const severities = async (bad: string, id: string) => {
      const zone = { 'm.example': TWO, 'p.example': { A: ['104.21.33.44'] } }
      const { findings: found } = await look({
        ...zone,
        ...at(...records.map(([preference, host]): [number, string] => [preference, host === 'BAD' ? bad : host])),
      })
      return found.filter((one) => one.id === id).map((one) => `${id} ${severityOf(findings, one)}`)
    }
    expect(await severities('45.53.5.9', 'mx.ip_literal')).toEqual([`mx.ip_literal ${severity}`])
    expect(await severities('p.example', 'mx.web_proxy')).toEqual([`mx.web_proxy ${severity}`])
    if (gone.length === 0) return
    expect([
      ...(await severities('gone.example', 'mx.unresolvable')),
      ...(await severities('mx.a.example.a.example', 'mx.missing_dot')),
    ]).toEqual(gone)
  })

  it('does not count the addresses of a provider', async () => {
    const zone = { ...at([1, 'smtp.google.com']), 'smtp.google.com': ONE }
    expect((await look(zone)).findings).toEqual([])
  })

  it.each<[string, LabZone, boolean]>([
    ['no host has IPv6', { ...hosts, ...at([1, 'm.example'], [2, 'n.example']) }, true],
    ['one host has', { ...hosts, ...at([1, 'm.example'], [2, 'n.example']), 'n.example': { ...OTHER, ...SIX } }, false],
    ['one could not be asked', { ...hosts, ...at([1, 'm.example']), 'm.example': { ...ONE, AAAA: 'SERVFAIL' } }, false],
    ['a provider', { ...at([1, 'smtp.google.com']), 'smtp.google.com': ONE }, false],
  ])('tells of IPv6: %s', async (_why, zone, told) =>
    expect((await look(zone)).findings.some(({ id }) => id === 'mx.no_ipv6')).toBe(told),
  )

  it('words every finding', async () => {
    for (const [, zone] of ROWS) {
      for (const { id, args } of (await look(zone)).findings) {
        const words = findings[id as keyof typeof findings]
        expect(words.detail(tellArgs(args))).not.toMatch(/undefined|\[object|NaN/)
      }
    }
  })

  it.each<[string, LabZone]>([
    ['mx.none', { 'a.example': { TXT: ['x'] } }],
    ['mx.implicit', { 'a.example': TWO }],
    ['mx.missing_dot', { ...at([10, 'm.a.example.a.example']), 'm.a.example': TWO }],
    ['mx.cname', { ...at([10, 'al.example']), 'al.example': { CNAME: ['m.example'] }, 'm.example': TWO }],
  ])('has a fix for %s that makes it go away', async (id, zone) => {
    const fix = (await look(zone)).findings.find((finding) => finding.id === id)!.fix!
    const [preference, exchange] = fix.value.split(' ')
    const node = { ...(zone['a.example'] as object), MX: [[Number(preference), exchange!]] as const }
    expect((await look({ ...zone, 'a.example': node })).findings.map((finding) => finding.id)).not.toContain(id)
  })

  it('gives no fix that would drop the other records of the set', async () => {
    const outcome = await look({
      ...hosts,
      ...at([1, 'al.example'], [2, 'n.example']),
      'al.example': { CNAME: ['m.example'] },
    })
    expect(idsOf(outcome)).toEqual(['mx.cname'])
    expect(outcome.findings.every(({ fix }) => fix === undefined)).toBe(true)
  })
})

describe('presents', () => {
  it.each<[string, LabZone, unknown]>([
    ['null MX', at([0, '.']), { entries: [], kind: 'null' }],
    [
      'implicit MX',
      { 'a.example': ONE },
      {
        kind: 'implicit',
        entries: [
          {
            host: 'a.example',
            priority: 0,
            addresses: [{ address: '45.53.5.1', ptr: [], forward_confirmed: null }],
            cname: [],
            resolvable: true,
            reason: undefined,
          },
        ],
      },
    ],
    [
      'a dangling name',
      at([5, 'gone.example']),
      {
        kind: 'explicit',
        entries: [
          { host: 'gone.example', priority: 5, addresses: [], cname: [], resolvable: false, reason: undefined },
        ],
      },
    ],
  ])('%s', async (_why, zone, expected) => expect(presentMx(await look(zone))).toEqual(expected))

  it('says nothing of what could not be asked', () =>
    expect(mx.present({ status: 'unknown', reason: labProblem('x'), findings: [] })).toEqual({
      mx: [],
      mx_kind: undefined,
    }))
})
