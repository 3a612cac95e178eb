import { createHash, X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CERT } from '../../../test/lab/certificate.ts'
import { runCheck } from '../../../test/lab/checks.ts'
import { type LabServer, labDial } from '../../../test/lab/dial.ts'
import type { LabNode, LabZone } from '../../../test/lab/dns.ts'
import { inWaves } from '../../../test/lab/waves.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { UNKNOWN_CONTEXT } from '../context.ts'
import { tellArgs } from '../finding.ts'
import { starttls } from '../starttls/index.ts'
import { findings } from './findings.ts'
import { dane } from './index.ts'
import { keyDigest, problemOf, type Tlsa, tlsaMatches } from './tlsa.ts'

const A = domain('a.example')
/** CERT is for mx.example too, signed by itself, and good from 2026-11-21 on. */
const DER = new X509Certificate(CERT).raw
const KEY = keyDigest(DER)!
const tlsa = (usage: number, selector: number, matchingType: number, data: string): Tlsa => ({
  usage,
  selector,
  matchingType,
  data,
})
const hash = (name: string, bytes: Uint8Array) => createHash(name).update(bytes).digest('hex')
const SPKI = new X509Certificate(CERT).publicKey.export({ type: 'spki', format: 'der' })
const GOOD = tlsa(3, 1, 1, KEY)
const OTHER = tlsa(3, 1, 1, '00'.repeat(32))

describe('matches a record with a chain', () => {
  const NOW = { nowMs: Date.UTC(2027, 0, 1), nameMatches: true }
  const EARLY = { ...NOW, nowMs: Date.UTC(2026, 0, 1) }
  const MISNAMED = { ...NOW, nameMatches: false }
  const rows: [string, Tlsa, readonly Uint8Array[], typeof NOW, boolean][] = [
    ['3 1 1', GOOD, [DER], NOW, true],
    ['3 0 0: the whole certificate', tlsa(3, 0, 0, DER.toString('hex')), [DER], NOW, true],
    ['3 0 1', tlsa(3, 0, 1, hash('sha256', DER)), [DER], NOW, true],
    ['3 0 2', tlsa(3, 0, 2, hash('sha512', DER)), [DER], NOW, true],
    ['3 1 0: the whole key', tlsa(3, 1, 0, SPKI.toString('hex')), [DER], NOW, true],
    ['3 1 2', tlsa(3, 1, 2, hash('sha512', SPKI)), [DER], NOW, true],
    ['3 1 1 of the key where the certificate is meant', tlsa(3, 0, 1, KEY), [DER], NOW, false],
    ['3 1 1 of another key', OTHER, [DER], NOW, false],
    ['3 1 1: dates do not count', GOOD, [DER], EARLY, true], // RFC 7672 §3.1.1
    ['3 1 1: names do not count', GOOD, [DER], MISNAMED, true],
    ['2 1 1: an issuer in the chain', tlsa(2, 1, 1, KEY), [DER, DER], NOW, true],
    ['2 1 1: dates count', tlsa(2, 1, 1, KEY), [DER, DER], EARLY, false],
    ['2 1 1: names count', tlsa(2, 1, 1, KEY), [DER, DER], MISNAMED, false], // RFC 7672 §3.2.2
    ['2 1 1: the anchor has to be sent', tlsa(2, 1, 1, KEY), [DER], NOW, false],
    ['2 1 1 of another key', tlsa(2, 1, 1, '00'.repeat(32)), [DER, DER], NOW, false],
    ['no chain', GOOD, [], NOW, false],
    ['what is no certificate', GOOD, [Buffer.from('x')], NOW, false],
  ]
  it.each(rows)('%s', (_why, record, chain, now, matches) => expect(tlsaMatches(record, chain, now)).toBe(matches))

  it('takes any bytes and any record', () =>
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(4), fc.nat(4), fc.nat(4), fc.string(), (der, usage, selector, type, data) => {
        const record = tlsa(usage, selector, type, data)
        problemOf(record)
        expect(tlsaMatches(record, [der, der], NOW)).toBe(false)
        expect(keyDigest(der)).toBeUndefined()
      }),
    ))
})

it.each<[string, Tlsa, string | undefined]>([
  ['3 1 1', GOOD, undefined],
  ['2 0 2', tlsa(2, 0, 2, '00'.repeat(64)), undefined],
  ['PKIX-EE', tlsa(1, 1, 1, KEY), 'pkix'],
  ['PKIX-TA', tlsa(0, 1, 1, KEY), 'pkix'],
  ['usage 4', tlsa(4, 1, 1, KEY), 'syntax'],
  ['selector 2', tlsa(3, 2, 1, KEY), 'syntax'],
  ['matching type 3', tlsa(3, 1, 3, KEY), 'syntax'],
  ['a short digest', tlsa(3, 1, 1, 'abcd'), 'syntax'],
  ['SHA-256 where SHA-512 is said', tlsa(3, 1, 2, KEY), 'syntax'],
  ['nothing', tlsa(3, 1, 0, ''), 'syntax'],
])('%s can be used, or why not', (_why, record, kind) => expect(problemOf(record)?.kind).toBe(kind))

const ROOT: LabZone = { '.': { SOA: [], AD: true } }
type Part = 'mx' | 'host' | 'tlsa'
/** One mail host with TLSA records, everything signed but the parts that are named. */
function zone(records: LabNode['TLSA'], unsigned: readonly Part[] = [], more: LabZone = {}): LabZone {
  const signed = (part: Part) => ({ AD: !unsigned.includes(part) })
  return {
    ...ROOT,
    'a.example': { MX: [[10, 'mx.example']], ...signed('mx') },
    'mx.example': { A: ['45.53.5.1'], ...signed('host') },
    '_25._tcp.mx.example': { ...(records ? { TLSA: records } : {}), ...signed('tlsa') },
    ...more,
  }
}
const untrusted = (records: LabNode['TLSA']): LabZone => ({
  ...zone(records, ['mx', 'host', 'tlsa']),
  '.': { SOA: [] },
})
const SECOND: LabZone = {
  'a.example': {
    MX: [
      [10, 'mx.example'],
      [20, 'my.example'],
    ],
    AD: true,
  },
  'my.example': { A: ['45.53.6.1'], AD: true },
  '_25._tcp.my.example': { AD: true },
}
const ALIAS: LabZone = {
  'mx.example': { CNAME: ['real.example'], AD: true },
  'real.example': { A: ['45.53.5.1'], AD: true },
  '_25._tcp.mx.example': { AD: true },
  '_25._tcp.real.example': { TLSA: [GOOD, OTHER], AD: true },
}

/** Judged as in a report: with STARTTLS where a server is given. */
async function look(records: LabZone, server?: LabServer) {
  const { dial } = labDial(server ? { '45.53.5.1': server } : {})
  const ctx = labCtx(records, { dial, now: () => Date.UTC(2027, 0, 1) })
  const tls = server ? await starttls.lookup(ctx, A, { starttls: true }) : undefined
  return runCheck(dane, ctx, A, {}, { ...UNKNOWN_CONTEXT, ...(tls ? { tls } : {}) })
}
const TLS: LabServer = { ehlo: ['STARTTLS'], tls: { chain: [DER], names: ['mx.example'] } }

type Row = [why: string, zone: LabZone, status: string, ids: string[], matches?: (boolean | null)[], server?: LabServer]
const ROWS: Row[] = [
  ['two records, no certificate seen', zone([GOOD, OTHER]), 'pass', [], [null, null]],
  ['one of two meets the certificate', zone([GOOD, OTHER]), 'pass', [], [true, false], TLS],
  ['one record', zone([GOOD]), 'pass', ['dane.rollover'], [true], TLS],
  ['a record of another key', zone([OTHER]), 'fail', ['dane.mismatch'], [false], TLS],
  ['no STARTTLS', zone([GOOD]), 'fail', ['dane.no_starttls'], [null], { ehlo: [] }],
  ['a handshake that fails', zone([GOOD]), 'fail', ['dane.no_starttls'], [null], { ...TLS, tls: 'fail' }],
  ['a host that is not heard', zone([GOOD, OTHER]), 'pass', [], [null, null], { connect: 'refuse' }],
  ['no records', zone(undefined), 'not_applicable', ['dane.none']],
  [
    'records at the domain in place of the host',
    zone(undefined, [], { '_25._tcp.a.example': { TLSA: [GOOD], AD: true } }),
    'warn',
    ['dane.none', 'dane.misplaced'],
  ],
  ['no records, nothing signed', zone(undefined, ['mx', 'host', 'tlsa']), 'not_applicable', ['dane.none']],
  ['MX not signed', zone([GOOD], ['mx']), 'warn', ['dane.insecure'], [true], TLS],
  ['addresses not signed', zone([GOOD], ['host']), 'warn', ['dane.insecure'], [null]],
  ['TLSA not signed', zone([OTHER], ['tlsa']), 'warn', ['dane.insecure'], [false], TLS],
  ['a resolver that is not trusted', untrusted([GOOD]), 'unknown', [], [null]],
  ['a resolver that is not trusted, and no records', untrusted(undefined), 'not_applicable', ['dane.none']],
  ['only usage 1', zone([tlsa(1, 1, 1, KEY)]), 'warn', ['dane.pkix', 'dane.unusable'], [null], TLS],
  ['usage 1 beside 3', zone([tlsa(1, 1, 1, KEY), GOOD]), 'warn', ['dane.pkix', 'dane.rollover'], [null, true], TLS],
  [
    'a broken record beside a good one',
    zone([tlsa(3, 1, 1, '00'), GOOD, OTHER]),
    'warn',
    ['dane.syntax'],
    [null, null, null],
  ],
  ['a second host without', zone([GOOD, OTHER], [], SECOND), 'warn', ['dane.partial'], [null, null]],
  [
    'a second host that cannot be asked about',
    zone([GOOD, OTHER], [], { ...SECOND, '_25._tcp.my.example': 'SERVFAIL' }),
    'unknown',
    ['dane.unanswered'],
    [null, null],
  ],
  ['TLSA not answered', zone('SERVFAIL'), 'unknown', ['dane.unanswered']],
  ['TLSA not answered, and senders do not ask', zone('SERVFAIL', ['host']), 'unknown', []],
  ['behind a CNAME the end of the chain counts', zone(undefined, [], ALIAS), 'pass', [], [null, null]],
  [
    'behind a CNAME the host itself, where there is nothing at its end',
    zone(undefined, [], {
      ...ALIAS,
      '_25._tcp.real.example': { AD: true },
      '_25._tcp.mx.example': { TLSA: [GOOD, OTHER], AD: true },
    }),
    'pass',
    [],
    [null, null],
  ],
  ['null MX', { ...ROOT, 'a.example': { MX: [[0, '.']] } }, 'not_applicable', []],
  ['MX not answered', { ...ROOT, 'a.example': 'SERVFAIL' }, 'unknown', []],
]

it.each([
  ['a null MX', { MX: [[0, '.']] }, 'the domain declares that it accepts no mail'],
  ['no MX record and no address', {}, 'there is neither an MX record nor an address'],
] as const)('without a mail host says why it does not apply: %s', async (_why, domain, reason) => {
  const outcome = await look({ ...ROOT, 'a.example': domain })
  expect([outcome.status, outcome.reason?.text]).toEqual(['not_applicable', reason])
})

describe('judges', () => {
  it.each(ROWS)('%s', async (_why, records, status, ids, matches = [], server) => {
    const outcome = await look(records, server)
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual([status, ids])
    const { hosts } = dane.present(outcome)
    expect(hosts.flatMap((host) => host.records.map((record) => record.matches))).toEqual(matches)
    for (const { id, args } of outcome.findings)
      expect(findings[id as keyof typeof findings].detail(tellArgs(args))).not.toMatch(/undefined|\[object/)
  })

  it('shows every finding of the table', () =>
    expect([...new Set(ROWS.flatMap(([, , , ids]) => ids))].toSorted()).toEqual(Object.keys(findings).toSorted()))

  it.each<[string, LabZone]>([
    ['of a wrong one', zone([OTHER])],
    ['where there is none', zone(undefined)],
  ])('offers the record of the key that is seen, instead %s', async (_why, records) => {
    const [finding] = (await look(records, TLS)).findings
    expect(finding?.fix).toEqual({ name: '_25._tcp.mx.example', rtype: 'TLSA', value: `3 1 1 ${KEY}` })
  })

  it('offers none without DNSSEC', async () => {
    const [finding] = (await look(zone(undefined, ['host']), TLS)).findings
    expect(finding).toEqual({ id: 'dane.none', args: { domain: 'a.example', secure: true } })
  })
})

it('asks in three waits, the two of the MX check among them', async () => {
  const ctx = labCtx(zone([GOOD], [], SECOND))
  const { resolve, waits } = inWaves(ctx.resolve)
  await runCheck(dane, { ...ctx, resolve }, A)
  expect(waits()).toBe(3)
})

it('presents each record', async () => {
  expect(dane.present(await look(zone([GOOD, tlsa(0, 0, 1, KEY)]), TLS))).toEqual({
    hosts: [
      {
        host: 'mx.example',
        secure: true,
        records: [
          { usage: 3, selector: 1, matching_type: 1, data: KEY, usable: true, matches: true, problem: undefined },
          {
            usage: 0,
            selector: 0,
            matching_type: 1,
            data: KEY,
            usable: false,
            matches: null,
            problem: 'certificate usage 0 is not valid for mail',
          },
        ],
        reason: undefined,
      },
    ],
  })
})
