import fc from 'fast-check'
import { AppError } from '../../src/base/errors.ts'
import { printable } from '../../src/base/text.ts'
import { parseDuration } from '../../src/base/time.ts'
import { parseBimi } from '../../src/checks/bimi/parse.ts'
import { readSvg } from '../../src/checks/bimi/svg.ts'
import { parseIssuer } from '../../src/checks/caa/index.ts'
import { readKey } from '../../src/checks/dkim/key.ts'
import { parseKeyRecord } from '../../src/checks/dkim/parse.ts'
import { mendDmarc } from '../../src/checks/dmarc/mend.ts'
import { parseDmarc } from '../../src/checks/dmarc/parse.ts'
import { parseReportUris } from '../../src/checks/dmarc/uri.ts'
import { parseStsRecord } from '../../src/checks/mta-sts/parse.ts'
import { parseStsPolicy } from '../../src/checks/mta-sts/policy.ts'
import { looksGeneric } from '../../src/checks/ptr/generic.ts'
import { mend } from '../../src/checks/spf/mend.ts'
import { parseSpf } from '../../src/checks/spf/parse.ts'
import { parseTlsRpt } from '../../src/checks/tls-rpt/index.ts'
import { escapeMarkdown, fence, inlineCode } from '../../src/documents/markdown/markdown.ts'
import { parseHostField } from '../../src/http/caller.ts'
import { readList } from '../../src/jobs/intake/intake.ts'
import { classify } from '../../src/mailbox/reply/classify.ts'
import { retryAfter } from '../../src/mailbox/reply/delay.ts'
import { suggestDomain } from '../../src/mailbox/side-data/suggest.ts'
import { parseAddresses } from '../../src/message/addresses.ts'
import { outline } from '../../src/message/outline.ts'
import { verify } from '../../src/message/verify.ts'
import { parseCidr } from '../../src/names/cidr.ts'
import { parseDomain } from '../../src/names/domain.ts'
import { formatEmail, parseEmail } from '../../src/names/email.ts'
import { ip, parseIp } from '../../src/names/ip.ts'
import { registrableDomain } from '../../src/names/suffix.ts'
import { dataOf, decodeMessage } from '../../src/net/dns/decode.ts'
import { interpret } from '../../src/net/dns/interpret.ts'
import { parseRecordLine } from '../../src/net/dns/record-text.ts'
import { type RecordType, TYPE_CODES } from '../../src/net/dns/resolver.ts'
import { parseResolvConf, parseServer } from '../../src/net/dns/system.ts'
import { parseZone } from '../../src/net/dns/zone-text.ts'
import { parseCapabilities } from '../../src/net/smtp/commands.ts'
import { type ReplyEvent, replyReader, type Stage } from '../../src/net/smtp/reply.ts'
import { readSelectors } from '../../src/operations/params.ts'
import { parseProof } from '../../src/peers/proof.ts'
import { parseOrigin, readPeers } from '../../src/peers/record.ts'
import { heavyHere } from '../lab/heavy.ts'
import { LAB_KEY } from '../lab/messages.ts'
import { broken, dnsMessage, name, replyText, smtpReplies, tags, words } from './arbitraries.ts'

/**
 * Something of ours that reads text from outside. `run` gives what was made of it, whose JSON has at most `growth` ×
 * the input + 16 KiB; `Expected` failures aside it must not throw.
 */
export type Target = {
  readonly name: string
  readonly input: fc.Arbitrary<string>
  readonly run: (input: string) => unknown
  readonly growth: number
  /** Read as a stream, a piece at a time: the budget of processor time grows with the input, ms for 1 KiB. */
  readonly msPerKiB?: number
}

/** A property that does not hold. */
export class Broken extends Error {}
const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Broken(what)
}
const target = (name: string, input: fc.Arbitrary<string>, run: Target['run'], growth = 16): Target => ({
  name,
  input: broken(input),
  run,
  growth,
})
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** The largest answer that one DNS name with its escapes has in text. */
const MAX_NAME_TEXT = 255 * 4
function decode(input: string): unknown {
  const read = decodeMessage(bytes(input))
  if (!read.ok) return read
  const all = [...read.value.answers, ...read.value.authority, ...read.value.additional]
  must(
    all.every(({ name }) => name.length <= MAX_NAME_TEXT),
    'a name is longer than names can be',
  )
  const types = Object.keys(TYPE_CODES) as RecordType[]
  return all.map((record) => {
    const type = types.find((one) => TYPE_CODES[one] === record.type)
    return [record.name, record.ttlSeconds, type ? dataOf(read.value, record, type) : record.end - record.start]
  })
}

function interpreted(input: string): unknown {
  const read = decodeMessage(bytes(input))
  if (!read.ok) return undefined
  return interpret(read.value, read.value.question?.name ?? 'a.example', 'TXT')
}

/** The same bytes in pieces give the same replies, and what is kept is bounded. */
function replies(input: string): unknown {
  const octets = bytes(input)
  const whole = replyReader()
  const events = whole.feed(octets)
  must(whole.pending() <= 64 * 1024 + 512, 'more is kept of a reply than may be')
  const piecewise = replyReader()
  const step = 1 + (input.length % 7)
  const parts = []
  for (let at = 0; at < octets.length; at += step) parts.push(...piecewise.feed(octets.subarray(at, at + step)))
  // The words of a problem name what had come by then.
  const told = (all: readonly ReplyEvent[]): string => JSON.stringify(all.map(({ reply }) => reply ?? null))
  must(told(parts) === told(events), 'pieces give other replies than the whole')
  for (const { reply } of events) {
    if (!reply) continue
    must(reply.code >= 200 && reply.code < 600, 'a code that is none')
    must(reply.lines.length <= 100, 'more than 100 lines')
  }
  return events
}

const STAGES: readonly Stage[] = ['banner', 'ehlo', 'mail', 'rcpt', 'rset']
function classified(input: string): unknown {
  const stage = STAGES[input.length % STAGES.length]!
  const code = Number(input.slice(0, 3))
  if (!/^[2-5]\d\d /.test(input)) return undefined
  const verdict = classify({
    stage,
    reply: {
      code,
      lines: input
        .slice(4)
        .split('\n', 100)
        .map((line) => line.slice(0, 512)),
    },
  })
  if (verdict.reason === 'mailbox_not_found')
    must(code >= 400 && stage === 'rcpt', 'no such mailbox by a word that is none')
  if (verdict.reason === 'mailbox_exists') must(code >= 200 && code < 300, 'accepted without a yes')
  return verdict
}

async function listed(input: string, contentType: string): Promise<unknown> {
  async function* upload(): AsyncIterable<Uint8Array> {
    const all = Buffer.from(input)
    const step = 512 + (input.length % 97) * 13
    for (let at = 0; at < all.length; at += step) yield all.subarray(at, at + step)
  }
  const rows = []
  let before = 0
  try {
    for await (const row of readList(upload(), { kind: 'verify', contentType, bounds: { maxUpload: 1 << 20 } })) {
      must(row.line >= before, 'lines go back')
      before = row.line
      rows.push(row)
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code
  }
  return rows
}

function zone(input: string): unknown {
  const read = parseZone(input, 'a.example')
  if (!read.ok) return read
  must(
    read.value.records.every(({ name }) => name.length <= MAX_NAME_TEXT),
    'a name is longer than names can be',
  )
  return read.value.records.length
}

function spf(input: string): unknown {
  const read = parseSpf(input)
  const mended = mend(input)
  if (mended.ok) for (const record of mended.value.records) JSON.stringify(record)
  return read
}

function dkim(input: string): unknown {
  const read = parseKeyRecord(input)
  return read.ok ? readKey(read.value).state : read
}

function dmarc(input: string): unknown {
  const read = parseDmarc(input)
  const mended = mendDmarc(input)
  return [read, mended]
}

function email(input: string): unknown {
  const read = parseEmail(input)
  if (!read.ok) return read
  const shown = formatEmail(read.value)
  must(!/[\r\n\0]/.test(shown), 'an address with a line end')
  const again = parseEmail(shown)
  must(again.ok && formatEmail(again.value) === shown, 'an address that is not read back as it is shown')
  return shown
}

function domainText(input: string): unknown {
  const read = parseDomain(input)
  if (!read.ok) return read
  must(/^[a-z0-9_.-]{1,253}$/.test(read.value), 'a domain with other characters')
  must(parseDomain(read.value).ok, 'a domain that is not read back')
  return [read.value, registrableDomain(read.value), suggestDomain(read.value)]
}

function ipText(input: string): unknown {
  const read = parseIp(input)
  if (!read.ok) return read
  must(/^[0-9a-f.:]+$/.test(read.value), 'an address with other characters')
  const again = parseIp(read.value)
  must(again.ok && again.value === read.value, 'an address that is not read back')
  return read.value
}

/** What is shown has neither control nor hiding characters, and no HTML or table of its own. */
function shown(input: string): unknown {
  const text = printable(input, 512)
  must(text.length <= 512 + 1, 'longer than it may be')
  must(!/[\u0000-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]/.test(text), 'characters that hide')
  const markdown = escapeMarkdown(text)
  must(!/(?<!\\)[<|`]/.test(markdown), 'Markdown that is not escaped')
  return [markdown, inlineCode(text), fence(text)]
}

const FIELDS = [
  'joe@a.example',
  '"a@b"',
  'not an address',
  '=cmd()',
  '',
  '"two\nlines"',
  '"open',
  'x'.repeat(80),
  '{"email":"a@b.example"}',
  '[',
  ']',
  'null',
  '1',
]
const ROWS = words(FIELDS, [',', ';', '\t', '\n', '\r\n', '|', '"', ': '], 30)
const PEERS = fc
  .array(
    fc.record(
      {
        id: name,
        url: fc.constantFrom('https://n.example', 'http://x', 'https://a.example/p?q', ''),
        addresses: fc.array(fc.constantFrom('203.0.113.7', 'x', '::1'), { maxLength: 4 }),
      },
      { requiredKeys: [] },
    ),
    { maxLength: 4 },
  )
  .map((peers) => JSON.stringify(peers))

const MESSAGES = words(
  [
    'From: joe@a.example',
    'From: "Joe" <joe@a.example>, eve@b.example',
    'Subject: [list] =?utf-8?q?a?=',
    'Received: from a.example (a.example [192.0.2.1]) by mx.b.example; Mon, 23 Nov 2026 09:00:00 +0000',
    'Authentication-Results: mx.b.example; dkim=pass header.d=a.example; "',
    'Received-SPF: pass (x) client-ip=192.0.2.1; receiver=mx.b.example',
    'DKIM-Signature: v=1; a=rsa-sha256; d=a.example; s=a; h=from:subject; bh=AAAA; b=AAAA',
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; l=1; d=a.example; s=a; h=from; bh=AAAA; b=AAAA',
    'ARC-Seal: i=1; a=rsa-sha256; d=a.example; s=a; cv=none; b=AAAA',
    'ARC-Message-Signature: i=1; a=rsa-sha256; d=a.example; s=a; h=from; bh=AAAA; b=AAAA',
    'ARC-Authentication-Results: i=1; b.example; spf=pass',
    'Content-Type: multipart/mixed; boundary=x',
    'Content-Type: text/html; charset="utf-8"; name*0*=utf-8\'\'%41; name*1=b',
    'Content-Transfer-Encoding: quoted-printable',
    'Content-Disposition: attachment; filename="a.exe"',
    '--x',
    '--x--',
    'https://www.a.example/',
    '',
  ],
  ['\r\n', '\n', '\r\n\r\n', '\r\n ', '\r', ''],
  30,
)

/** Everything that reads what others wrote. */
export const TARGETS: readonly Target[] = [
  target('dns message', dnsMessage, decode, 64),
  target('dns answer', dnsMessage, interpreted, 64),
  { ...target('smtp replies', smtpReplies, replies, 16), msPerKiB: 1 }, // an octet at a time too
  target('smtp capabilities', smtpReplies, (text) => [
    ...parseCapabilities(text.split('\r\n', 100).map((line) => line.slice(0, 512))),
  ]),
  target('smtp verdict', replyText, classified),
  target('retry after', replyText, retryAfter),
  target(
    'spf',
    tags(
      'v=spf1 ',
      [
        'a',
        'mx',
        'ip4:192.0.2.0/24',
        'ip6:2001:db8::/32',
        'include:_spf.a.example',
        'exists:%{ir}.%{v}.x.example',
        'ptr',
        'redirect=b.example',
        'exp=e.example',
        '?all',
        '-all',
        '~all',
        '+all',
        'a/0//0',
        'ip4:',
        'a:%{d1r-.}',
        'v=spf1',
      ],
      [' ', ' ', '  ', ';', ', ', ''],
    ),
    spf,
    64,
  ),
  target(
    'dkim',
    tags('v=DKIM1; ', [
      'k=rsa',
      'k=ed25519',
      'p=',
      'p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7',
      'p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      't=y',
      't=y:s',
      'h=sha256',
      's=email',
      'n=note',
      'g=*',
    ]),
    dkim,
  ),
  target(
    'dmarc',
    tags('v=DMARC1; ', [
      'p=none',
      'p=reject',
      'p=quarantine',
      'sp=none',
      'np=reject',
      'pct=50',
      'rua=mailto:a@b.example',
      'rua=mailto:a@b.example!10m,mailto:c@d.example',
      'ruf=https://x',
      'adkim=s',
      'aspf=r',
      'fo=1:d',
      't=y',
      'psd=n',
      'ri=3600',
    ]),
    dmarc,
    64,
  ),
  target(
    'dmarc addresses',
    words(['mailto:a@b.example', 'mailto:a%2Cb@c.example!5m', 'http://x', '!1', 'a@b'], [',', ', ', ' '], 30),
    parseReportUris,
    64,
  ),
  target('mta-sts record', tags('v=STSv1; ', ['id=20260101', 'id=', 'x=y', 'id=a;b']), parseStsRecord),
  target(
    'mta-sts policy',
    words(
      [
        'version: STSv1',
        'mode: enforce',
        'mode: testing',
        'max_age: 604800',
        'max_age: -1',
        'mx: *.example',
        'mx: mx.a.example',
        'x: y',
      ],
      ['\r\n', '\n', '\r', ' '],
      14,
    ),
    parseStsPolicy,
    64,
  ),
  target('tls-rpt', tags('v=TLSRPTv1; ', ['rua=mailto:a@b.example', 'rua=https://a.example/x', 'x=1']), parseTlsRpt),
  target(
    'bimi',
    tags('v=BIMI1; ', ['l=https://a.example/l.svg', 'l=', 'a=https://a.example/v.pem', 'avp=brand', 'lps=x', 's=y']),
    parseBimi,
  ),
  target(
    'svg',
    words(
      [
        '<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps" viewBox="0 0 1 1">',
        '<title>a</title>',
        '<g>',
        '</g>',
        '<script/>',
        '<a href="x"/>',
        '</svg>',
        '<!DOCTYPE svg [<!ENTITY a "b">]>',
        '&a;',
        '<?xml version="1.0"?>',
        '<![CDATA[x]]>',
      ],
      ['', ' ', '\n'],
      40,
    ),
    readSvg,
  ),
  target(
    'caa',
    words(['ca.example', 'accounturi=https://a.example/1', 'validationmethods=dns-01', '%'], ['; ', ';', ' '], 8),
    parseIssuer,
  ),
  target(
    'zone',
    words(
      [
        '@',
        'a',
        '*',
        'IN',
        '300',
        'A',
        '192.0.2.1',
        'TXT',
        '"v=spf1 -all"',
        'MX',
        '10',
        'm.a.example.',
        '$ORIGIN b.example.',
        '$TTL 1h',
        '$INCLUDE /etc/passwd',
        '(',
        ')',
        '; comment',
        'SOA',
        '\\097',
        'CAA',
        '0 issue "x"',
        '"',
      ],
      [' ', '\t', '\n', '\n', ''],
      40,
    ),
    zone,
  ),
  target(
    'record line',
    words(['a.example', 'TXT', 'A', 'MX', '10 m', '"x"', '=', '192.0.2.1'], [' ', '  ', ''], 8),
    parseRecordLine,
  ),
  target(
    'e-mail',
    fc.tuple(fc.constantFrom('joe', '"j o"', 'a.b', '.a', 'jöe', '"\\"'), name).map((parts) => parts.join('@')),
    email,
  ),
  target('domain', name, domainText),
  target(
    'ip',
    words(['192', '0', '2', '1', '2001', 'db8', 'ffff', '::', '0x1', '017', '%eth0'], ['.', ':', '', ']'], 9),
    ipText,
  ),
  target('cidr', words(['192.0.2.0', '2001:db8::', '/', '24', '129', '-1'], ['', '/'], 4), parseCidr),
  target('generic PTR name', name, (text) => looksGeneric(text, ip('192.0.2.1'))),
  { ...target('list, CSV', ROWS, (text) => listed(text, 'text/csv'), 256), msPerKiB: 10 },
  { ...target('list, text', ROWS, (text) => listed(text, 'text/plain'), 256), msPerKiB: 10 },
  { ...target('list, NDJSON', ROWS, (text) => listed(text, 'application/x-ndjson'), 256), msPerKiB: 10 },
  {
    ...target(
      'list, JSON',
      ROWS.map((rows) => `{"items": [${rows}]}`),
      (text) => listed(text, 'application/json'),
      256,
    ),
    msPerKiB: 10,
  },
  target(
    'resolv.conf',
    words(
      ['nameserver 192.0.2.1', 'nameserver fe80::1%eth0', 'options trust-ad', 'search a.example', '#', ';'],
      ['\n', ' ', '\r\n'],
      12,
    ),
    parseResolvConf,
  ),
  target('resolver', words(['192.0.2.1', '[2001:db8::1]', ':53', ':99999', '2001:db8::1'], [''], 3), parseServer),
  target(
    'Host field',
    words(['localhost', '127.0.0.1', '[::1]', ':80', 'user@', 'a.example', '/'], [''], 4),
    parseHostField,
  ),
  target(
    'origin of a node',
    words(['https://', 'http://', 'a.example', ':443', '/path', '?q', '#f', 'u:p@', '[::1]'], [''], 6),
    parseOrigin,
  ),
  target(
    'proof of a node',
    words(
      ['Mailsonde-Peer ', 'id=node-1', 'ts=1700000000', 'nonce=abcdefghijklmnop', 'sig=00', 'sig=zz'],
      [', ', ',', ' '],
      8,
    ),
    parseProof,
  ),
  target('nodes of another node', PEERS, async (text) => readPeers(jsonOf(text)), 64),
  target('selectors', words(['s1', 's2.a', 'a'.repeat(64), '_x', '.'], [',', ', ', ''], 14), readSelectors),
  target('message', MESSAGES, messageOf, 64),
  target(
    'mailboxes',
    words(
      ['joe@a.example', '<', '>', '"', '\\', '(', ')', '[', ']', '@', 'Group', '=?utf-8?q?=C3?=', '=?x?b?w6Q=?=', "'"],
      [' ', '', ',', ';', ':', '\t'],
      20,
    ),
    (text) => parseAddresses(text, 20),
    8, // a control character is one character of the field and six of JSON
  ),
  target('duration', words(['1', '1.5', 's', 'ms', 'm', 'h', 'd', '-', '1e9'], [''], 6), parseDuration),
  target(
    'text that is shown',
    words(['<b>', 'a|b', '`', '# a', '\u001b[31m', 'https://a.example'], [' ', '\n', ''], 20),
    shown,
    64,
  ),
]

/** What the jobs of an analysis make of a message, as another process would hand it over. */
async function messageOf(text: string): Promise<unknown> {
  const octets = Buffer.from(text, 'latin1')
  const ask = { caller: '', signal: AbortSignal.timeout(60_000) }
  const outlined = await heavyHere(outline, octets, { receivedBy: ['b.example'] }, ask)
  const keys = new Map(outlined.keys.map((key) => [key, { records: [LAB_KEY] }]))
  const verified = await heavyHere(verify, octets, { lfEnds: outlined.mail.lfEnds, keys, at: 0 }, ask)
  return structuredClone([outlined, verified])
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
