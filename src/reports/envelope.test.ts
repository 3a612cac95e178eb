import { expect, it } from 'vitest'
import { labDns } from '../../test/lab/dns.ts'
import { heavyHere } from '../../test/lab/heavy.ts'
import { LAB_KEY, signed } from '../../test/lab/messages.ts'
import { envelopeOf } from './envelope.ts'

const MAIL = 'From: a@a.example\nSubject: x\nDate: Mon, 23 Nov 2026 09:00:00 +0000\n\nx\n'
const FROM = { domain: 'a.example', signsFrom: true, signs: ['subject'], isPartial: false }

it.each<[string, string[] | undefined, Parameters<typeof signed>[1], object]>([
  ['for everything', [LAB_KEY], { domain: 'a.example' }, { ...FROM, result: 'pass' }],
  ['s=email', [`${LAB_KEY}; s=email`], { domain: 'a.example' }, { ...FROM, result: 'pass' }],
  ['s=email:tlsrpt', [`${LAB_KEY}; s=email:tlsrpt`], { domain: 'a.example' }, { ...FROM, result: 'pass' }],
  ['s=tlsrpt', [`${LAB_KEY}; s=tlsrpt`], { domain: 'a.example' }, { ...FROM, result: 'pass', isOfTlsReports: true }],
  [
    's=tlsrpt beside one for mail',
    [`${LAB_KEY}; s=tlsrpt`, LAB_KEY],
    { domain: 'a.example' },
    { ...FROM, result: 'pass' },
  ],
  ['s=other', [`${LAB_KEY}; s=other`], { domain: 'a.example' }, { ...FROM, result: 'fail' }],
  ['revoked', ['v=DKIM1; p='], { domain: 'a.example' }, { ...FROM, result: 'unknown' }],
  ['gone', undefined, { domain: 'a.example' }, { ...FROM, result: 'unknown' }],
  ['… with l=', [LAB_KEY], { domain: 'a.example', tags: 'l=1' }, { ...FROM, result: 'pass', isPartial: true }],
  [
    '… over other fields',
    [LAB_KEY],
    { domain: 'a.example', names: ['subject'] },
    { domain: 'a.example', isPartial: false, result: expect.any(String), signsFrom: false },
  ],
])('the signature of a message with a key %s', async (_, keys, signing, expected) => {
  const { resolve } = labDns(keys ? { 'a._domainkey.a.example': { TXT: keys } } : { 'a.example': {} })
  const raw = Buffer.from(signed(MAIL, signing), 'latin1')
  const ctx = { resolve, heavy: heavyHere, now: () => 0 }
  const ask = { caller: 'mail', signal: AbortSignal.timeout(5_000) }
  const { from, signatures } = await envelopeOf(raw, ctx, [], ask)
  expect([from, signatures]).toEqual([['a@a.example'], [expected]])
})

it.each<[text: string, trusted: string[], isTrusted: boolean]>([
  ['mx.a.example; dmarc=pass', ['mx.a.example'], true],
  ['MX.a.example (x) ; spf=fail; dmarc = pass (p=none) header.from=b.example', ['mx.a.example'], true],
  ['mx.a.example; dmarc=pass', ['mx.b.example'], false],
  ['mx.a.example; dmarc=pass', [], false],
  ['mx.a.example; dmarc=fail', ['mx.a.example'], false],
  ['mx.a.example; reason="; dmarc=pass"', ['mx.a.example'], false],
  ['mx.a.example; spf=fail (; dmarc=pass)', ['mx.a.example'], false],
  [`mx.a.example; ${'\\"'.repeat(500_000)}`, [], false],
  [`mx.a.example; ${'\\"'.repeat(500_000)}`, ['mx.a.example'], false],
])('Authentication-Results %s for hosts %j: %s', async (text, trusted, isTrusted) => {
  const raw = Buffer.from(`Authentication-Results: ${text}\r\nAuthentication-Results: mx.a.example; dmarc=pass\r\n\r\n`)
  const ctx = { resolve: labDns({}).resolve, heavy: heavyHere, now: () => 0 }
  const ask = { caller: 'mail', signal: AbortSignal.timeout(5_000) }
  expect(await envelopeOf(raw, ctx, trusted, ask)).toMatchObject({ isTrusted })
})

it.each<[fields: string, domains: object]>([
  ['TLS-Report-Domain: A.Example.', { 'tls-report-domain': 'a.example' }],
  ['Subject: Report Domain: a.example.\r\n Submitter: b.example', { subject: 'a.example' }],
])('%j names the domain of a TLS report', async (fields, domains) => {
  const ctx = { resolve: labDns({}).resolve, heavy: heavyHere, now: () => 0 }
  const ask = { caller: 'mail', signal: AbortSignal.timeout(5_000) }
  expect(await envelopeOf(Buffer.from(`${fields}\r\n\r\n`), ctx, [], ask)).toMatchObject({ domains })
})
