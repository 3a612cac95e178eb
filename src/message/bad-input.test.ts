import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import v8 from 'node:v8'
import { expect, it } from 'vitest'
import { labDns } from '../../test/lab/dns.ts'
import { heavyHere } from '../../test/lab/heavy.ts'
import { crlf, LAB_KEY, signed } from '../../test/lab/messages.ts'
import type { Heavy } from '../lane/heavy.ts'
import { analyse } from './analyse.ts'
import { judgeMessage } from './judge.ts'
import { parseMail } from './parse.ts'
import { presentFacts } from './present.ts'

/**
 * Messages that nobody sends by mistake. Each is taken apart without an exception, with an answer of a bounded size; no
 * link is followed.
 */

const BASE = `From: a@a.example
To: b@b.example
Subject: x
Date: Mon, 23 Nov 2026 09:00:00 +0000
Message-ID: <1@a.example>
`
const message = (rest: string): string => crlf(BASE + rest)
const signature = (tags: string, names = 'from'): string =>
  `DKIM-Signature: v=1; a=rsa-sha256; d=a.example; s=a; h=${names}; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; ${tags} b=AAAA\r\n`
const nested = [...Array(1_000).keys()]
  .map((i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`)
  .join('')
const arc = (sets: number): string =>
  [...Array(sets).keys()]
    .map(
      (i) =>
        `ARC-Seal: i=${i + 1}; a=rsa-sha256; d=a.example; s=a; cv=${i > 0 ? 'pass' : 'none'}; b=AAAA\r\nARC-Message-Signature: i=${i + 1}; a=rsa-sha256; d=a.example; s=a; h=from; bh=AAAA; b=AAAA\r\nARC-Authentication-Results: i=${i + 1}; x\r\n`,
    )
    .join('')
const largeField = (text: string): string => `X: ${text.repeat(1_000_000 / text.length)}\r\n`
const SHORT = generateKeyPairSync('rsa', { modulusLength: 512 })
/** Nobody has the private key: to make one takes minutes. */
const LONG = createPublicKey({
  key: { kty: 'RSA', n: Buffer.alloc(2_048, 0xc3).toString('base64url'), e: 'AQAB' },
  format: 'jwk',
})
const recordOf = (key: KeyObject): string =>
  `v=DKIM1; p=${key.export({ type: 'spki', format: 'der' }).toString('base64')}`
/** As in another process: what goes in and what comes out is cloned. */
const cloning: Heavy = async (kind, octets, input, ask) => {
  const result = structuredClone(await heavyHere(kind, octets.slice(), structuredClone(input), ask))
  expect(v8.serialize(result).length).toBeLessThan(500_000)
  return result
}
const ATTACHMENT = '--x\r\nContent-Disposition: attachment; filename=a.exe\r\n\r\nabc\r\n'
const QP = 'Content-Transfer-Encoding: quoted-printable\n\n'

it.each<[name: string, text: string, finding: string | undefined]>([
  ['10 MiB in one line', message('\n') + 'a'.repeat(10_485_000), 'long_lines'],
  ['100,000 header fields', 'X-A: b\r\n'.repeat(100_000) + message('\nx'), 'too_many_fields'],
  ['a field of 5 MB', `X: ${' '.repeat(5_000_000)}\r\n${message('\nx')}`, 'long_lines'],
  ['parts nested 1,000 deep', `${crlf(BASE)}${nested}`, 'mime_broken'],
  [
    '500 attachments',
    `${crlf(BASE)}Content-Type: multipart/mixed; boundary=x\r\n\r\n${ATTACHMENT.repeat(500)}--x--\r\n`,
    'executable',
  ],
  [
    'winmail.dat',
    `${crlf(BASE)}Content-Type: multipart/mixed; boundary=x\r\n\r\n${ATTACHMENT.replace('a.exe', 'winmail.dat')}--x--\r\n`,
    'tnef',
  ],
  ['no body', message(''), undefined],
  ['nothing', '', 'field_missing'],
  ['no header section', '\r\nbody', 'field_missing'],
  ['bare CR', message('\na\rb'), 'bare_cr'],
  ['bare LF beside CRLF', `${message('\na')}b\nc`, 'bare_lf'],
  ['NUL', message('\na\0b'), 'nul'],
  ['8-bit header fields', message('X-Y: \xe4\xf6\n\nb'), 'raw_octets'],
  ['two From', message('From: c@c.example\n\nb'), 'field_doubled'],
  ['no From', crlf('To: x@y.example\n\nb'), 'field_missing'],
  ['an address of 10 kB', crlf(`From: ${'a'.repeat(10_000)}@a.example\n\nb`), 'long_lines'],
  ['a signature with 1,000 names', signature('', Array(1_000).fill('from').join(':')) + message('\nb'), 'dkim_failed'],
  ['a signature with 5,000 names', signature('', Array(5_000).fill('x').join(':')) + message('\nb'), 'dkim_failed'],
  ['l=0', signed(message('\nb'), { domain: 'a.example', tags: 'l=0' }), 'dkim_length'],
  ['a signature from the future', signature('t=99999999999; x=999999999999;') + message('\nb'), 'dkim_failed'],
  ['a key that times out', signature('').replace('s=a', 's=slow') + message('\nb'), 'dkim_unknown'],
  [
    'an RSA key of 512 bits',
    signed(message('\nb'), { domain: 'a.example', selector: 'short', key: SHORT.privateKey }),
    'dkim_failed',
  ],
  ['an RSA key of 16,384 bits', signature('').replace('s=a', 's=long') + message('\nb'), 'dkim_failed'],
  ['60 signatures', signature('').repeat(60) + message('\nb'), 'too_many_signatures'],
  [
    'ten signatures over a field of 1 MB',
    signature('', 'from:x').repeat(10) + largeField('x') + message('\nb'),
    'dkim_unknown',
  ],
  [
    'ten signatures over a field of 1 MB in short lines',
    signature('', 'from:x').repeat(10) + largeField('x\r\n ') + message('\nb'),
    'dkim_unknown',
  ],
  [
    'an ARC chain with results of 1 MB',
    arc(50).replaceAll('; x\r\n', `; ${'x '.repeat(10_000)}\r\n`) + message('\nb'),
    'arc_failed',
  ],
  ['2,000 fields of a name that is kept', 'Subject: x\r\n'.repeat(2_000) + message('\nb'), 'too_many_fields'],
  [
    '2,000 signed Content-Type fields',
    signature('', 'from:content-type') +
      'Content-Type: multipart/mixed; boundary=x\r\n'.repeat(1_900) +
      message(`\n${'--x\n'.repeat(200_000)}`),
    'dkim_failed',
  ],
  [
    '1,000 multiparts without an end',
    `${crlf(BASE)}Content-Type: multipart/mixed; boundary=o\r\n\r\n${[...Array(1_000).keys()].map((i) => `--o\r\nContent-Type: multipart/mixed; boundary=${i}\r\n\r\n${'x'.repeat(5_000)}\r\n`).join('')}`,
    'mime_broken',
  ],
  [
    'an Authentication-Results of 1 MB',
    `Authentication-Results: a.example; ${'\\"'.repeat(500_000)}\r\n${message('\nb')}`,
    'long_lines',
  ],
  ['an ARC chain of 60 sets', arc(60) + message('\nb'), 'arc_failed'],
  ['an ARC chain of 50 sets', arc(50) + message('\nb'), 'arc_failed'],
  [
    'links by the thousand, to private hosts too',
    `${message('\n')}${'https://a.example/x http://10.0.0.1/ '.repeat(50_000)}`,
    undefined,
  ],
  ['a message that is itself an attachment', message('Content-Type: message/rfc822\n\n') + message('\nx'), undefined],
  ['an open comment', `Received: ${'('.repeat(5_000)}\r\n${message('\nx')}`, undefined],
  ['quoted-printable of spaces', `${message(QP)}${' '.repeat(1_000_000)}x`, undefined],
  [
    'part headers without end, and a failed signature',
    signature('') +
      `${crlf(BASE)}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n${'Content-Transfer-Encoding: base64\r\n'.repeat(20_000)}\r\nx`,
    'dkim_failed',
  ],
])('%s', async (_, text, finding) => {
  const { resolve, asked } = labDns({
    'a._domainkey.a.example': { TXT: [LAB_KEY] },
    'slow._domainkey.a.example': { TXT: 'TIMEOUT' },
    'short._domainkey.a.example': { TXT: [recordOf(SHORT.publicKey)] },
    'long._domainkey.a.example': { TXT: [recordOf(LONG)] },
  })
  const ctx = {
    resolve,
    heavy: cloning,
    signal: AbortSignal.timeout(20_000),
    now: () => Date.parse('2026-11-23T10:00:00Z'),
  }
  const facts = await analyse(Buffer.from(text, 'latin1'), ctx, { by: { caller: '' } })
  const ids = judgeMessage(facts).map(({ id }) => id)
  if (finding !== undefined) expect(ids).toContain(`message.${finding}`)
  expect(JSON.stringify(presentFacts(facts)).length).toBeLessThan(200_000)
  expect(asked.length).toBeLessThan(100)
})

it('reads the author behind more fields than are read', () => {
  const { fields, cut, body } = parseMail(Buffer.from(`${'X-A: b\r\n c\r\n'.repeat(5_000)}${message('\nx')}`))
  expect([cut, fields.length, fields.at(-1)!.name, body.toString()]).toEqual([true, 2_005, 'message-id', 'x'])
})
