import { describe, expect, it } from 'vitest'
import { type LabZone, labDns } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { type OverlayRecord, overlay, overlayServers } from '../../net/dns/overlay.ts'
import { type AskServer, DnsError, type RecordData, type Referral, type ServerAnswer } from '../../net/dns/resolver.ts'
import { tellArgs } from '../finding.ts'
import { findings } from './findings.ts'
import { ns } from './index.ts'
import { judgeNs } from './judge.ts'
import { lookupNs } from './lookup.ts'

const A = domain('a.example')
const soa = (serial: number): RecordData['SOA'] => ({
  mname: 'ns1.example',
  rname: 'h.a.example',
  serial,
  refresh: 14_400,
  retry: 3_600,
  expire: 1_209_600,
  minimum: 3_600,
})
/** The zone as one server has it. */
const copy = (serial = 1, mx = 'm.example', spf = 'v=spf1 -all', dmarc = 'v=DMARC1; p=reject'): LabZone => ({
  'a.example': { SOA: [soa(serial)], MX: [[10, mx]], TXT: [spf, 'other'] },
  '_dmarc.a.example': { TXT: [dmarc] },
})
const hosts: LabZone = {
  'ns1.example': { A: ['45.53.1.1'] },
  'ns2.example': { A: ['45.53.2.1'] },
  'ns3.example': { A: ['45.53.3.1'] },
}
/**
 * It has the zone and nothing answers over TCP; `closed`: its machine refuses TCP connections; `lost`: so many
 * questions over TCP get no answer.
 */
type Udp = { readonly udp: LabZone; readonly closed?: true; readonly lost?: number }
type Server = LabZone | 'lame' | 'silent' | 'refuses' | Udp | { readonly referral: Referral }
const isUdp = (server: Server): server is Udp => typeof server === 'object' && 'udp' in server
const isParent = (server: Server): server is { readonly referral: Referral } =>
  typeof server === 'object' && 'referral' in server

/** A world with the zone in the resolver, the hosts, and what each address answers when asked itself. */
function world(names: readonly string[], servers: Record<string, Server>, more: LabZone = {}) {
  const own = copy()['a.example'] as object
  const asked: string[] = []
  const askServer: AskServer = async (server, name, type, signal, { over } = {}) => {
    asked.push(`${server} ${name} ${type}${over ? ` ${over}` : ''}`)
    const there = servers[server] ?? 'silent'
    if (isParent(there)) {
      const nothing = await labDns({ [name]: {} }).resolve(name, type, signal)
      return { ...nothing, authoritative: false, referral: there.referral } as ServerAnswer<typeof type>
    }
    const before = asked.filter((question) => question.startsWith(`${server} `) && question.endsWith('tcp')).length
    if (isUdp(there) && over && before <= (there.lost ?? Number.POSITIVE_INFINITY)) {
      const cause = Object.assign(new Error('connect'), there.closed ? { code: 'ECONNREFUSED' } : {})
      throw new DnsError(there.closed ? 'network' : 'timeout', { name, type }, { cause })
    }
    const answers = isUdp(there) ? there.udp : there
    if (answers === 'silent') throw new DnsError('timeout', { name, type })
    if (answers === 'refuses') throw new DnsError('refused', { name, type })
    const answer = await labDns(answers === 'lame' ? { example: {} } : answers).resolve(name, type, signal)
    return { ...answer, authoritative: answers !== 'lame' } as ServerAnswer<typeof type>
  }
  const zone: LabZone = { ...copy(), 'a.example': { ...own, NS: names }, ...hosts, ...more }
  return { ctx: labCtx(zone, { askServer }), asked }
}
const look = async (...parts: Parameters<typeof world>) => judgeNs(await lookupNs(world(...parts).ctx, A))

/** Without the note on IPv6, which nearly every row has; it has rows of its own. */
const idsOf = ({ findings: found }: { readonly findings: readonly { readonly id: string }[] }): string[] =>
  found.map(({ id }) => id).filter((id) => id !== 'ns.no_ipv6')

const TWO = ['ns1.example', 'ns2.example']
const THREE = [...TWO, 'ns3.example']
const GOOD = { '45.53.1.1': copy(), '45.53.2.1': copy() }
/** A zone that was changed lately, on both servers. */
const CHANGED = copy(2, 'new.example', 'v=spf1 mx -all', 'v=DMARC1; p=none')
const NEW = { '45.53.1.1': CHANGED, '45.53.2.1': CHANGED }
/** Servers with a second address. */
const BOTH: LabZone = {
  'ns1.example': { A: ['45.53.1.1'], AAAA: ['2a00::1'] },
  'ns2.example': { A: ['45.53.2.1'], AAAA: ['2a00::2'] },
}
const DUAL = { ...GOOD, '2a00::1': copy(), '2a00::2': copy() }
const FOURTEEN = Array.from({ length: 14 }, (_, i) => `n${String.fromCharCode(97 + i)}.example`)

/** The zone above, whose server delegates so. */
const NIC: LabZone = { example: { NS: ['nic.example'] }, 'nic.example': { A: ['45.53.9.1'] } }
const delegating = (servers: readonly string[], glue: Readonly<Record<string, readonly string[]>> = {}) => ({
  ...GOOD,
  '45.53.9.1': { referral: { zone: 'a.example', servers, glue } as Referral },
})
/** Servers in the zone itself. */
const INSIDE = ['ns1.a.example', 'ns2.a.example']
const IN_ZONE: LabZone = { ...NIC, 'ns1.a.example': { A: ['45.53.1.1'] }, 'ns2.a.example': { A: ['45.53.2.1'] } }
const GLUE = { 'ns1.a.example': ['45.53.1.1'], 'ns2.a.example': ['45.53.2.1'] }

const ROWS: [why: string, parts: Parameters<typeof world>, status: string, ids: string[]][] = [
  ['two in different networks that agree', [TWO, GOOD], 'pass', []],
  ['none', [[], {}], 'fail', ['ns.none']],
  ['one', [['ns1.example'], GOOD], 'warn', ['ns.single']],
  [
    'two in one network',
    [TWO, { '45.53.1.1': copy(), '45.53.1.2': copy() }, { 'ns2.example': { A: ['45.53.1.2'] } }],
    'warn',
    ['ns.one_network'],
  ],
  [
    'two in one IPv4 network, one of them in an IPv6 network too',
    [TWO, GOOD, { 'ns2.example': { A: ['45.53.1.2'], AAAA: ['2a00::1'] } }],
    'pass',
    ['ns.silent'],
  ],
  ['one without address', [THREE, GOOD, { 'ns3.example': {} }], 'warn', ['ns.unresolvable']],
  [
    'one is an alias',
    [TWO, GOOD, { 'ns2.example': { CNAME: ['ns3.example'] }, 'ns3.example': { A: ['45.53.2.1'] } }],
    'warn',
    ['ns.cname'],
  ],
  [
    'one on a private address is not asked',
    [THREE, GOOD, { 'ns3.example': { A: ['10.0.0.1'] } }],
    'warn',
    ['ns.not_public'],
  ],
  ['one refuses', [THREE, { ...GOOD, '45.53.3.1': 'refuses' }], 'warn', ['ns.lame']],
  ['one answers without authority', [THREE, { ...GOOD, '45.53.3.1': 'lame' }], 'warn', ['ns.lame']],
  ['all refuse', [TWO, { '45.53.1.1': 'refuses', '45.53.2.1': 'refuses' }], 'fail', ['ns.lame', 'ns.lame']],
  ['one is silent', [THREE, GOOD], 'pass', ['ns.silent']],
  ['all are silent: it may be our network', [TWO, {}], 'unknown', ['ns.silent', 'ns.silent']],
  ['addresses that could not be asked for', [TWO, GOOD, { 'ns2.example': 'SERVFAIL' }], 'pass', ['ns.silent']],
  ['the same delegation above', [TWO, delegating(TWO), NIC], 'pass', []],
  ['another server above', [TWO, delegating(THREE), NIC], 'warn', ['ns.delegation']],
  ['one server less above', [THREE, { ...delegating(TWO), '45.53.3.1': copy() }, NIC], 'warn', ['ns.delegation']],
  ['a zone above that says nothing', [TWO, { ...GOOD, '45.53.9.1': 'silent' }, NIC], 'pass', []],
  ['a server that serves the zone above and the zone', [TWO, { ...GOOD, '45.53.9.1': copy() }, NIC], 'pass', []],
  ['a zone above on a private address', [TWO, GOOD, { ...NIC, 'nic.example': { A: ['10.0.0.1'] } }], 'pass', []],
  ['right glue', [INSIDE, delegating(INSIDE, GLUE), IN_ZONE], 'pass', []],
  [
    'wrong glue',
    [INSIDE, delegating(INSIDE, { ...GLUE, 'ns2.a.example': ['45.53.2.9'] }), IN_ZONE],
    'warn',
    ['ns.glue'],
  ],
  [
    'no glue for one',
    [INSIDE, delegating(INSIDE, { 'ns1.a.example': ['45.53.1.1'] }), IN_ZONE],
    'warn',
    ['ns.glue_missing'],
  ],
  ['one without TCP', [TWO, { ...GOOD, '45.53.2.1': { udp: copy() } }], 'warn', ['ns.no_tcp']],
  ['one whose first answer over TCP is lost', [TWO, { ...GOOD, '45.53.2.1': { udp: copy(), lost: 1 } }], 'pass', []],
  [
    'no TCP anywhere: it may be our network',
    [TWO, { '45.53.1.1': { udp: copy() }, '45.53.2.1': { udp: copy() } }],
    'pass',
    [],
  ],
  [
    'machines that refuse TCP connections',
    [TWO, { '45.53.1.1': { udp: copy(), closed: true }, '45.53.2.1': { udp: copy(), closed: true } }],
    'warn',
    ['ns.no_tcp', 'ns.no_tcp'],
  ],
  ['an older serial', [THREE, { ...GOOD, '45.53.3.1': copy(0) }], 'warn', ['ns.serial']],
  ['of two serials the higher is right', [TWO, { '45.53.1.1': copy(1), '45.53.2.1': copy(2) }], 'warn', ['ns.serial']],
  [
    'another SPF and an older serial',
    [TWO, { ...GOOD, '45.53.2.1': copy(0, 'm.example', 'v=spf1 ~all') }],
    'warn',
    ['ns.serial', 'ns.differs'],
  ],
  [
    'the resolver has it from the server with the older serial: that one is named, and not the other',
    [TWO, { '45.53.1.1': copy(2, 'new.example'), '45.53.2.1': copy(1) }],
    'warn',
    ['ns.serial', 'ns.differs'],
  ],
  [
    'one serial, and a server differs from the resolver, which may remember',
    [TWO, { ...GOOD, '45.53.1.1': copy(1, 'old.example') }],
    'pass',
    ['ns.resolver'],
  ],
  ['all agree and the resolver has something else', [TWO, NEW], 'pass', ['ns.resolver']],
  [
    'all agree on a serial, and one of three that answer two ways differs',
    [TWO, { ...DUAL, '45.53.1.1': copy(), '2a00::1': copy(), '2a00::2': copy(1, 'old.example') }, BOTH],
    'warn',
    ['ns.differs'],
  ],
  [
    'another DMARC, seen by the second address',
    [TWO, { ...DUAL, '2a00::2': copy(1, 'm.example', 'v=spf1 -all', 'v=DMARC1; p=none') }, BOTH],
    'warn',
    ['ns.differs'],
  ],
  ['second addresses that stay silent say nothing', [TWO, GOOD, BOTH], 'pass', []],
  [
    'fourteen',
    [
      FOURTEEN,
      { '45.53.1.1': copy() },
      Object.fromEntries(FOURTEEN.map((name, i) => [name, { A: [`45.53.${i + 1}.1`] }])),
    ],
    'pass',
    ['ns.too_many', ...Array(12).fill('ns.silent')],
  ],
]

describe('judges', () => {
  it.each(ROWS)('%s', async (_why, parts, status, ids) => {
    const outcome = await look(...parts)
    expect([outcome.status, idsOf(outcome)]).toEqual([status, ids])
    for (const { id, args } of outcome.findings)
      expect(findings[id as keyof typeof findings].detail(tellArgs(args))).not.toMatch(/undefined|\[object/)
  })

  it('no such domain, which the MX check says', async () => {
    const outcome = judgeNs(await lookupNs(world(TWO, GOOD).ctx, domain('missing.example')))
    expect([outcome.status, outcome.findings]).toEqual(['not_applicable', []])
  })

  it.each<[string, LabZone, boolean]>([
    ['none has IPv6', {}, true],
    ['both have', BOTH, false],
    ['one could not be asked', { 'ns1.example': { A: ['45.53.1.1'], AAAA: 'SERVFAIL' } }, false],
  ])('tells of IPv6: %s', async (_why, hosts, told) => {
    const { findings: found } = await look(TWO, GOOD, hosts)
    expect(found.some(({ id }) => id === 'ns.no_ipv6')).toBe(told)
  })

  it('shows every finding of the table', () =>
    expect([...new Set([...ROWS.flatMap(([, , , ids]) => ids), 'ns.no_ipv6'])].toSorted()).toEqual(
      Object.keys(findings).toSorted(),
    ))
})

describe('asks', () => {
  // Bound: src/checks/ns/ask.ts MAX_QUESTIONS, src/checks/ns/lookup.ts MAX_SERVERS
  it('at most 13 servers, two questions each', async () => {
    const { ctx, asked } = world(
      FOURTEEN,
      {},
      Object.fromEntries(FOURTEEN.map((name, i) => [name, { A: [`45.53.${i + 1}.1`, '45.53.99.1'] }])),
    )
    await lookupNs(ctx, A)
    expect(asked.length).toBe(26)
    expect(new Set(asked.map((question) => question.split(' ')[0])).size).toBe(13)
  })

  it('two questions an address, both families of few servers: all four of each', async () => {
    const { ctx, asked } = world(TWO, DUAL, BOTH)
    await lookupNs(ctx, A)
    expect(asked.toSorted()).toEqual(
      [
        '45.53.1.1 a.example SOA',
        '45.53.1.1 a.example MX tcp',
        '2a00::1 a.example TXT',
        '2a00::1 _dmarc.a.example TXT',
        '45.53.2.1 a.example SOA',
        '45.53.2.1 a.example TXT tcp',
        '2a00::2 a.example MX',
        '2a00::2 _dmarc.a.example TXT',
      ].toSorted(),
    )
  })

  it('once more over TCP where UDP alone answers, and no machine that refuses', async () => {
    const silent = world(TWO, { ...GOOD, '45.53.2.1': { udp: copy() } })
    await lookupNs(silent.ctx, A)
    expect(silent.asked.filter((question) => question.endsWith('tcp'))).toHaveLength(3)
    const closed = world(TWO, { ...GOOD, '45.53.2.1': { udp: copy(), closed: true } })
    await lookupNs(closed.ctx, A)
    expect(closed.asked.filter((question) => question.endsWith('tcp'))).toHaveLength(2)
  })

  it.each([
    ['its second question is lost too', false, ['ns.no_tcp']],
    ['the whole check runs out of time with it', true, []],
  ])('of a server without TCP, when %s', async (_, isOver, ids) => {
    const { ctx, asked } = world(TWO, { ...GOOD, '45.53.2.1': { udp: copy() } })
    const check = new AbortController()
    const askServer: AskServer = (...question) => {
      const answer = ctx.askServer(...question)
      const isSecond = asked.filter((one) => /^45\.53\.2\.1 .* tcp$/.test(one)).length === 2
      if (isSecond && isOver) check.abort(new DOMException('', 'TimeoutError'))
      return answer
    }
    expect(idsOf(judgeNs(await lookupNs({ ...ctx, askServer, signal: check.signal }, A)))).toEqual(ids)
  })

  it('one address two questions, by however many names it goes', async () => {
    const names = FOURTEEN.slice(0, 12)
    const { ctx, asked } = world(names, {}, Object.fromEntries(names.map((name) => [name, { A: ['45.53.9.9'] }])))
    await lookupNs(ctx, A)
    expect(asked).toHaveLength(2)
  })

  it.each([
    ['private', '10.0.0.1'],
    ['loopback', '127.0.0.1'],
    ['NAT64 of a private one', '64:ff9b::a00:1'],
  ])('nothing of a %s address', async (_why, address) => {
    const node = address.includes(':') ? { AAAA: [address] } : { A: [address] }
    const { ctx, asked } = world(['ns1.example'], {}, { 'ns1.example': node })
    await lookupNs(ctx, A)
    expect(asked).toEqual([])
  })

  it('the servers of the zone above a name', async () => {
    const { ctx, asked } = world(TWO, GOOD)
    const facts = await lookupNs(ctx, domain('b.a.example'))
    expect([facts.zone, asked[0]]).toEqual(['a.example', '45.53.1.1 a.example SOA'])
  })

  it('and rejects where the zone could not be determined', () =>
    expect(lookupNs(world(TWO, GOOD, { 'a.example': 'SERVFAIL' }).ctx, A)).rejects.toBeInstanceOf(DnsError))
})

it.each([
  [2, 1, 'ns2.example'],
  [1, 2, 'ns1.example'],
  [1, 4_294_967_295, 'ns2.example'], // RFC 1982 §3.2: 1 comes after the highest number
])('of the serials %i and %i that of %s is behind', async (first, second, host) => {
  const outcome = await look(TWO, { '45.53.1.1': copy(first), '45.53.2.1': copy(second) })
  expect(outcome.findings[0]).toMatchObject({ id: 'ns.serial', args: { host } })
})

it('presents each server', async () => {
  const { servers } = ns.present(await look(TWO, { ...GOOD, '45.53.2.1': 'refuses' })) as { servers: unknown[] }
  expect(servers).toMatchObject([
    { host: 'ns1.example', addresses: ['45.53.1.1'], lame: false, serial: 1, differs: [] },
    { host: 'ns2.example', addresses: ['45.53.2.1'], lame: true, serial: null, differs: [] },
  ])
})

it('records as if they were published stand on the name servers too', async () => {
  const { ctx } = world(TWO, GOOD)
  const laid: OverlayRecord[] = [{ name: 'a.example', type: 'TXT', data: 'v=spf1 mx -all' }]
  const resolve = overlay(ctx.resolve, laid)
  expect(idsOf(judgeNs(await lookupNs({ ...ctx, resolve }, A)))).toEqual(['ns.resolver'])
  const askServer = overlayServers(ctx.askServer, laid)
  expect(idsOf(judgeNs(await lookupNs({ ...ctx, resolve, askServer }, A)))).toEqual([])
})
