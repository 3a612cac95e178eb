import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { corpus } from '../../../test/lab/corpora.ts'
import type { LabZone } from '../../../test/lab/dns.ts'
import { labCtx } from '../../../test/lab/world.ts'
import { domain } from '../../names/domain.ts'
import { findings as table } from './findings.ts'
import { dkim } from './index.ts'
import { readKey } from './key.ts'
import { MAX_QUESTIONS } from './lookup.ts'
import { formatKeyRecord, parseKeyRecord } from './parse.ts'
import { generalSelectors, inferSelectors } from './selectors.ts'

const rsa = (bits: number): string =>
  generateKeyPairSync('rsa', { modulusLength: bits })
    .publicKey.export({ type: 'spki', format: 'der' })
    .toString('base64')
const GOOD = `v=DKIM1; k=rsa; p=${rsa(2048)}`
const SHORT = `v=DKIM1; p=${rsa(1024)}`
const ED = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
const at = (selector: string, ...records: string[]): LabZone => ({
  'a.example': { A: ['45.53.5.1'] },
  [`${selector}._domainkey.a.example`]: { TXT: records },
})
const run = (zone: LabZone, selectors: string[] = []) => {
  const ctx = labCtx(zone)
  return dkim.run(ctx, domain('a.example'), { selectors }).then((outcome) => ({ outcome, asked: ctx.asked }))
}

describe('discovery', () => {
  it.each<[string, LabZone, string[], string, string, string[]]>([
    ['the selector of the caller', at('odd', GOOD), ['odd'], 'found', 'pass', []],
    ['a common selector', at('default', GOOD), [], 'found', 'pass', []],
    [
      'NXDOMAIN everywhere: proven',
      { 'a.example': { A: ['45.53.5.1'] } },
      [],
      'proven_absent',
      'fail',
      ['dkim.proven_absent'],
    ],
    ['an empty non-terminal proves nothing', at('hidden', GOOD), [], 'none_found', 'unknown', ['dkim.none_found']],
    [
      'a selector unanswered',
      { ...at('hidden', GOOD), 'default._domainkey.a.example': 'SERVFAIL' },
      [],
      'unknown',
      'unknown',
      ['dkim.not_asked'],
    ],
    [
      'found, though another is unanswered',
      { ...at('mail', GOOD), 'default._domainkey.a.example': 'SERVFAIL' },
      [],
      'found',
      'pass',
      ['dkim.not_asked'],
    ],
    [
      'a wildcard',
      { 'a.example': { A: ['45.53.5.1'] }, '*._domainkey.a.example': { TXT: [GOOD] } },
      [],
      'none_found',
      'unknown',
      ['dkim.wildcard', 'dkim.none_found'],
    ],
    [
      'a key of its own beside a wildcard',
      { '*._domainkey.a.example': { TXT: ['v=DKIM1; p='] }, 'mail._domainkey.a.example': { TXT: [GOOD] } },
      [],
      'found',
      'warn',
      ['dkim.wildcard'],
    ],
    [
      'a selector of the provider, over a CNAME',
      {
        'a.example': { MX: [[10, 'x.mail.protection.outlook.com']] },
        'selector1._domainkey.a.example': { CNAME: ['s.b.example'] },
        's.b.example': { TXT: [GOOD] },
      },
      [],
      'found',
      'pass',
      [],
    ],
    [
      'no key at the selector, but an SPF record',
      at('default', 'v=spf1 -all'),
      [],
      'none_found',
      'unknown',
      ['dkim.none_found'],
    ],
  ])('%s', async (_, zone, selectors, discovery, status, ids) => {
    const { outcome, asked } = await run(zone, selectors)
    expect([outcome.facts?.discovery, outcome.status, outcome.findings.map(({ id }) => id)]).toEqual([
      discovery,
      status,
      ids,
    ])
    expect(asked.filter((question) => question.includes('_domainkey')).length).toBeLessThanOrEqual(MAX_QUESTIONS)
  })
})

describe('keys', () => {
  it.each<[string, string[], string, string[]]>([
    ['short RSA', [SHORT], 'warn', ['dkim.short_key']],
    ['testing', [`${GOOD}; t=y`], 'warn', ['dkim.testing']],
    ['Ed25519 only', [ED], 'warn', ['dkim.ed25519_only']],
    ['revoked', ['v=DKIM1; p='], 'fail', ['dkim.revoked_key', 'dkim.only_revoked']],
    ['512 bits', [`v=DKIM1; p=${rsa(512)}`], 'fail', ['dkim.broken_key', 'dkim.only_revoked']],
    [
      '8192 bits',
      [`v=DKIM1; p=${'MIIEIjANBgkqhkiG9w0BAQEFAAOCBA8AMIIECgKCBAEA'}`],
      'fail',
      ['dkim.broken_key', 'dkim.only_revoked'],
    ],
    ['sha1 alone', [`${GOOD}; h=sha1`], 'fail', ['dkim.broken_key', 'dkim.only_revoked']],
    ['not for mail', [`${GOOD}; s=tlsrpt`], 'fail', ['dkim.broken_key', 'dkim.only_revoked']],
    ['not base64', ['v=DKIM1; p=%%%'], 'fail', ['dkim.broken_key', 'dkim.only_revoked']],
    ['several', [GOOD, SHORT], 'warn', ['dkim.several_records']],
    ['4608 bits', [`v=DKIM1; p=${rsa(4608)}`], 'pass', ['dkim.long_key']],
  ])('%s', async (_, records, status, ids) => {
    const { outcome } = await run(at('mail', ...records))
    expect([outcome.status, outcome.findings.map(({ id }) => id)]).toEqual([status, ids])
  })
  it('shows every finding of its table in a row above', () => {
    const shown = [
      'dkim.proven_absent',
      'dkim.none_found',
      'dkim.not_asked',
      'dkim.wildcard',
      'dkim.broken_key',
      'dkim.short_key',
      'dkim.long_key',
      'dkim.revoked_key',
      'dkim.only_revoked',
      'dkim.testing',
      'dkim.ed25519_only',
      'dkim.several_records',
    ]
    expect(Object.keys(table).sort()).toEqual(shown.sort())
  })
})

/** Cases of the public data that are judged otherwise here, and why. */
const SKIPS: Readonly<Record<string, string>> = {
  'mox#4':
    'white space after the last ";" is folding white space that RFC 6376 §3.2 allows around tags; accepted, and then revoked',
  'mox#12': 'revoked is no usable key here; the record itself parses (RFC 6376 §3.6.1)',
}

describe('public cases', () => {
  const cases: { id: string; record: string; valid: boolean | null; status?: string; key_bits?: number }[] =
    corpus('dkim/key-records.json')?.cases ?? []
  it.each(cases.filter(({ id, valid }) => valid !== null && !(id in SKIPS)))('$id', ({ record, valid, key_bits }) => {
    const reading = parseKeyRecord(record)
    const state = reading.ok ? readKey(reading.value) : undefined
    expect(state?.state === 'usable').toBe(valid)
    if (key_bits && state?.state === 'usable') expect(state.bits).toBe(key_bits)
  })
})

const tag = fc.stringMatching(/^[a-z0-9]{1,8}$/)
const record = fc.record({
  keyType: tag,
  publicKey: fc.base64String({ maxLength: 40 }),
  hashes: fc.array(tag, { maxLength: 3 }),
  services: fc.array(tag, { minLength: 1, maxLength: 3 }),
  flags: fc.array(tag, { maxLength: 3 }),
})

describe('properties', () => {
  it('parse of format gives the record', () =>
    fc.assert(
      fc.property(record, (value) => {
        expect(parseKeyRecord(formatKeyRecord(value))).toEqual({ ok: true, value })
      }),
    ))
  it('never throws', () =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'v=DKIM1;pks :') })), (text) => {
        const reading = parseKeyRecord(text)
        if (reading.ok) readKey(reading.value)
      }),
    ))
  it('reads 64 KiB at once', () => expect(parseKeyRecord('p='.repeat(32_768)).ok).toBe(false))
})

it('infers selectors from MX and SPF', () => {
  const inferred = inferSelectors({
    exchanges: ['aspmx.l.google.com'],
    spf: 'v=spf1 include:sendgrid.net include:amazonses.com ~all',
  })
  expect(inferred.signers).toEqual(['Google Workspace', 'Amazon SES', 'SendGrid'])
  expect(inferred.selectors).toContain('s1')
  expect(inferred.unguessable).toEqual(['Amazon SES'])
})

it('has no selector twice in the general list', () => {
  const selectors = generalSelectors(Date.UTC(2026, 0, 1))
  expect(new Set(selectors).size).toBe(selectors.length)
})
