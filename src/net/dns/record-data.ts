import { isUtf8 } from 'node:buffer'
import { keysOf } from '../../base/json.ts'
import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { parseIp } from '../../names/ip.ts'
import { recordProblem } from './problems.ts'
import type { RecordData, RecordType } from './resolver.ts'

/**
 * One field of a record's data in presentation format (RFC 1035 §5.1): its text with escapes as written, and whether it
 * was quoted.
 */
export type Field = { readonly text: string; readonly quoted: boolean }
/** Reads a name in the data into its canonical form (lower case, no trailing dot). */
type ReadName = (text: string) => Parsed<string>

/** A type that the text of a zone may contain; signatures are only queried. */
export type TextType = Exclude<RecordType, 'RRSIG' | 'NSEC3PARAM'>

/** Maximum size of the data of a record, octets (RFC 1035 §3.2.1: a 16-bit length). */
export const MAX_DATA = 65_535

/** Reads the data of one record of `type` from its fields. */
export function readFields<T extends TextType>(
  type: T,
  fields: readonly Field[],
  readName: ReadName,
): Parsed<RecordData[T]> {
  const { shape, fields: counts, read }: TextForm<T> = TEXT_FORMS[type]
  const [least, most] = counts
  return fields.length < least || fields.length > most
    ? problem(recordProblem('shape', { type, shape }))
    : read(fields, readName)
}

/** The data of a type as text: its shape in words, how many fields it has, and what reads them. */
type TextForm<T extends TextType> = {
  readonly shape: string
  readonly fields: readonly [least: number, most: number]
  readonly read: (fields: readonly Field[], readName: ReadName) => Parsed<RecordData[T]>
}

const name = {
  shape: 'one name',
  fields: [1, 1],
  read: ([field]: readonly Field[], readName: ReadName) => readName(field!.text),
} as const

const TEXT_FORMS: { readonly [T in TextType]: TextForm<T> } = {
  TXT: {
    shape: 'one or more strings in quotes',
    fields: [1, 1_000],
    read: (fields) => {
      const octets = joined(fields)
      return octets.ok ? parsed(textOf(octets.value)) : octets
    },
  },
  MX: {
    shape: 'a preference and a host (10 mail.example.org.)',
    fields: [2, 2],
    read: ([preference, exchange], readName) =>
      both(number(preference!, 0xffff), readName(exchange!.text), (a, b) => ({ preference: a, exchange: b })),
  },
  A: { shape: 'one IPv4 address', fields: [1, 1], read: ([field]) => address(field!.text, false) },
  AAAA: { shape: 'one IPv6 address', fields: [1, 1], read: ([field]) => address(field!.text, true) },
  CNAME: name,
  NS: name,
  PTR: name,
  SOA: { shape: 'two names and five numbers', fields: [7, 7], read: soa },
  CAA: { shape: 'flags, a tag and a value (0 issue "ca.example.net")', fields: [3, 3], read: caa },
  TLSA: {
    shape: 'three numbers and hexadecimal digits',
    fields: [4, 100],
    read: (fields) =>
      numbersAndHex(fields, [255, 255, 255], ([usage, selector, matchingType], data) => ({
        usage: usage!,
        selector: selector!,
        matchingType: matchingType!,
        data,
      })),
  },
  DS: {
    shape: 'three numbers and hexadecimal digits',
    fields: [4, 100],
    read: (fields) =>
      numbersAndHex(fields, [0xffff, 255, 255], ([keyTag, algorithm, digestType], digest) => ({
        keyTag: keyTag!,
        algorithm: algorithm!,
        digestType: digestType!,
        digest,
      })),
  },
  DNSKEY: { shape: 'three numbers and a key in base64', fields: [4, 100], read: dnskey },
}
/** The types that can be parsed from text, those that a person edits most first. */
export const RECORD_TYPES = keysOf(TEXT_FORMS)

function caa([flags, tag, value]: readonly Field[]): Parsed<RecordData['CAA']> {
  const octets = joined([value!])
  if (!octets.ok) return octets
  const flag = number(flags!, 255)
  if (!flag.ok) return flag
  if (!/^[A-Za-z0-9]{1,255}$/.test(tag!.text)) return problem(recordProblem('caa_tag', { text: tag!.text }))
  // RFC 8659 §4.1: the first bit of the flags.
  return parsed({ critical: (flag.value & 0x80) !== 0, tag: tag!.text.toLowerCase(), value: textOf(octets.value) })
}

function dnskey(fields: readonly Field[]): Parsed<RecordData['DNSKEY']> {
  const numbers = numbersOf(fields, [0xffff, 255, 255])
  if (!numbers.ok) return numbers
  const publicKey = fields
    .slice(3)
    .map(({ text }) => text)
    .join('')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(publicKey)) return problem(recordProblem('base64'))
  const [flags, protocol, algorithm] = numbers.value
  return parsed({ flags: flags!, protocol: protocol!, algorithm: algorithm!, publicKey })
}

function soa([mname, rname, ...rest]: readonly Field[], readName: ReadName): Parsed<RecordData['SOA']> {
  const primary = readName(mname!.text)
  if (!primary.ok) return primary
  const contact = readName(rname!.text)
  if (!contact.ok) return contact
  const seconds = rest.map(({ text }) => readSeconds(text))
  const wrong = seconds.indexOf(undefined)
  if (wrong >= 0) return problem(recordProblem('soa_number', { text: rest[wrong]!.text }))
  const [serial, refresh, retry, expire, minimum] = seconds as number[]
  return parsed({
    mname: primary.value,
    rname: contact.value,
    serial: serial!,
    refresh: refresh!,
    retry: retry!,
    expire: expire!,
    minimum: minimum!,
  })
}

/**
 * Seconds as written in zone files: `3600`, `1h`, `1d12h`; undefined if the text is not a duration, or exceeds 32 bits.
 */
export function readSeconds(text: string): number | undefined {
  if (!/^(?:\d{1,10}|(?:\d{1,10}[wdhms]){1,5})$/i.test(text)) return undefined
  const UNITS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3_600, m: 60, s: 1, '': 1 }
  let total = 0
  for (const [, digits, unit = ''] of text.matchAll(/(\d+)([wdhms]?)/gi))
    total += Number(digits) * UNITS[unit.toLowerCase()]!
  return total <= 0xffff_ffff ? total : undefined
}

/**
 * The octets of a text in presentation format: `\DDD` is an octet, `\X` the character (RFC 1035 §5.1), everything else
 * UTF-8.
 */
export function octetsOf(text: string): Parsed<Buffer> {
  if (!text.includes('\\')) return parsed(Buffer.from(text))
  const parts: Buffer[] = []
  for (const [piece, digits, character] of text.matchAll(/\\(\d{3})|\\([\s\S]?)|[^\\]+/gu)) {
    if (digits !== undefined && Number(digits) > 255) return problem(recordProblem('octet', { text: piece }))
    if (character === '') return problem(recordProblem('backslash'))
    parts.push(digits !== undefined ? Buffer.from([Number(digits)]) : Buffer.from(character ?? piece))
  }
  return parsed(Buffer.concat(parts))
}

/** Octets as the text of an answer: UTF-8 if valid, otherwise one character per octet. */
export const textOf = (octets: Buffer): string => (isUtf8(octets) ? octets.toString('utf8') : octets.toString('latin1'))

/**
 * The character-strings of a TXT record, each of at most 255 octets, joined without a space (RFC 1035 §3.3,
 * RFC 7208 §3.3).
 */
function joined(fields: readonly Field[]): Parsed<Buffer> {
  const parts: Buffer[] = []
  for (const { text } of fields) {
    const octets = octetsOf(text)
    if (!octets.ok) return octets
    if (octets.value.length > 255) return problem(recordProblem('long_string', { count: octets.value.length }))
    parts.push(octets.value)
  }
  const all = Buffer.concat(parts)
  return all.length + parts.length <= MAX_DATA ? parsed(all) : problem(recordProblem('long_data', { max: MAX_DATA }))
}

function address<A extends RecordData['A']>(text: string, isSix: boolean): Parsed<A> {
  const read = parseIp(text)
  if (!read.ok) return read
  return text.includes(':') === isSix
    ? parsed(read.value as A)
    : problem(recordProblem('family', { text, version: isSix ? 6 : 4 }))
}

function number({ text }: Field, most: number): Parsed<number> {
  return /^\d{1,5}$/.test(text) && Number(text) <= most
    ? parsed(Number(text))
    : problem(recordProblem('number', { text, max: most }))
}

function numbersOf(fields: readonly Field[], most: readonly number[]): Parsed<readonly number[]> {
  const read = most.map((limit, i) => number(fields[i]!, limit))
  const wrong = read.find((one) => !one.ok)
  return wrong && !wrong.ok ? wrong : parsed(read.flatMap((one) => (one.ok ? [one.value] : [])))
}

function numbersAndHex<D>(
  fields: readonly Field[],
  most: readonly number[],
  made: (numbers: readonly number[], hex: string) => D,
): Parsed<D> {
  const numbers = numbersOf(fields, most)
  if (!numbers.ok) return numbers
  const hex = fields
    .slice(most.length)
    .map(({ text }) => text)
    .join('')
    .toLowerCase()
  return /^(?:[0-9a-f]{2})+$/.test(hex)
    ? parsed(made(numbers.value, hex))
    : problem(recordProblem('hexadecimal', { text: hex }))
}

function both<A, B, C>(a: Parsed<A>, b: Parsed<B>, made: (a: A, b: B) => C): Parsed<C> {
  if (!a.ok) return a
  return b.ok ? parsed(made(a.value, b.value)) : b
}
