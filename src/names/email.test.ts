import fc from 'fast-check'
import { expect, it } from 'vitest'
import { corpus } from '../../test/lab/corpora.ts'
import { email } from '../../test/lab/email.ts'
import { formatEmail, maskEmail, parseEmail } from './email.ts'

it.each([
  ['user@example.org', 'user@example.org'],
  ['User.Name+tag@EXAMPLE.org', 'User.Name+tag@example.org'], // the local part keeps its case (RFC 5321 §2.4)
  ["!#$%&'*+-/=?^_`{|}~@example.org", "!#$%&'*+-/=?^_`{|}~@example.org"],
  ['"user"@example.org', 'user@example.org'], // quoting that is not needed goes
  ['"a b"@example.org', '"a b"@example.org'],
  ['"a\\ b"@example.org', '"a b"@example.org'],
  ['"a\\"b\\\\c"@example.org', '"a\\"b\\\\c"@example.org'],
  ['"a@b"@example.org', '"a@b"@example.org'],
  ['"a..b"@example.org', '"a..b"@example.org'],
  ['""@example.org', '""@example.org'], // RFC 5321 §4.1.2: *QcontentSMTP
  ['user@bücher.example', 'user@xn--bcher-kva.example'],
  ['пользователь@example.org', 'пользователь@example.org'],
  ['e\u0301@example.org', '\u00e9@example.org'], // NFC
  [`${'a'.repeat(64)}@example.org`, `${'a'.repeat(64)}@example.org`],
])('%j prints as %j', (text, printed) => {
  const result = parseEmail(text)
  expect(result.ok && formatEmail(result.value)).toBe(printed)
})

it.each([
  [''],
  ['user'],
  ['@example.org'],
  ['user@'],
  ['user@@example.org'],
  ['a@b@example.org'],
  ['.user@example.org'],
  ['user.@example.org'],
  ['us..er@example.org'],
  ['us er@example.org'],
  [' user@example.org'], // white space around is the caller's to trim
  ['user@example.org '],
  ['user@example.org.'], // RFC 5321 §4.1.2: no trailing dot
  ['user@localhost'],
  ['user@[192.0.2.1]'], // address literals are refused by default
  ['user@[IPv6:2001:db8::1]'],
  ['user@192.0.2.1'],
  ['user(comment)@example.org'], // RFC 5322 CFWS has no place in RFC 5321
  ['User <user@example.org>'],
  ['"user"x@example.org'],
  ['"user@example.org'],
  ['"a"."b"@example.org'], // obsolete, RFC 5322 §4.4
  ['"a\\\u00e9"@example.org'],
  ['user>@example.org'],
  ['"a>b"@example.org'],
  ['user\r\nRCPT TO:<x@example.net>@example.org'],
  ['"user\r\nQUIT"@example.org'],
  ['"a\\\nb"@example.org'],
  ['us\u0000er@example.org'],
  ['"us\u0000er"@example.org'],
  ['user@example.org\r\nQUIT'],
  ['a>\u0338@example.org'], // NFC would hide the bracket
  ['us\u202eer@example.org'], // bidirectional control
  ['us\u200ber@example.org'], // invisible
  ['us\u0085er@example.org'],
  ['us\u2028er@example.org'],
  ['us\ud800er@example.org'],
  ['us\u00a0er@example.org'],
  ['us\ufffder@example.org'], // stands for what could not be decoded, a NUL in a list among it
  ['\u0301e@example.org'],
  [`${'a'.repeat(65)}@example.org`],
  [`${'é'.repeat(33)}@example.org`], // octets, not characters
  [`a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.example.org`],
  ['a'.repeat(65_536)],
  [`"${'\\"'.repeat(32_768)}`],
])('%j is refused', (text) => expect(parseEmail(text).ok).toBe(false))

it.each([
  ['user@example.org', false],
  ['user@bücher.example', false], // the domain goes out in A-labels
  ['usér@example.org', true],
])('%s needs SMTPUTF8: %s', (text, needed) => expect(email(text).smtputf8).toBe(needed))

it.each([
  ['john@example.org', 'j***@example.org'],
  ['"a b"@example.org', '***@example.org'],
  ['жук@example.org', 'ж***@example.org'],
  ['nonsense', '***'],
])('%s is logged as %s', (text, masked) => expect(maskEmail(text)).toBe(masked))

const PARTS = ['a', '"', '\\', '@', '.', ' ', '<', '>', '\r\n', '\0', 'é', '\u202e', 'example.org', '[', '(', ')']
const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...PARTS)).map((parts) => parts.join('')),
)
const addresses = fc.oneof(
  texts,
  texts.map((local) => `${local}@example.org`),
  texts.map((local) => `"${local.replace(/["\\]/g, '\\$&')}"@example.org`),
)

it('never throws, reads back what it prints, and prints nothing that could leave the path', () =>
  fc.assert(
    fc.property(addresses, (text) => {
      const result = parseEmail(text)
      if (!result.ok) return
      const printed = formatEmail(result.value)
      expect(printed).not.toMatch(/[\r\n\0>\u0001-\u001f\u007f]/)
      expect(Buffer.byteLength(printed)).toBeLessThanOrEqual(254)
      expect(parseEmail(printed)).toEqual(result)
    }),
    { numRuns: 3_000 },
  ))

it.each(['a', '"', '\\"', '@', '.', 'é', '"a\\'])('reads 64 KiB of %j', (part) =>
  expect(parseEmail(part.repeat(65_536 / part.length)).ok).toBe(false),
)

type Case = {
  readonly address: string
  readonly valid: boolean | null
  readonly source: string
  readonly options?: string
  readonly diagnosis?: string | null
}

/** What the corpus judges and this parser does not: each with its reason. */
const NOT_JUDGED: readonly (readonly [reason: string, is: (one: Case) => boolean])[] = [
  [
    'an address literal: RFC 5321 §4.1.3 has it, verification refuses it by default',
    ({ address }) => /@\[[^\]]*\]$/.test(address),
  ],
  [
    'a single label or an all-numeric last label: RFC 5321 §2.3.5 wants a name that resolves, api.md two labels',
    ({ address }) => /@(?:[^.@]+|[^@]*\.\d+)$/.test(address),
  ],
  [
    'a display name or comment: RFC 5322 §3.4, no Mailbox of RFC 5321 §4.1.2',
    ({ address }) => /[<(][^@]*@?[^@]*[>)]/.test(address) && !address.startsWith('"very'),
  ],
  [
    'a judgement by options of its library (allowed TLDs, no Unicode), not by an RFC',
    ({ options }) => options !== undefined && /tlds|allowUnicode/.test(options),
  ],
  [
    'its source only warns: a local part over 64 octets (RFC 5321 §4.5.3.1.1), a tab in a quoted string (§4.1.2 qtextSMTP)',
    ({ diagnosis }) => diagnosis === 'warn',
  ],
  [
    'a judgement with SMTPUTF8 switched off',
    ({ diagnosis }) => /Internationalized characters .* are not supported/.test(diagnosis ?? ''),
  ],
  [
    'special-use domains (RFC 6761) are refused by that library; they are well formed',
    ({ address, source }) =>
      source === 'python-email-validator' && /\.(?:arpa|localhost|local|test|invalid)$/.test(address),
  ],
  [
    'no address at all: a character class of that library',
    ({ address, source }) => source === 'python-email-validator' && !address.includes('@'),
  ],
]

/** Judged cases that we read otherwise. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  '""@iana.org': 'RFC 5321 §4.1.2: Quoted-string is *QcontentSMTP, so it may be empty',
  '"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz abcdefg\\h"@iana.org':
    'at most 64 octets once printed anew (RFC 5321 §4.5.3.1.1)',
  '"test\\ test"@iana.org': 'RFC 5321 §4.1.2 quoted-pairSMTP',
  'examp\u2551le@symfony.com': 'RFC 6531 §3.3 admits it',
  'me@yy--0.tld': 'RFC 5891 §4.2.3.1 is about U-labels; such names exist in the DNS',
  '\u{1f600}@gmail.com': 'RFC 6531 §3.3 admits it',
  '"very.(),:;<>[]\\".VERY.\\"very@\\\\ \\"very\\".unusual"@strange.example.com':
    '">" is refused even quoted: it must never reach the wire',
  'fab\\ ien@symfony.com': 'a quoted pair outside quotes is obsolete (RFC 5322 §4.4), not in RFC 5321',
  'test@\u{103ff}ñoñó郵件ñoñó郵件': 'U+103FF is not assigned: no U-label (RFC 5892 §2.10)',
  'test@xn--example.com': 'no A-label: its Punycode is malformed (RFC 5890 §2.3.2.1)',
}

const differs = (one: Case): boolean => parseEmail(one.address).ok !== one.valid

const cases: readonly Case[] | undefined = corpus('address/addresses.json')?.cases
it.skipIf(!cases)('judges at least 98 % of the public cases as their sources do, and the rest as listed', () => {
  const judged = cases!.filter((one) => one.valid !== null && !(differs(one) && NOT_JUDGED.some(([, is]) => is(one))))
  const differ = judged.filter(differs)
  expect(
    differ
      .map(({ address }) => address)
      .filter((address) => !Object.keys(DIFFERENCES).some((start) => address.startsWith(start))),
  ).toEqual([])
  expect(judged.length).toBeGreaterThan(600)
  expect(differ.length / judged.length).toBeLessThanOrEqual(0.02)
  console.info(`addresses: ${judged.length} judged, ${differ.length} otherwise`)
})
