import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type LabZone, labDns } from '../../test/lab/dns.ts'
import { heavyHere } from '../../test/lab/heavy.ts'
import { crlf, LAB_KEY, type Signing, signed } from '../../test/lab/messages.ts'
import { ADVICE } from './advice.ts'
import { analyse } from './analyse.ts'
import { judgeMessage } from './judge.ts'
import { causeProblem, signatureProblem } from './problems.ts'

const HERE = { heavy: heavyHere, signal: AbortSignal.timeout(60_000) }
const BY = { by: { caller: '' } }
const ZONE: LabZone = {
  'a._domainkey.a.example': { TXT: [LAB_KEY] },
  'revoked._domainkey.a.example': { TXT: ['v=DKIM1; p='] },
  '_dmarc.a.example': { TXT: ['v=DMARC1; p=reject'] },
  'a.example': { TXT: ['v=spf1 ip4:45.53.1.1 -all'] },
}
const OTHER = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const OTHER_KEY = `v=DKIM1; p=${OTHER.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`
const ED = generateKeyPairSync('ed25519')
const ED_KEY = `v=DKIM1; k=ed25519; p=${ED.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`

const PLAIN = `From: Joe <joe@a.example>
To: list@b.example
Subject: Minutes
Date: Mon, 23 Nov 2026 09:00:00 +0000
Message-ID: <1@a.example>
Comments: first
Comments: second
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Gr\u00fc\u00dfe aus K\u00f6ln,
From here on: a dot
. and a line
`
/** Octets of UTF-8, one a character. */
const PLAIN8 = Buffer.from(PLAIN, 'utf8').toString('latin1')
const MULTI = `From: Joe <joe@a.example>
To: list@b.example
Subject: Minutes
Date: Mon, 23 Nov 2026 09:00:00 +0000
Message-ID: <1@a.example>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="in"

--in
Content-Type: text/plain

Hello
--in
Content-Type: text/html

<p>Hello
--in--
`
const HTML = `${PLAIN.slice(0, PLAIN.indexOf('Content-Type'))}Content-Type: text/html; charset=utf-8

<html><body><p>Hello
<p>Joe
</body></html>
`
const base64 = (text: string | Buffer): string =>
  `${Buffer.from(text)
    .toString('base64')
    .replace(/.{76}(?=.)/g, '$&\n')}\n`
const base64Octets = (octets: string): string => base64(Buffer.from(octets, 'latin1'))
const BASE64 = (text: string): string =>
  `${PLAIN.slice(0, PLAIN.indexOf('Content-Transfer'))}Content-Transfer-Encoding: base64\n\n${base64(text)}`
const BASE64_PARTS = (plain: string, html: string): string =>
  `${MULTI.slice(0, MULTI.indexOf('--in'))}--in
Content-Type: text/plain
Content-Transfer-Encoding: base64

${base64(crlf(plain))}--in
Content-Type: text/html
Content-Transfer-Encoding: base64

${base64(crlf(html))}--in--
`
const footer = crlf('_______________\nlist mailing list\nhttps://b.example/list\n')
const qp = (text: string): string =>
  text.replace(/[\x80-\xff=]/g, (char) => `=${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
/** A message whose body is changed by a function. */
const body = (text: string, change: (body: string) => string): string => {
  const at = text.indexOf('\r\n\r\n') + 4
  return text.slice(0, at) + change(text.slice(at))
}

/** Lines of more than 76 characters, blanks at their ends, and an octet at the place of a break. */
const QUOTED_TEXT = `Gr\xc3\xbc\xc3\x9fe \n${'x'.repeat(74)}=${'y'.repeat(100)}\nJoe\n`
const QUOTED = `${PLAIN.slice(0, PLAIN.indexOf('Content-Transfer'))}Content-Transfer-Encoding: quoted-printable

Gr=C3=BC=C3=9Fe=20
${'x'.repeat(74)}=
=3D${'y'.repeat(72)}=
${'y'.repeat(28)}
Joe
`

const QUOTED_PARTS = MULTI.replaceAll(
  /(Content-Type: text\/.*)/g,
  '$1; charset=utf-8\nContent-Transfer-Encoding: quoted-printable',
)
  .replace('\nHello', '\nGr=C3=BC')
  .replace('<p>Hello', '<p>Gr=C3=BC')

const usual = (name: string): string => name.replace(/\b(?:(?:mime|id)\b|[a-z])/g, (part) => part.toUpperCase())

type Case = {
  readonly name: string
  readonly message?: string
  readonly signing?: Partial<Signing>
  readonly change?: (text: string) => string
  readonly zone?: LabZone
  readonly at?: string
  readonly result?: string
  /** The id of the cause; of both, when two things changed. */
  readonly cause: string | readonly string[]
  readonly says?: RegExp
}

const CASES: readonly Case[] = [
  {
    name: 'the number of a ticket system behind the subject',
    change: (text) => text.replace('Subject: Minutes', 'Subject: Minutes [#4711]'),
    cause: 'change.subject_tag',
    says: /"\[#4711\]" was put behind the subject/,
  },
  {
    name: 'a word in front of the subject, in any language',
    change: (text) => text.replace('Subject: Minutes', 'Subject: Werbung: Minutes'),
    cause: 'change.subject_tag',
    says: /"Werbung:" was put in front of the subject/,
  },
  {
    name: 'the name of a recipient that is its address',
    message: PLAIN8.replace('To: list@b.example', 'To: <list@b.example>'),
    change: (text) => text.replace('To: <list@b.example>', 'To: "list@b.example" <list@b.example>'),
    cause: 'change.rewritten',
    says: /To .*another form/,
  },
  {
    name: 'quotes around the name of the author that were lost',
    message: PLAIN8.replace('From: Joe', 'From: "Joe"'),
    change: (text) => text.replace('From: "Joe"', 'From: Joe'),
    cause: 'change.rewritten',
    says: /From .*another form/,
  },
  {
    name: 'quotes that were added to one of two names',
    message: PLAIN8.replace('To: list@b.example', 'To: List <list@b.example>, Eve <eve@b.example>'),
    change: (text) => text.replace('To: List <list@b.example>, Eve', 'To: "List" <list@b.example>, "Eve"'),
    cause: 'change.rewritten',
    says: /To .*another form/,
  },
  {
    name: 'the name of a zone that was taken out of the date',
    message: PLAIN8.replace('+0000\n', '+0000 (GMT)\n'),
    change: (text) => text.replace(' (GMT)', ''),
    cause: 'change.rewritten',
    says: /Date .*another form/,
  },
  {
    name: 'a charset in capitals and quotes',
    change: (text) => text.replace('charset=utf-8', 'charset="UTF-8"'),
    cause: 'change.rewritten',
    says: /Content-Type .*another form/,
  },
  {
    name: 'a parameter that was added to the type',
    change: (text) => text.replace('charset=utf-8', 'charset=utf-8; format=flowed'),
    cause: 'change.rewritten',
    says: /Content-Type .*another form/,
  },
  {
    name: 'a byte order mark',
    change: (text) => body(text, (one) => `\xef\xbb\xbf${one}`),
    cause: 'change.bom',
  },
  {
    name: 'an empty line behind every line',
    change: (text) => body(text, (one) => one.replaceAll('\r\n', '\r\n\r\n')),
    cause: 'change.lines_doubled',
  },
  {
    name: 'a footer in text that is base64, encoded anew',
    message: BASE64('Hello, these are the minutes of the last meeting, and there is nothing else.\r\nJoe\r\n'),
    change: (text) =>
      body(text, (one) => crlf(base64(`${Buffer.from(one, 'base64').toString()}-- \r\nlist mailing list\r\n`))),
    cause: 'change.footer',
    says: /2 lines were added at the end.*list mailing list/,
  },
  {
    name: 'a banner behind <body>, in the same line',
    message: HTML,
    change: (text) => text.replace('<body>', '<body><div style="x">External <b>message</b></div>'),
    cause: 'change.markup_added',
    says: /at the beginning of the body \(HTML\).*External/,
  },
  {
    name: 'a banner behind <body>, in lines of its own',
    message: HTML,
    change: (text) => text.replace('<body>', '<body>\r\n<table><tr><td>External</td></tr></table>\r\n'),
    cause: 'change.markup_added',
  },
  {
    name: 'a picture before </body>',
    message: HTML,
    change: (text) => text.replace('</body>', '<img src="https://c.example/p" width="1"></body>'),
    cause: 'change.markup_added',
    says: /at the end of the body \(HTML\)/,
  },
  {
    name: 'a disclaimer in the plain text and in the HTML',
    message: MULTI,
    change: (text) =>
      text
        .replace('Hello\r\n--in', 'Hello\r\n_____\r\nConfidential\r\n--in')
        .replace('<p>Hello', '<p>Hello<hr><p>Confidential</p>'),
    cause: 'change.markup_added',
    says: /at the end of the body \(HTML\).*Confidential/,
  },
  {
    name: 'a footer',
    change: (text) => text + footer,
    cause: 'change.footer',
    says: /3 lines were added.*list mailing list/,
  },
  {
    name: 'a footer, simple',
    signing: { canonicalization: 'simple/simple' },
    change: (text) => text + footer,
    cause: 'change.footer',
  },
  {
    name: 'a banner',
    change: (text) => body(text, (one) => `CAUTION: external\r\n\r\n${one}`),
    cause: 'change.banner',
  },
  {
    name: 'a footer as a part',
    message: MULTI.replace('alternative', 'mixed'),
    change: (text) => text.replace('--in--', `--in\r\nContent-Type: text/plain\r\n\r\n${footer}--in--`),
    cause: 'change.part_added',
    says: /list mailing list|___/,
  },
  {
    name: 'a message that a list wrapped',
    message: MULTI,
    change: (text) =>
      body(
        text.replace(
          'Content-Type: multipart/alternative; boundary="in"',
          'Content-Type: multipart/mixed; boundary="out"',
        ),
        (one) =>
          `--out\r\nContent-Type: multipart/alternative; boundary="in"\r\n\r\n${one}\r\n--out\r\nContent-Type: text/plain\r\n\r\n${footer}--out--\r\n`,
      ),
    cause: 'change.wrapped',
  },
  {
    name: 'a subject tag',
    change: (text) => text.replace('Subject: ', 'Subject: [list] '),
    cause: 'change.subject_tag',
    says: /"\[list\]"/,
  },
  {
    name: 'a spam tag',
    change: (text) => text.replace('Subject: ', 'Subject: ***SPAM*** '),
    cause: 'change.subject_tag',
  },
  {
    name: 'a footer and a subject tag',
    change: (text) => text.replace('Subject: ', 'Subject: [list] ') + footer,
    cause: ['change.footer', 'change.subject_tag'],
  },
  {
    name: '8bit to 7bit',
    change: (text) => body(text, qp).replace('Encoding: 8bit', 'Encoding: quoted-printable'),
    signing: { names: ['from', 'to', 'subject', 'date'] },
    cause: 'change.reencoded_body',
    says: /8BITMIME/,
  },
  {
    name: '8bit to 7bit, the encoding signed',
    change: (text) => body(text, qp).replace('Encoding: 8bit', 'Encoding: quoted-printable'),
    cause: ['change.reencoded_body', 'change.reencoded'],
  },
  {
    name: 'a re-encoded body',
    change: (text) =>
      body(text, (one) => `${Buffer.from(one, 'latin1').toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`).replace(
        'Encoding: 8bit',
        'Encoding: base64',
      ),
    signing: { names: ['from', 'subject'] },
    cause: 'change.reencoded_body',
    says: /base64/,
  },
  {
    name: 'quoted-printable that became base64',
    message: QUOTED,
    signing: { names: ['from', 'subject'] },
    change: (text) =>
      body(text, () => crlf(base64Octets(crlf(QUOTED_TEXT)))).replace('Encoding: quoted-printable', 'Encoding: base64'),
    cause: 'change.reencoded_body',
    says: /it was quoted-printable, and is base64/,
  },
  {
    name: 'quoted-printable with other line breaks',
    message: QUOTED,
    change: (text) => body(text, (one) => one.replace('=\r\n=3D', '=3D=\r\n')),
    cause: 'change.reencoded_body',
    says: /encoded anew after signing \(quoted-printable\)/,
  },
  {
    name: 'parts in quoted-printable that a gateway decoded',
    message: QUOTED_PARTS,
    change: (text) => text.replaceAll('quoted-printable', '8bit').replaceAll('=C3=BC', '\xc3\xbc'),
    cause: 'change.reencoded_body',
    says: /it was quoted-printable, and is 8bit/,
  },
  {
    name: 'parts in quoted-printable that became base64',
    message: QUOTED_PARTS,
    change: (text) =>
      text
        .replaceAll('quoted-printable', 'base64')
        .replace('Gr=C3=BC', base64Octets('Gr\xc3\xbc').trim())
        .replace('<p>Gr=C3=BC', base64Octets('<p>Gr\xc3\xbc').trim()),
    cause: 'change.reencoded_body',
    says: /it was quoted-printable, and is base64/,
  },
  {
    name: 'base64 in lines of another length',
    message: BASE64('Hello, these are the minutes of the last meeting, and there is nothing else.'),
    change: (text) => body(text, (one) => one.replace(/\r\n/g, '').replace(/.{64}(?=.)/g, '$&\r\n')),
    cause: 'change.reencoded_body',
    says: /encoded anew after signing \(base64\)/,
  },
  {
    name: 'quoted-printable that a gateway decoded',
    message: QUOTED,
    signing: { names: ['from', 'subject'] },
    change: (text) => body(text, () => crlf(QUOTED_TEXT)).replace('Encoding: quoted-printable', 'Encoding: 8bit'),
    cause: 'change.reencoded_body',
    says: /it was quoted-printable, and is 8bit/,
  },
  {
    name: 'a byte order mark that was lost',
    message: body(PLAIN8.replaceAll('\n', '\r\n'), (one) => `\xef\xbb\xbf${one}`),
    change: (text) => text.replace('\xef\xbb\xbf', ''),
    cause: 'change.bom_lost',
  },
  {
    name: 'a date in another zone',
    change: (text) => text.replace('Mon, 23 Nov 2026 09:00:00 +0000', 'Mon, 23 Nov 2026 01:00:00 -0800'),
    cause: 'change.rewritten',
    says: /Date .*another form/,
  },
  {
    name: 'a list that wrote itself into the name of the author',
    change: (text) => text.replace('From: Joe <', 'From: Joe via list <'),
    cause: 'change.rewritten',
    says: /From .*another form/,
  },
  {
    name: 'a Message-ID of a relay',
    change: (text) => text.replace('<1@a.example>', '<0102-000000@eu-west-1.relay-house.com>'),
    cause: 'change.header',
    says: /the Message-ID is of eu-west-1\.relay-house\.com, so a relay may have written it anew/,
  },
  {
    name: 'a field that servers replace is signed',
    message: `Return-Path: <joe@a.example>\n${PLAIN8}`,
    signing: { names: ['from', 'subject', 'return-path'] },
    change: (text) => text.replace('Return-Path: <joe@a.example>', 'Return-Path: <b@b.example>'),
    cause: 'change.header',
    says: /servers on the way replace Return-Path/,
  },
  {
    name: 'reordered header fields',
    change: (text) => text.replace('Comments: first\r\nComments: second', 'Comments: second\r\nComments: first'),
    signing: { names: ['from', 'subject', 'comments', 'comments'] },
    cause: 'change.reordered',
  },
  {
    name: 'fields of other names in another order are no change',
    change: (text) => text.replace(/(To: [^\r]*\r\n)(Subject: [^\r]*\r\n)/, '$2$1'),
    result: 'pass',
    cause: '',
  },
  {
    name: 'a field added that was signed as absent',
    signing: { names: ['from', 'subject', 'reply-to'] },
    change: (text) => text.replace('Subject:', 'Reply-To: list@b.example\r\nSubject:'),
    cause: 'change.field_added',
    says: /Reply-To/,
  },
  {
    name: 'resent, with Resent fields signed as absent',
    signing: { names: ['from', 'subject', 'resent-from'] },
    change: (text) => `Resent-From: eve@b.example\r\n${text}`,
    cause: 'change.field_added',
    says: /Resent-From/,
  },
  {
    name: 'an author that a list replaced',
    change: (text) =>
      text.replace(
        'From: Joe <joe@a.example>',
        'From: Joe via list <list@b.example>\r\nX-Original-From: Joe <joe@a.example>',
      ),
    cause: 'change.field_replaced',
    says: /x-original-from/,
  },
  {
    name: 'a recipient with a display name that a server wrote',
    change: (text) => text.replace('To: list@b.example', 'To: Anna <list@b.example>'),
    cause: 'change.rewritten',
    says: /the field To was written in another form/,
  },
  {
    name: 'a subject in another encoding',
    message: PLAIN8.replace('Subject: Minutes', 'Subject: =?utf-8?B?R3LDvMOfZQ==?='),
    change: (text) => text.replace('=?utf-8?B?R3LDvMOfZQ==?=', '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?='),
    cause: 'change.rewritten',
    says: /Subject was written in another encoding/,
  },
  {
    name: 'a field that is named and gone',
    message: PLAIN8.replace('Subject:', 'X-Ticket: 7\nSubject:'),
    signing: { names: ['from', 'subject', 'x-ticket'] },
    change: (text) => text.replace('X-Ticket: 7\r\n', ''),
    cause: 'change.field_removed',
    says: /X-Ticket/,
  },
  {
    name: 'links that Proofpoint rewrote',
    message: PLAIN8.replace('. and a line', 'see https://www.b.example/a_b?c=d now'),
    change: (text) =>
      text.replace(
        'https://www.b.example/a_b?c=d',
        'https://urldefense.com/v3/__https://www.b.example/a_b?c=d__;!!Mak6!OLX$',
      ),
    cause: 'change.links_rewritten',
    says: /were rewritten after signing by Proofpoint/,
  },
  {
    name: 'links that Microsoft rewrote',
    message: PLAIN8.replace('. and a line', 'see https://www.b.example/a_b?c=d now'),
    change: (text) =>
      text.replace(
        'https://www.b.example/a_b?c=d',
        'https://eur05.safelinks.protection.outlook.com/?url=https%3A%2F%2Fwww.b.example%2Fa_b%3Fc%3Dd&data=05&reserved=0',
      ),
    cause: 'change.links_rewritten',
    says: /rewritten after signing by Microsoft Safe Links/,
  },
  {
    name: 'links that FortiMail rewrote on a host of its customer',
    message: PLAIN8.replace('. and a line', 'see https://www.b.example/a_b?c=d now'),
    change: (text) =>
      text.replace(
        'https://www.b.example/a_b?c=d',
        'https://gate.c.example/fmlurlsvc/?fewReq=:B:JVE&url=https%3a%2f%2fwww.b.example%2fa_b%3fc%3dd',
      ),
    cause: 'change.links_rewritten',
    says: /were rewritten after signing by Fortinet/,
  },
  {
    name: 'rewritten links in base64',
    message: BASE64('see https://www.b.example/a now'),
    change: (text) =>
      body(text, () =>
        crlf(base64('see https://atpscan.global.hornetsecurity.com/?d=x&u=https%3A%2F%2Fwww.b.example now')),
      ),
    cause: 'change.links_rewritten',
    says: /it has links that Hornetsecurity/,
  },
  {
    name: 'rewritten links beside another change',
    message: PLAIN8.replace('. and a line', 'see https://www.b.example/a now'),
    change: (text) => text.replace('https://www.b.example/a now', 'https://protect-us.mimecast.com/s/0wSd/ then'),
    cause: 'change.links_rewritten',
    says: /the body was changed after signing; it has links that Mimecast/,
  },
  {
    name: 'blanks at the end of a line',
    signing: { canonicalization: 'relaxed/simple' },
    change: (text) => text.replace('. and a line', '. and a line  '),
    cause: 'change.space_added',
  },
  ...(
    [
      ['simple', (text) => text],
      ['simple', (text) => `${text}\n\r\n`.replace(/\n+\r\n$/, '\n\r\n')],
      ['relaxed', (text) => text.replace(/[ \t]+/g, ' ').replace(/ \n/g, '\n')],
      ['relaxed', (text) => `${text.replace(/[ \t]+/g, ' ')}\r\n`],
    ] as const satisfies readonly (readonly [string, (text: string) => string])[]
  ).map(
    ([how, hashed], i): Case => ({
      name: `a signature over LF, ${how} (${i})`,
      message: PLAIN8.replace('. and', '.  and'),
      signing: { canonicalization: `relaxed/${how}`, hashed: (text) => hashed(text.replaceAll('\r\n', '\n')) },
      cause: 'change.line_ends',
      says: /LF alone/,
    }),
  ),
  {
    name: 'a long line that a server broke',
    message: PLAIN8.replace('. and a line', 'x'.repeat(1_200)),
    change: (text) => text.replace('x'.repeat(990), `${'x'.repeat(990)}!\r\n `),
    cause: 'change.lines_broken',
  },
  {
    name: 'a signature over LF of a long text',
    message: PLAIN8 + 'A line of a long text, of which few forms can be tried.\n'.repeat(15_000),
    signing: { hashed: (text) => text.replaceAll('\r\n', '\n') },
    cause: 'change.line_ends',
  },
  ...['\r\n ', '\r\n\t', '!\r\n', '\r\n'].map(
    (broken): Case => ({
      name: `long lines broken by ${JSON.stringify(broken)}`,
      message: PLAIN8.replace('. and a line', 'x'.repeat(2_500)),
      change: (text) => text.replaceAll('x'.repeat(990), `${'x'.repeat(990)}${broken}`),
      cause: 'change.lines_broken',
    }),
  ),
  {
    name: 'a long line that was broken at a blank',
    message: PLAIN8.replace('. and a line', `${'x'.repeat(985)} ${'y'.repeat(300)}`),
    change: (text) => text.replace('x y', 'x\r\ny'),
    cause: 'change.lines_broken',
  },
  ...['\n', '\n\n'].map(
    (lost): Case => ({
      name: `the first empty lines of the body were lost: ${lost.length}`,
      message: PLAIN8.replace('\n\n', `\n\n${lost}`),
      change: (text) => text.replace(/(?:\r\n){3,}/, '\r\n\r\n'),
      cause: 'change.first_line_lost',
      says: /empty first line/,
    }),
  ),
  ...[
    ['</body></html>', '</body><img src="https://b.example/seen.gif"></html>'],
    ['</body></html>', '</body>Scanned by a gateway</html>'],
    ['</body></html>', '</body>\r\nScanned by a gateway\r\n</html>'],
    ['</body></html>', '</body></html><img src="https://b.example/seen.gif">'],
  ].map(
    ([was = '', is = '']): Case => ({
      name: `an addition to the end of HTML: ${JSON.stringify(is)}`,
      message: HTML,
      change: (text) => text.replace(was, is),
      cause: 'change.markup_added',
      says: /at the end of the body \(HTML\)/,
    }),
  ),
  {
    name: 'an addition before </html> of a page without </body>',
    message: HTML.replace('</body>', ''),
    change: (text) => text.replace('</html>', '<img src="https://b.example/seen.gif"></html>'),
    cause: 'change.markup_added',
  },
  ...[
    ['Message-ID', 'Message-Id'],
    ['MIME-Version', 'Mime-Version'],
    ['Content-Type', 'Content-type'],
    ['Subject', 'SUBJECT'],
  ].map(
    ([was = '', is = '']): Case => ({
      name: `c=simple, and the name of a field written in another way: ${is}`,
      signing: { canonicalization: 'simple/relaxed' },
      message: PLAIN8.replace(was, is),
      change: (text) => text.replace(`\n${is}`, `\n${was}`),
      cause: 'change.renamed',
      says: new RegExp(`it was ${is}`),
    }),
  ),
  {
    name: 'c=simple, and the names of all fields written in another way',
    signing: { canonicalization: 'simple/relaxed' },
    message: PLAIN8.replace(/^(?!From here)[\w-]+:/gm, (name) => name.toLowerCase()),
    change: (text) => text.replace(/^(?!dkim)[\w-]+:/gm, (name) => usual(name)),
    cause: 'change.renamed',
    says: /names of header fields/,
  },
  {
    name: 'a Content-Type in other quotes',
    change: (text) => text.replace('charset=utf-8', 'charset="utf-8"'),
    cause: 'change.rewritten',
    says: /Content-Type was written in another form/,
  },
  {
    name: 't=s and an identity of a subdomain',
    signing: { tags: 'i=@news.a.example' },
    zone: { ...ZONE, 'a._domainkey.a.example': { TXT: [LAB_KEY.replace('v=DKIM1;', 'v=DKIM1; t=s;')] } },
    result: 'permerror',
    cause: 'signature.strict_identity',
    says: /t=s/,
  },
  {
    name: 'an alias that leads nowhere',
    signing: { selector: 'c' },
    zone: { ...ZONE, 'c._domainkey.a.example': { CNAME: ['c.dkim.b.example'] } },
    result: 'permerror',
    cause: 'signature.key_dangling',
    says: /c\.dkim\.b\.example, which does not exist/,
  },
  { name: 'an mbox', change: (text) => text.replace('\r\nFrom here', '\r\n>From here'), cause: 'change.from_escaped' },
  {
    name: 'the key is gone',
    signing: { selector: 'gone' },
    result: 'permerror',
    cause: 'signature.key_gone',
    says: /gone\._domainkey\.a\.example/,
  },
  { name: 'the key is revoked', signing: { selector: 'revoked' }, result: 'permerror', cause: 'signature.key_revoked' },
  {
    name: 'the key was rotated',
    zone: { ...ZONE, 'a._domainkey.a.example': { TXT: [OTHER_KEY] } },
    cause: 'signature.other_key',
  },
  {
    name: 'the wrong selector',
    signing: { selector: 'b' },
    zone: {
      ...ZONE,
      'b._domainkey.a.example': { TXT: [OTHER_KEY] },
      'default._domainkey.a.example': { TXT: [LAB_KEY] },
    },
    cause: 'signature.other_selector',
    says: /"default"/,
  },
  {
    name: 'the wrong selector, without a key',
    signing: { selector: 'b' },
    zone: { ...ZONE, 'default._domainkey.a.example': { TXT: [LAB_KEY] } },
    result: 'permerror',
    cause: 'signature.other_selector',
  },
  {
    name: 'a revoked key, beside one that made the signature',
    signing: { selector: 'revoked' },
    zone: { ...ZONE, 'default._domainkey.a.example': { TXT: [LAB_KEY] } },
    result: 'permerror',
    cause: 'signature.other_selector',
    says: /not with the one at revoked\._domainkey/,
  },
  {
    name: 'a key of another type',
    zone: { ...ZONE, 'a._domainkey.a.example': { TXT: [ED_KEY] } },
    result: 'permerror',
    cause: 'signature.key_type',
  },
  {
    name: 'l= with added text passes',
    signing: { tags: 'l=20' },
    change: (text) => text + footer,
    result: 'pass',
    cause: '',
  },
  {
    name: 'l=0 passes whatever the body is',
    signing: { tags: 'l=0' },
    change: (text) => body(text, () => 'other\r\n'),
    result: 'pass',
    cause: '',
  },
  { name: 'l= beyond the body', signing: { tags: 'l=9999' }, cause: 'signature.body_short' },
  { name: 'expired', signing: { tags: 't=1700000000; x=1700000100' }, result: 'policy', cause: 'signature.expired' },
  {
    name: 'expired, and with a footer',
    signing: { tags: 't=1700000000; x=1700000100' },
    change: (text) => text + footer,
    cause: ['change.footer', 'signature.expired'],
    says: /3 lines were added .*; the signature expired at 2023-11-14/,
  },
  {
    name: 'not yet expired at its time, and with a footer',
    signing: { tags: 't=1700000000; x=1700000100' },
    change: (text) => text + footer,
    at: '2023-11-14T22:14:00Z',
    cause: 'change.footer',
  },
  {
    name: 'not yet expired at its time',
    signing: { tags: 't=1700000000; x=1700000100' },
    at: '2023-11-14T22:14:00Z',
    result: 'pass',
    cause: '',
  },
  {
    name: 'a field that a gateway removed, with the value that all messages have',
    change: (text) => text.replace('MIME-Version: 1.0\r\n', ''),
    cause: 'change.field_removed',
    says: /names MIME-Version/,
  },
  {
    name: 'an addition before </body>, which was written in the other case, too',
    message: HTML,
    change: (text) => text.replace('</body></html>', '<div>Scanned by a gateway</div></BODY></HTML>'),
    cause: 'change.markup_added',
    says: /Scanned by a gateway/,
  },
  {
    name: 'another character set',
    change: (text) =>
      body(text, (one) => Buffer.from(one, 'latin1').toString('utf8')).replace('charset=utf-8', 'charset=iso-8859-1'),
    cause: ['change.recoded', 'change.rewritten'],
    says: /from the character set utf-8 to iso-8859-1/,
  },
  {
    name: 'a gateway that signs with S/MIME',
    message: MULTI,
    change: (text) => {
      const at = text.indexOf('Content-Type')
      return `${text.slice(0, at)}Content-Type: multipart/signed; boundary="s"\r\n\r\n--s\r\n${text.slice(at)}\r\n--s\r\nContent-Type: application/pkcs7-signature\r\n\r\nMIIB\r\n--s--\r\n`
    },
    cause: 'change.wrapped',
    says: /multipart\/signed\) after signing, as gateways for PGP or S\/MIME do/,
  },
  {
    name: 'a gateway that encrypts',
    signing: { names: ['from', 'subject'] },
    change: (text) =>
      body(text, () => '--p\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n--p--\r\n').replace(
        'text/plain; charset=utf-8',
        'multipart/encrypted; boundary="p"',
      ),
    cause: 'change.encrypted',
    says: /encrypted \(multipart\/encrypted\)/,
  },
  {
    name: 'two keys at the selector',
    zone: { ...ZONE, 'a._domainkey.a.example': { TXT: [OTHER_KEY, LAB_KEY] } },
    cause: 'signature.other_key',
    says: /several keys .*receivers may take any/,
  },
  {
    name: 'a disclaimer in both parts, which are base64',
    message: BASE64_PARTS('Hello\n', '<body><p>Hello</body>\n'),
    change: () =>
      crlf(
        `${signed(BASE64_PARTS('Hello\n', '<body><p>Hello</body>\n'), { domain: 'a.example' }).split('\r\n\r\n')[0]}${BASE64_PARTS('Hello\n\nConfidential\n', '<body><p>Hello<p>Confidential</p></body>\n').slice(BASE64_PARTS('', '').indexOf('\n\n'))}`,
      ),
    cause: 'change.markup_added',
    says: /Confidential/,
  },
  {
    name: 'a footer in the plain text of two parts alone',
    message: MULTI,
    change: (text) => text.replace('Hello\r\n--in', 'Hello\r\n___\r\nSent by a gateway\r\n--in'),
    cause: 'change.footer',
    says: /2 lines were .*Sent by a gateway/,
  },
  {
    name: 'a banner in the plain text of two parts alone',
    message: MULTI,
    change: (text) => text.replace('\r\n\r\nHello', '\r\n\r\nFrom outside\r\nHello'),
    cause: 'change.banner',
    says: /From outside/,
  },
  {
    name: 'a footer behind the HTML of two parts',
    message: MULTI,
    change: (text) => text.replace('<p>Hello\r\n', '<p>Hello\r\n<p>Sent by a gateway\r\n'),
    cause: 'change.markup_added',
    says: /Sent by a gateway/,
  },
  {
    name: 'a day without its zero',
    message: PLAIN8.replace('23 Nov', '03 Nov'),
    change: (text) => text.replace('03 Nov', '3 Nov'),
    cause: 'change.rewritten',
    says: /Date/,
  },
  ...[
    ['https://url.de.m.mimecastprotect.com/s/a1?domain=b.example', /Mimecast/],
    ['https://clicktime.symantec.com/1a?u=https%3A%2F%2Fb.example%2F', /by Symantec/],
    ['https://url.avanan.click/v2/r01/___https://b.example/___.YXA', /by Check Point/],
    ['https://eu01.l.antigena.com/l/abc', /Darktrace/],
    ['https://links.eu1.defend.egress.com/Warning?crId=1', /KnowBe4/],
  ].map(
    ([link, says]): Case => ({
      name: `a link that was rewritten: ${link}`,
      message: PLAIN8.replace('a dot', 'https://b.example/'),
      change: (text) => text.replace('https://b.example/', String(link)),
      cause: 'change.links_rewritten',
      says: says as RegExp,
    }),
  ),
  {
    name: 'a list that converted 8-bit text to base64 and added a footer',
    signing: { names: ['from', 'subject'] },
    change: (text) =>
      body(text, (one) => crlf(base64Octets(`${one}____\r\nTalk mailing list\r\n`))).replace('8bit', 'base64'),
    cause: ['change.reencoded_body', 'change.footer'],
    says: /to base64 .*2 lines were .*Talk mailing list/,
  },
  {
    name: 'a banner with its own style',
    message: HTML,
    change: (text) => text.replace('<body>', '<body><style>.x{color:red}</style><div class="x">Outside</div>'),
    cause: 'change.markup_added',
    says: /"Outside"/,
  },
  { name: 'a change that nobody can name', change: (text) => text.replace('Minutes', 'Hours'), cause: 'change.header' },
  {
    name: 'a signature that somebody shortened',
    change: (text) => text.replace(/b=[A-Za-z0-9+/=]{40,}/, 'b=...'),
    result: 'unknown',
    cause: 'signature.copied',
  },
  {
    name: 'a body change that nobody can name',
    change: (text) => text.replace('aus K', 'aus B'),
    cause: 'change.body',
  },
]

const idsOf = ({ subject, table }: { readonly subject: string; readonly table: object }): readonly string[] =>
  Object.keys(table).map((id) => `${subject}.${id}`)

async function verified({
  message = PLAIN8,
  signing = {},
  change = (text) => text,
  zone = ZONE,
  at = '2026-11-23T10:00:00Z',
}: Case) {
  const text = change(signed(message, { domain: 'a.example', ...signing }))
  const ctx = { ...HERE, resolve: labDns(zone).resolve, now: () => Date.parse(at) }
  return analyse(Buffer.from(text, 'latin1'), ctx, BY)
}

describe('the cause of a failed signature', () => {
  it.each(CASES.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    const [one] = (await verified(row)).dkim
    const because = one?.because
    const inner = [because?.values.first, because?.values.second].flatMap((part) =>
      typeof part === 'object' && 'id' in part ? [part.id] : [],
    )
    const ids = inner.length > 0 ? inner : because ? [because.id] : []
    expect([one?.result, ...ids]).toEqual([row.result ?? 'fail', ...[row.cause].flat().filter((id) => id !== '')])
    if (row.says) expect(because?.text).toMatch(row.says)
  })
  it.each([...idsOf(signatureProblem), ...idsOf(causeProblem)])('has one line of advice: %s', (id) => {
    expect(ADVICE).toHaveProperty([id])
  })
  it('a forwarded message is not the fault of its sender', async () => {
    const text = crlf(`Return-Path: <SRS0=x=y=a.example=joe@b.example>
Received: from mx.b.example (mx.b.example [45.53.7.7]) by mx.c.example with ESMTPS; Mon, 23 Nov 2026 09:00:09 +0000
Authentication-Results: mx.c.example; spf=none
`)
    const ctx = {
      ...HERE,
      resolve: labDns(ZONE).resolve,
      now: () => Date.parse('2026-11-23T10:00:00Z'),
    }
    const facts = await analyse(Buffer.from(text + signed(PLAIN8, { domain: 'a.example' }), 'latin1'), ctx, BY)
    expect([facts.spf?.result, facts.dmarc.result, facts.dmarc.alignedBy]).toEqual(['none', 'pass', ['dkim']])
    expect(judgeMessage(facts).map(({ id }) => id)).toContain('message.spf_forwarded')
    expect(judgeMessage(facts).map(({ id }) => id)).not.toContain('message.spf_failed')
  })
})
