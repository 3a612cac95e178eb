import fc from 'fast-check'

/**
 * Arbitraries that know the structure of what is read, and then break it. Inputs are strings; octets are strings of
 * characters 0 to 255.
 */

/** The longest input, characters: one DNS message or record at its largest. */
export const MAX_INPUT = 65_535

const ODD = [
  ...['\u0000', '\t', '\r', '\n', '\r\n', ' ', '\u00a0', '\u00ad', '\u200b', '\u202e', '\u2028', '\ufeff', '\ud800'],
  ...[
    '"',
    "'",
    '\\',
    '%',
    '%{',
    '}',
    '<',
    '>',
    '&',
    ';',
    ':',
    '=',
    ',',
    '.',
    '..',
    '@',
    '/',
    '//',
    '#',
    '?',
    '|',
    '`',
    '[',
    ']',
  ],
  ...['é', 'ß', 'İ', '中', '😀', 'xn--', '0', '-1', '1e999', '9'.repeat(40), '__proto__', 'constructor'],
] as const
const odd = fc.constantFrom(...ODD)

/** A change of a text: a piece left out, repeated or raised, an odd text put in. */
export type Edit = {
  readonly at: number
  readonly length: number
  readonly kind: number
  readonly text: string
  readonly times: number
}
export const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(400),
  length: fc.nat(12),
  kind: fc.nat(5),
  text: odd,
  // Most repetitions are short; a few go to the bound.
  times: fc.oneof(
    { weight: 30, arbitrary: fc.nat(4) },
    { weight: 2, arbitrary: fc.nat(300) },
    { weight: 1, arbitrary: fc.nat(20_000) },
  ),
})

/** The text with the change; it may be longer than {@link MAX_INPUT}. */
export function edited(text: string, { at, length, kind, text: odd, times }: Edit): string {
  const from = text.length === 0 ? 0 : at % (text.length + 1)
  const piece = text.slice(from, from + length)
  const [before, after] = [text.slice(0, from), text.slice(from + length)]
  if (kind === 0) return before + after
  if (kind === 1) return before + odd + text.slice(from)
  if (kind === 2) return before + odd + after
  if (kind === 3)
    return before + piece.repeat(Math.min(times, Math.floor(MAX_INPUT / Math.max(1, piece.length)))) + after
  if (kind === 4) return before + piece.toUpperCase() + after
  return before + odd.repeat(Math.min(times, 20_000)) + text.slice(from)
}

/**
 * `text` as it is in one of four cases, else with up to five edits: a piece left out, repeated, in capitals; something
 * odd put in.
 */
export const broken = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 1, arbitrary: text },
    {
      weight: 3,
      arbitrary: fc
        .tuple(text, fc.array(edit, { minLength: 1, maxLength: 5 }))
        .map(([whole, edits]) => edits.reduce(edited, whole).slice(0, MAX_INPUT)),
    },
  )

/** Words in a row, at most `most`, with one of the separators between them. */
export const words = (all: readonly string[], separators: readonly string[], most = 12): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(fc.constantFrom(...all), fc.constantFrom(...separators)), { maxLength: most })
    .map((pairs) => pairs.map(([word, separator]) => word + separator).join(''))

/** A name of one to five labels. */
export const name: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', 'mail', '_dmarc', '*', 'xn--bcher-kva', 'example', 'test', 'co.uk', 'a'.repeat(63)),
      odd,
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((labels) => labels.join('.'))

const u16 = (value: number): string => String.fromCharCode((value >> 8) & 255, value & 255)
const wireLabel = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('\x01a', '\x07example', '\x04test', '\x06_dmarc') },
  { weight: 1, arbitrary: fc.nat(255).map((length) => String.fromCharCode(length) + 'x'.repeat(length & 63)) },
)
const pointer = fc.nat(80).map((at) => `\xc0${String.fromCharCode(at)}`)
const wireName = fc
  .tuple(
    fc.array(wireLabel, { maxLength: 4 }),
    fc.oneof({ weight: 3, arbitrary: fc.constant('\0') }, { weight: 2, arbitrary: pointer }),
  )
  .map(([labels, end]) => labels.join('') + end)
const TYPES = [1, 2, 5, 6, 12, 15, 16, 28, 41, 43, 46, 48, 51, 52, 257, 255, 65_280]
const octets = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1'))
const data = fc.oneof(
  octets,
  wireName,
  fc.tuple(fc.nat(65_535), wireName).map(([number, text]) => u16(number) + text),
  fc
    .array(octets, { maxLength: 4 })
    .map((texts) => texts.map((text) => String.fromCharCode(text.length) + text).join('')),
)
const record = fc
  .tuple(
    wireName,
    fc.constantFrom(...TYPES),
    fc.constantFrom(1, 1, 1, 3, 4_096),
    fc.nat(2 ** 31),
    data,
    fc.option(fc.nat(65_535)),
  )
  .map(
    ([owner, type, klass, ttl, body, lie]) =>
      owner + u16(type) + u16(klass) + u16(ttl >>> 16) + u16(ttl & 65_535) + u16(lie ?? body.length) + body,
  )

/** A DNS message: header, question and records of every type, whose counts and lengths may lie (RFC 1035 §4.1). */
export const dnsMessage: fc.Arbitrary<string> = fc
  .record({
    id: fc.nat(65_535),
    flags: fc.nat(65_535),
    counts: fc.option(fc.array(fc.nat(70), { minLength: 4, maxLength: 4 })),
    question: fc.tuple(wireName, fc.constantFrom(...TYPES)),
    records: fc.array(record, { maxLength: 6 }),
  })
  .map(({ id, flags, counts, question, records }) => {
    const [questions = 1, answers = records.length, authority = 0, additional = 0] = counts ?? []
    const header = [id, flags, questions, answers, authority, additional].map(u16).join('')
    return header + question[0] + u16(question[1]) + u16(1) + records.join('')
  })

const CODES = [
  '220',
  '250',
  '251',
  '252',
  '299',
  '354',
  '421',
  '450',
  '451',
  '452',
  '500',
  '550',
  '551',
  '552',
  '553',
  '554',
  '999',
  '25',
  '',
]
/** Lines of SMTP replies, and what is none. */
export const smtpReplies: fc.Arbitrary<string> = fc
  .array(
    fc.tuple(
      fc.constantFrom(...CODES),
      fc.constantFrom('-', ' ', '', '\t'),
      words(REPLY_WORDS(), [' ', '', '. '], 8),
      fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r', ''),
    ),
    { maxLength: 6 },
  )
  .map((lines) => lines.map((parts) => parts.join('')).join(''))

function REPLY_WORDS(): readonly string[] {
  return [
    ...[
      '5.1.1',
      '4.2.1',
      '2.1.5',
      '5.7.1',
      '<user@example.org>:',
      'user',
      'unknown',
      'mailbox',
      'full',
      'blocked',
      'using',
      'zen.spamhaus.org',
    ],
    ...[
      'greylisted',
      'try again in',
      '300',
      'seconds',
      '5 minutes',
      'rate',
      'limited',
      'too many',
      'connections',
      'no such user',
      'policy',
    ],
    ...[
      'SIZE',
      '10240000',
      'STARTTLS',
      'PIPELINING',
      'SMTPUTF8',
      'relay',
      'denied',
      'disabled',
      'quota',
      '450-gmail',
      'https://a.example/x',
    ],
  ]
}

/** The words of replies, for what classifies them. */
export const replyText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...CODES.filter((code) => code.length === 3)),
    words(REPLY_WORDS(), [' ', '. ', ', ', '\n'], 14),
  )
  .map(([code, text]) => `${code} ${text}`)

/** The text of a record with a version tag: tags and values that belong there, those that do not, in any order. */
export const tags = (
  version: string,
  pairs: readonly string[],
  separators: readonly string[] = ['; ', ';', ' ', ';;'],
): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(version, version, version, ''), words(pairs, separators, 14))
    .map(([first, rest]) => first + rest)
