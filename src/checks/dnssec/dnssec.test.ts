import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runCheck } from '../../../test/lab/checks.ts'
import type { LabNode, LabZone } from '../../../test/lab/dns.ts'
import { inWaves } from '../../../test/lab/waves.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { DnsError, type ExtendedError, type RecordData, type Resolve } from '../../net/dns/resolver.ts'
import { tellArgs } from '../finding.ts'
import { findings } from './findings.ts'
import { dnssec } from './index.ts'
import { dsMatches, keyTagOf } from './judge.ts'

const A = domain('example.net')
const SOA: RecordData['SOA'] = {
  mname: 'ns1.example.net',
  rname: 'h.example.net',
  serial: 1,
  refresh: 14_400,
  retry: 3_600,
  expire: 1_209_600,
  minimum: 3_600,
}
const key = (algorithm: number, publicKey: string, flags = 257): RecordData['DNSKEY'] => ({
  flags,
  protocol: 3,
  algorithm,
  publicKey,
})
/** RFC 6605 §6.1 */
const KEY = key(13, 'GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==')
const DS: RecordData['DS'] = {
  keyTag: 55_648,
  algorithm: 13,
  digestType: 2,
  digest: 'b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17',
}
/** RFC 4034 §5.4, RFC 4509 §2.3 */
const OLD_KEY = key(
  5,
  'AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==',
  256,
)

describe('matches a DS record with a key', () => {
  const old = { keyTag: 60_485, algorithm: 5 }
  it.each<[string, RecordData['DS'], string, RecordData['DNSKEY'], boolean]>([
    ['RFC 6605 §6.1', DS, 'example.net', KEY, true],
    [
      'SHA-1, RFC 4034 §5.4',
      { ...old, digestType: 1, digest: '2bb183af5f22588179a53b0a98631fad1a292118' },
      'dskey.example.com',
      OLD_KEY,
      true,
    ],
    [
      'SHA-256, RFC 4509 §2.3',
      { ...old, digestType: 2, digest: 'd4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a' },
      'dskey.example.com',
      OLD_KEY,
      true,
    ],
    ['of another owner', DS, 'example.org', KEY, false],
    ['another key tag', { ...DS, keyTag: 1 }, 'example.net', KEY, false],
    ['a digest that we cannot compute: by key tag', { ...DS, digestType: 3, digest: 'ff' }, 'example.net', KEY, true],
  ])('%s', (_why, ds, zone, dnskey, fits) => expect(dsMatches(ds, zone, dnskey)).toBe(fits))

  it('computes a key tag of any key', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 255 }), fc.base64String({ maxLength: 65_536 }), (algorithm, text) => {
        const tag = keyTagOf(key(algorithm, text))
        expect(tag >= 0 && tag <= 0xffff).toBe(true)
      }),
      { numRuns: 50 },
    ))
})

const zone = (node: LabNode, root: LabNode = { SOA: [SOA], AD: true }): LabZone => ({
  '.': root,
  'example.net': { SOA: [SOA], ...node },
})
const UNTRUSTED: LabNode = { SOA: [SOA] }

/**
 * A resolver that says SERVFAIL to everything but a question with checking disabled, which `zone` answers; `ede` goes
 * with it.
 */
function validating(records: LabZone, ede: readonly ExtendedError[], both = false) {
  const lab = labCtx(records)
  const resolve: Resolve = async (name, type, signal, options) => {
    if (name !== '.' && (both || !options?.checkingDisabled)) throw new DnsError('servfail', { name, type }, { ede })
    return lab.resolve(name, type, signal, options)
  }
  return { ...lab, resolve }
}
const look = (ctx: ReturnType<typeof labCtx>, name = A) => runCheck(dnssec, ctx, name)
const SIGNED = { DS: [DS], DNSKEY: [KEY] }
const BOGUS = { ...DS, digest: '00'.repeat(32) }
const ede = (code: number, text = '') => [{ code, text }]
const is = (signed: boolean | null, validated: boolean | null, bogus: boolean | null) => ({ signed, validated, bogus })

/** The clock of the lab. */
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5) / 1_000
const DAY = 86_400
/** A signature of a type that ends in `left` days and lives for `life` days. */
const signature = (covered: number, left: number, life = 30) => ({
  covered,
  algorithm: 13,
  expiresAt: NOW + left * DAY,
  validFrom: NOW + (left - life) * DAY,
  signer: 'example.net',
})
const signedBy =
  (...RRSIG: ReturnType<typeof signature>[]) =>
  () =>
    labCtx(zone({ ...SIGNED, RRSIG, AD: true }))
const nsec3 = (iterations: number, salt: string) => () =>
  labCtx(zone({ ...SIGNED, NSEC3PARAM: [{ algorithm: 1, flags: 0, iterations, salt }], AD: true }))
const GOOD = is(true, true, false)

type Row = [why: string, ctx: () => ReturnType<typeof labCtx>, status: string, ids: string[], shown: object]
const ROWS: Row[] = [
  ['signed and validated', () => labCtx(zone({ ...SIGNED, AD: true })), 'pass', [], is(true, true, false)],
  ['signatures that last', signedBy(signature(6, 8), signature(48, 20)), 'pass', [], GOOD],
  [
    'a signature that ends in 6 days',
    signedBy(signature(6, 20), signature(15, 6)),
    'warn',
    ['dnssec.expires_soon'],
    GOOD,
  ],
  ['… beside its successor', signedBy(signature(6, 6), signature(6, 25)), 'pass', [], GOOD],
  ['signatures made with each answer', signedBy(signature(6, 1, 2)), 'pass', [], GOOD],
  ['one that has ended: the validator has its say', signedBy(signature(6, -1)), 'pass', [], GOOD],
  ['NSEC3 as advised', nsec3(0, ''), 'pass', [], GOOD],
  ['NSEC3 with iterations', nsec3(10, ''), 'warn', ['dnssec.nsec3_parameters'], GOOD],
  ['NSEC3 with a salt', nsec3(0, 'abcd'), 'warn', ['dnssec.nsec3_parameters'], GOOD],
  ['not signed', () => labCtx(zone({})), 'warn', ['dnssec.unsigned'], is(false, false, false)],
  [
    'not signed, resolver not trusted: that is seen all the same',
    () => labCtx(zone({}, UNTRUSTED)),
    'warn',
    ['dnssec.unsigned'],
    is(false, false, false),
  ],
  ['keys without DS', () => labCtx(zone({ DNSKEY: [KEY] })), 'warn', ['dnssec.island'], is(true, false, false)],
  [
    'DS, and a resolver that does not vouch',
    () => labCtx(zone(SIGNED)),
    'warn',
    ['dnssec.insecure'],
    is(true, false, false),
  ],
  [
    'signed, resolver not trusted: nobody is to blame',
    () => labCtx(zone(SIGNED, UNTRUSTED)),
    'unknown',
    [],
    is(true, null, null),
  ],
  [
    'DS of another key, seen without a validator',
    () => labCtx(zone({ ...SIGNED, DS: [BOGUS] }, UNTRUSTED)),
    'fail',
    ['dnssec.ds_mismatch'],
    is(true, null, null),
  ],
  ['bogus', () => validating(zone(SIGNED), ede(6)), 'fail', ['dnssec.bogus'], is(true, false, true)],
  ['bogus, no reason given', () => validating(zone(SIGNED), []), 'fail', ['dnssec.bogus'], is(true, false, true)],
  [
    'bogus, and why is seen',
    () => validating(zone({ ...SIGNED, DS: [BOGUS] }), ede(9)),
    'fail',
    ['dnssec.bogus', 'dnssec.ds_mismatch'],
    is(true, false, true),
  ],
  ['expired', () => validating(zone(SIGNED), ede(7)), 'fail', ['dnssec.expired'], is(true, false, true)],
  ['not yet valid', () => validating(zone(SIGNED), ede(8)), 'fail', ['dnssec.not_yet_valid'], is(true, false, true)],
  [
    'SERVFAIL with and without checking: an outage',
    () => validating(zone(SIGNED), ede(22), true),
    'unknown',
    [],
    { bogus: null },
  ],
  ['silence', () => labCtx({ 'example.net': 'TIMEOUT' }), 'unknown', [], { validated: null, bogus: null }],
  [
    'DS and DNSKEY not answered',
    () => labCtx(zone({ DS: 'SERVFAIL', DNSKEY: 'SERVFAIL' })),
    'unknown',
    [],
    is(null, false, false),
  ],
  ['no such domain', () => labCtx({ '.': UNTRUSTED }), 'not_applicable', [], is(false, false, false)],
  [
    'SHA-1 algorithm only',
    () => labCtx(zone({ DS: [{ ...DS, algorithm: 7, digestType: 4 }], DNSKEY: 'SERVFAIL', AD: true })),
    'warn',
    ['dnssec.weak_algorithm'],
    is(true, true, false),
  ],
  [
    'SHA-1 digest only',
    () => labCtx(zone({ DS: [{ ...DS, digestType: 1 }], DNSKEY: 'SERVFAIL', AD: true })),
    'warn',
    ['dnssec.weak_digest'],
    is(true, true, false),
  ],
  [
    'a SHA-1 digest beside another',
    () => labCtx(zone({ ...SIGNED, DS: [DS, { ...DS, digestType: 1 }], AD: true })),
    'pass',
    [],
    {},
  ],
]

describe('judges', () => {
  it.each(ROWS)('%s', async (_why, ctx, status, ids, shown) => {
    const outcome = await look(ctx())
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual([status, ids])
    expect(dnssec.present(outcome)).toMatchObject(shown)
    for (const { id, args } of outcome.findings)
      expect(findings[id as keyof typeof findings].detail(tellArgs(args))).not.toMatch(/undefined|\[object/)
  })

  it('shows every finding of the table', () =>
    expect([...new Set(ROWS.flatMap(([, , , ids]) => ids))].toSorted()).toEqual(Object.keys(findings).toSorted()))

  it('says why it is unknown', async () => {
    expect(await look(labCtx(zone(SIGNED, UNTRUSTED)))).toMatchObject({
      reason: { text: expect.stringContaining('AD bit') },
    })
    expect(await look(validating(zone(SIGNED), ede(22), true))).toMatchObject({
      reason: { text: expect.stringContaining('SERVFAIL') },
    })
  })

  it('keeps the extended errors, also those of an outage', async () => {
    expect(
      dnssec.present(await look(validating(zone(SIGNED), ede(22, 'no reachable\u0007 authority'), true))),
    ).toMatchObject({
      ede: [{ code: 22, text: 'no reachable  authority' }],
    })
  })
})

describe('asks', () => {
  it('the zone above a name', async () => {
    const outcome = await look(
      labCtx({ ...zone({ ...SIGNED, AD: true }), 'a.example.net': { AD: true } }),
      domain('a.example.net'),
    )
    expect([outcome.status, outcome.facts?.zone]).toEqual(['pass', 'example.net'])
  })

  it('a zone that could not be determined is unknown', async () => {
    const ctx = labCtx({ '.': UNTRUSTED, 'a.example.net': { A: ['45.53.5.1'] }, 'example.net': 'SERVFAIL' })
    expect(await look(ctx, domain('a.example.net'))).toMatchObject({ status: 'unknown' })
  })

  it.each<[string, ReturnType<typeof labCtx>, number]>([
    ['two waits', labCtx(zone({ AD: true })), 2],
    ['a third where the zone has keys', labCtx(zone({ ...SIGNED, AD: true })), 3],
    ['a third where validation fails, and a fourth where the zone has keys', validating(zone(SIGNED), ede(6)), 4],
  ])('in %s', async (_why, ctx, most) => {
    const { resolve, waits } = inWaves(ctx.resolve)
    await look({ ...ctx, resolve })
    expect(waits()).toBe(most)
  })
})
