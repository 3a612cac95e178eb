import { dateOf } from './envelope.ts'
import { decodeWords } from './words.ts'

/** A subject without what was put in front of it or behind it. */
type Untagged = { readonly rest: string; readonly tag: string; readonly isBehind: boolean }

/** Maximum length of a field of which other forms are tried: the search for them is not linear. */
const MAX_VALUE = 2_000
/** Maximum number of characters of a subject before its own words begin. */
const MAX_TAG = 80

/**
 * A subject without what lists, gateways and ticket systems put in front of it or behind it: `[list] `, `***SPAM*** `,
 * `EXTERNAL: `, ` [#4711]`; also where `Re:` stands before it. Each is tried, and only what makes the signature hold is
 * named, so that words of the sender may be among them.
 */
export function untagged(value: string): readonly Untagged[] {
  if (value.length > MAX_VALUE) return []
  const {
    space = '',
    re = '',
    subject = '',
  } = /^(?<space>\s*)(?<re>(?:(?:re|fwd?|aw|wg|sv|tr|rv|vs): ?)?)(?<subject>.*)$/is.exec(value)?.groups ?? {}
  const found: Untagged[] = []
  for (const [end] of subject
    .slice(0, MAX_TAG)
    .matchAll(/(?<=[\]})>:*_|~!-])[ \t]*(?=[^\s\]})>:*_|~!-])/g)
    .map(({ index, 0: gap }) => [index + gap.length] as const)) {
    const [tag, rest] = [subject.slice(0, end).trim(), subject.slice(end)]
    found.push(
      { rest: `${space}${re}${rest}`, tag, isBehind: false },
      { rest: `${space}${rest}`, tag, isBehind: false },
    )
    if (found.length >= 20) break
  }
  const behind = /\s+(?<tag>\[[^\][]{1,80}\]|\([^()]{1,80}\)|\{[^{}]{1,80}\}|#\S{1,40})\s*$/.exec(subject)
  if (behind)
    found.push({ rest: `${space}${re}${subject.slice(0, behind.index)}`, tag: behind.groups!.tag!, isBehind: true })
  return found
}

/** Maximum length of a text of which other encodings are tried: a longer one is written in several words. */
const MAX_WORD = 75

/** The same text as hosts write it: raw, or as one encoded word (RFC 2047) in either encoding. */
export function otherEncodings(value: string): readonly string[] {
  const text = decodeWords(Buffer.from(value.replace(/\r\n[ \t]+/g, ' ').trim(), 'latin1').toString('utf8'))
  const utf8 = Buffer.from(text, 'utf8')
  if (utf8.length === text.length || utf8.length > MAX_WORD) return []
  const isLatin = /^[\x00-\xff]*$/.test(text)
  const words = ['utf-8', 'UTF-8', ...(isLatin ? ['iso-8859-1', 'ISO-8859-1'] : [])].flatMap((charset) => {
    const octets = /^utf/i.test(charset) ? utf8 : Buffer.from(text, 'latin1')
    const [b, q] = [octets.toString('base64'), quotedWord(octets)]
    return [`B?${b}`, `b?${b}`, `Q?${q}`, `q?${q}`].map((word) => ` =?${charset}?${word}?=`)
  })
  return [` ${utf8.toString('latin1')}`, ...words]
}

/** The encoding `Q` (RFC 2047 §4.2), as most programs write it. */
const quotedWord = (octets: Buffer): string =>
  octets
    .toString('latin1')
    .replace(/[^A-Za-z0-9!*+/ -]/g, (char) => `=${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
    .replaceAll(' ', '_')

const others = (value: string, forms: readonly string[]): readonly string[] =>
  [...new Set(forms)].filter((one) => one !== value)

/**
 * A Content-Type with its parameters quoted or its charset written in another way, or with those that are added, or with
 * another charset.
 */
export function typeForms(value: string): readonly string[] {
  if (value.length > MAX_VALUE) return []
  const bare = value.replace(/(=\s*)"([\w.+-]{1,200})"/g, '$1$2')
  const quoted = value.replace(/(=\s*)([\w.+-]{1,200})(?=\s*(?:;|\r|$))/g, '$1"$2"')
  const cased = [bare, quoted].flatMap((one) =>
    [(text: string) => text.toLowerCase(), (text: string) => text.toUpperCase()].map((change) =>
      one.replace(/(?<=charset\s*=\s*"?)[\w.-]{1,40}/i, change),
    ),
  )
  const less = [/;\s*format\s*=\s*"?flowed"?/i, /;\s*charset\s*=\s*"?[\w.-]{1,40}"?/i].map((one) =>
    value.replace(one, ''),
  )
  const recoded = ['utf-8', 'UTF-8', 'iso-8859-1', 'ISO-8859-1', 'us-ascii'].map((charset) =>
    value.replace(/(?<=charset\s*=\s*"?)[\w.-]{1,40}/i, charset),
  )
  return others(value, [bare, quoted, ...cased, ...less, ...recoded])
}

/** Addresses without the names that a server wrote before them, and with names quoted in another way. */
export function addressForms(value: string): readonly string[] {
  if (value.length > MAX_VALUE) return []
  const bare = value.replace(/(?:"[^"\r\n]{0,200}"|[^<>,"]{1,200})[ \t]*<([^<>\s]{1,320})>/g, ' <$1>')
  const unquoted = value.replace(/"([^"\\\r\n]{1,200})"(?=\s*<)/g, '$1')
  const quoted = value.replace(/(^|,)(\s*)([^"<>,\s][^"<>,\r\n]{0,200}?)(?=\s*<)/g, '$1$2"$3"')
  const unnamed = value.replace(/ (?:via|durch|über|par) [^<>"\r\n]{1,100}?(?="?\s*<)/i, '')
  return others(value, [bare.replace(/<([^<>\s]{1,320})>/g, '$1'), bare, unquoted, quoted, unnamed])
}
const ZONES = ['UTC', 'GMT', 'CET', 'CEST', 'EST', 'EDT', 'CST', 'CDT', 'MST', 'MDT', 'PST', 'PDT', 'BST', 'JST']

/** A date with and without the name of the zone behind it, and with a day of one digit or two. */
export function dateForms(value: string): readonly string[] {
  if (value.length > MAX_VALUE) return []
  const bare = value.replace(/\s*\([A-Z]{1,5}\)\s*$/, '')
  const short = value.replace(/\b0(\d [A-Z])/i, '$1')
  const long = value.replace(/(?<=^\s*(?:[A-Z]{3},\s*)?)(\d [A-Z])/i, '0$1')
  return others(value, [short, long, bare, ...ZONES.map((zone) => `${bare} (${zone})`)])
}

/** Minutes ahead of UTC of the zones in which people live. */
const OFFSETS = [...Array.from({ length: 26 }, (_, i) => (i - 11) * 60), -210, 210, 270, 330, 345, 390, 570, 630]
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The same instant as clocks of other zones show it. */
export function datesInOtherZones(value: string): readonly string[] {
  const at = value.length > MAX_VALUE ? undefined : dateOf(value)
  if (at === undefined) return []
  const two = (n: number): string => String(n).padStart(2, '0')
  const written = (offset: number, zone: string): string => {
    const then = new Date(at + offset * 60_000)
    const time = [then.getUTCHours(), then.getUTCMinutes(), then.getUTCSeconds()].map(two).join(':')
    return ` ${DAYS[then.getUTCDay()]}, ${two(then.getUTCDate())} ${MONTHS[then.getUTCMonth()]} ${then.getUTCFullYear()} ${time} ${zone}`
  }
  const zoneOf = (offset: number): string =>
    `${offset < 0 ? '-' : '+'}${two(Math.trunc(Math.abs(offset) / 60))}${two(Math.abs(offset) % 60)}`
  return [
    ...OFFSETS.map((offset) => written(offset, zoneOf(offset))),
    ...['-0000', 'GMT', 'UT'].map((zone) => written(0, zone)),
  ]
}
