import { isAscii } from 'node:buffer'
import { type Domain, parseMailDomain } from '../names/domain.ts'
import { type Mailbox, parseAddresses } from './addresses.ts'
import { decodeWords } from './words.ts'

/** A header field of a message. Texts hold one octet a character. */
export type Field = {
  /** Lower case. */
  readonly name: string
  /** The whole field as it arrived, folded lines included, without the final CRLF. */
  readonly raw: string
}

/** A message: its header fields from top to bottom, and its body with CRLF line endings. */
export type Mail = {
  readonly fields: readonly Field[]
  /**
   * Lines of the header section that are no field and no continuation of one; at most {@link MAX_FIELDS} are counted.
   */
  readonly strayLines: number
  /** There were more fields than are read: what depends on all of them is unknown. */
  readonly cut: boolean
  readonly body: Buffer
}

/** A message, and what its octets look like. */
export type CountedMail = Mail & {
  readonly octets: Octets
  /** LF without CR, each of which was read as CRLF. */
  readonly lfEnds: number
}

/** What the octets of a message look like, as they arrived. */
type Octets = {
  readonly bytes: number
  readonly lines: number
  /** The length of the longest line in octets, without its line ending. */
  readonly longestLine: number
  /** LF without CR in a message that also has CRLF; a message with LF alone counts as one with CRLF. */
  readonly bareLf: number
  readonly bareCr: number
  readonly nul: number
  /** Octets above 127 in the header section. */
  readonly highInHeader: boolean
}

/** Maximum number of header fields that are read; a message of a mailing list has fewer than 100. */
export const MAX_FIELDS = 2_000
/** Fields that are read behind so many, too: without them a message has no author. */
const KEPT =
  /^(from|sender|reply-to|to|subject|date|message-id|mime-version|content-type|content-transfer-encoding)[ \t]{0,10}:/i
/** Maximum number of these, and of octets that are searched for them. */
const MAX_KEPT = 50
const MAX_SEARCHED = 1_048_576

const CR = 0x0d
const LF = 0x0a

/**
 * Splits a message into header fields and body (RFC 5322 §2.1). A file with LF alone is read as if it had CRLF; in
 * others a bare LF ends a line, too, as mail servers read it. A first line of an mbox file (`From joe@example.org …`)
 * is left out. Never throws.
 */
export function parseMail(octets: Uint8Array): CountedMail {
  const { crlf, bareLf: lfEnds, ...counted } = countOctets(octets)
  const { head, ...mail } = parseAgain(octets, lfEnds)
  return { ...mail, lfEnds, octets: { ...counted, bareLf: crlf === 0 ? 0 : lfEnds, highInHeader: !isAscii(head) } }
}

export type Sections = Mail & { readonly head: Buffer }

/** The same for a message whose LF without CR are counted. */
export function parseAgain(octets: Uint8Array, lfEnds: number): Sections {
  const raw = Buffer.from(octets.buffer, octets.byteOffset, octets.length)
  const text = lfEnds > 0 ? withCrlf(raw, lfEnds) : raw
  const start = text.subarray(0, 5).toString('latin1') === 'From ' ? endOfLine(text, 0) : 0
  const { end, ...fields } = parseFields(text, start)
  return { ...fields, head: text.subarray(0, end), body: text.subarray(end) }
}

/** The index after the line that begins at `from`. */
function endOfLine(text: Buffer, from: number): number {
  const at = text.indexOf(LF, from)
  return at < 0 ? text.length : at + 1
}

function countOctets(text: Uint8Array) {
  let [lines, longestLine, crlf, bareLf, bareCr, nul] = [0, 0, 0, 0, 0, 0]
  let lineStart = 0
  for (let i = 0; i < text.length; i++) {
    const octet = text[i]!
    if (octet > CR) continue
    if (octet === LF) {
      lines++
      const isCrlf = text[i - 1] === CR
      if (isCrlf) crlf++
      else bareLf++
      const length = i - lineStart - (isCrlf ? 1 : 0)
      if (length > longestLine) longestLine = length
      lineStart = i + 1
    } else if (octet === 0) nul++
    else if (octet === CR && text[i + 1] !== LF) bareCr++
  }
  const rest = text.length - lineStart
  if (rest > 0) lines++
  if (rest > longestLine) longestLine = rest
  return { bytes: text.length, lines, longestLine, crlf, bareLf, bareCr, nul }
}

/** The text with CRLF in place of every bare LF. */
function withCrlf(text: Buffer, bareLf: number): Buffer {
  const out = Buffer.allocUnsafe(text.length + bareLf)
  let at = 0
  let before = 0
  for (let i = 0; i < text.length; i++) {
    const octet = text[i]!
    if (octet === LF && before !== CR) out[at++] = CR
    out[at++] = octet
    before = octet
  }
  return out.subarray(0, at)
}

type Fields = Pick<Mail, 'fields' | 'strayLines' | 'cut'> & { readonly end: number }

/**
 * The fields from `start` to the first empty line, and the index after that line. Lines end with CRLF; their octets are
 * read once.
 */
export function parseFields(text: Buffer, start = 0): Fields {
  const fields: Field[] = []
  let strayLines = 0
  let fieldAt = -1
  const endField = (end: number): void => {
    if (fieldAt < 0) return
    const raw = text.toString('latin1', fieldAt, end)
    const name = /^([\x21-\x39\x3b-\x7e]{1,998})[ \t]{0,998}:/.exec(raw)?.[1]
    if (name === undefined) strayLines++
    else fields.push({ name: name.toLowerCase(), raw })
    fieldAt = -1
  }
  for (let at = start; at < text.length; at = endOfLine(text, at)) {
    const first = text[at]!
    if (first === CR && text[at + 1] === LF) {
      endField(at - 2)
      return { fields, strayLines, cut: false, end: at + 2 }
    }
    if (first === 0x20 || first === 0x09) {
      if (fieldAt < 0) strayLines++
    } else {
      endField(at - 2)
      if (fields.length + strayLines < MAX_FIELDS) fieldAt = at
    }
    if (fieldAt < 0 && fields.length + strayLines >= MAX_FIELDS) {
      const empty = text.indexOf('\n\r\n', at)
      const end = empty < 0 ? text.length : empty + 3
      fields.push(...keptFields(text.toString('latin1', at, Math.min(end, at + MAX_SEARCHED))))
      return { fields, strayLines, cut: true, end }
    }
  }
  endField(text.at(-1) === LF ? text.length - 2 : text.length)
  return { fields, strayLines, cut: false, end: text.length }
}

function keptFields(head: string): readonly Field[] {
  const found: Field[] = []
  const lines = head.split('\r\n')
  for (let i = 0; i < lines.length && found.length < MAX_KEPT; i++) {
    const name = KEPT.exec(lines[i]!)?.[1]
    if (name === undefined) continue
    const next = lines.findIndex((line, at) => at > i && !/^[ \t]/.test(line))
    found.push({ name: name.toLowerCase(), raw: lines.slice(i, next < 0 ? undefined : next).join('\r\n') })
  }
  return found
}

/**
 * The value of a field: what follows the colon, unfolded (RFC 5322 §2.2.3) and trimmed; made of its first
 * {@link MAX_LENGTH} octets.
 */
export function fieldBody({ raw }: Field): string {
  const from = raw.indexOf(':') + 1
  return unfolded(raw.slice(from, from + MAX_LENGTH)).trim()
}

export const unfolded = (text: string): string => text.replace(/\r\n(?=[ \t])/g, '')

/** Who wrote a message by its From field (RFC 5322 §3.6.2, RFC 6854). */
export type Author = {
  /** At most {@link MAX_MAILBOXES}. */
  readonly mailboxes: readonly Mailbox[]
  /** The domain that DMARC is about; absent without an author or with several domains (RFC 9989 §5.3.1). */
  readonly domain?: Domain
  /** The number of different author domains. */
  readonly domains: number
}

/** Maximum number of authors that are read. */
const MAX_MAILBOXES = 20
/** Maximum number of From fields that are read; a message has one (RFC 5322 §3.6). */
const MAX_FROM = 20
/** Maximum number of characters of a field that are read as text. */
export const MAX_LENGTH = 20_000

/** Octets of a header field as text: UTF-8 (RFC 6532), with the octets as they are where they are not. */
const textOf = (octets: string): string => Buffer.from(octets, 'latin1').toString('utf8')

/** The decoded text of a field (RFC 2047). */
export const decodedField = (field: Field): string => decodeWords(textOf(fieldBody(field)))

/** The mailboxes of an address list, those of groups included; at most {@link MAX_MAILBOXES}. */
export const mailboxesOf = (field: Field): readonly Mailbox[] => parseAddresses(textOf(fieldBody(field)), MAX_MAILBOXES)

/** The author of a message by its From fields. */
export function authorOf(fields: readonly Field[]): Author {
  const written = fields.filter(({ name }) => name === 'from').slice(0, MAX_FROM)
  const mailboxes = written.flatMap(mailboxesOf)
  const domains = new Set(mailboxes.map(({ address }) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()))
  const [only] = domains
  const domain = domains.size === 1 ? parseMailDomain(only!) : undefined
  return {
    mailboxes: mailboxes.slice(0, MAX_MAILBOXES),
    domains: domains.size,
    ...(domain?.ok ? { domain: domain.value } : {}),
  }
}
