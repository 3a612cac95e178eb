import { type Field, fieldBody, parseFields } from './parse.ts'
import { decoded, decodeWords, hexOf } from './words.ts'

/** A part without parts of its own (RFC 2046 §5.1). */
export type Part = {
  /** Lower case, such as `text/plain`. */
  readonly type: string
  readonly charset: string
  /** Content-Transfer-Encoding, lower case; by default `7bit` (RFC 2045 §6.1). */
  readonly encoding: string
  readonly disposition: string
  /** The decoded file name, empty if there is none. */
  readonly name: string
  /** The place of its content in the body of the message, as it is encoded. */
  readonly start: number
  readonly end: number
  readonly depth: number
}

export type MimeFault =
  | 'no_boundary'
  | 'boundary_missing'
  | 'not_closed'
  | 'too_deep'
  | 'too_many'
  | 'encoding'
  | 'type'

/** The structure of a body. */
export type Mime = {
  /** The media type of the message, `text/plain` if it names none. */
  readonly type: string
  /** In the order of the message; at most {@link MAX_PARTS}. */
  readonly parts: readonly Part[]
  /** What is wrong with the structure, each once. */
  readonly faults: readonly MimeFault[]
}

const MAX_PARTS = 1_000
/** Maximum number of places that begin like a boundary and are looked at. */
const MAX_LOOKED_AT = 20_000
/** Maximum length of a boundary; RFC 2046 §5.1.1 permits 70. */
const MAX_BOUNDARY = 200
/** Maximum length of a word that a part says about itself: what is known is shorter. */
const MAX_WORD = 100
/** Maximum nesting of parts. */
const MAX_DEPTH = 20
const TEXT_PLAIN = { type: 'text/plain', parameters: new Map<string, string>() }

/**
 * Reads the structure of a body (RFC 2046 §5.1): where each part is. Nothing is decoded; a message within the message
 * is one part. Never throws.
 */
export function parseMime(fields: readonly Field[], body: Buffer): Mime {
  const parts: Part[] = []
  const faults = new Set<MimeFault>()
  walk({ fields, body, start: 0, end: body.length, depth: 0, looks: { left: MAX_LOOKED_AT } }, parts, faults)
  return { type: contentTypeOf(fields).type, parts, faults: [...faults] }
}

type At = {
  readonly fields: readonly Field[]
  readonly body: Buffer
  readonly start: number
  readonly end: number
  readonly depth: number
  readonly looks: { left: number }
  /** A part that names no type is a message (RFC 2046 §5.1.5). */
  readonly isInDigest?: boolean
}

function walk(at: At, parts: Part[], faults: Set<MimeFault>): void {
  const { fields, body, start, end, depth, looks, isInDigest = false } = at
  const written = contentTypeOf(fields, faults)
  const isMessage = isInDigest && named(fields, 'content-type') === undefined
  const { type, parameters } = isMessage ? { ...written, type: 'message/rfc822' } : written
  if (!type.startsWith('multipart/')) {
    if (parts.length >= MAX_PARTS) faults.add('too_many')
    else parts.push({ ...leafOf(fields, type, parameters, faults), start, end, depth })
    return
  }
  const boundary = boundaryIn(parameters)
  if (boundary === undefined) return void faults.add('no_boundary')
  if (depth >= MAX_DEPTH) return void faults.add('too_deep')
  for (const [from, to] of sectionsOf(at, boundary, faults)) {
    if (parts.length >= MAX_PARTS) return void faults.add('too_many')
    const section = body.subarray(from, to)
    const head = parseFields(section)
    const inside = { fields: head.fields, body, start: from + head.end, end: to, depth: depth + 1, looks }
    walk({ ...inside, isInDigest: type === 'multipart/digest' }, parts, faults)
  }
}

const boundaryIn = (parameters: ReadonlyMap<string, string>): string | undefined => {
  const boundary = parameters.get('boundary') ?? ''
  return boundary !== '' && boundary.length <= MAX_BOUNDARY ? boundary : undefined
}

/** The boundary of the parts of a message, if it has one. */
export const boundaryOf = (fields: readonly Field[]): string | undefined => boundaryIn(contentTypeOf(fields).parameters)

/** The places between the lines of a boundary (RFC 2046 §5.1.1), without the line ends that belong to the boundary. */
function* sectionsOf(
  { body, start, end, looks }: At,
  boundary: string,
  faults: Set<MimeFault>,
): Generator<readonly [number, number]> {
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  const within = body.subarray(0, end) // what is behind the part is not searched
  let from = -1
  for (let at = within.indexOf(mark, start); at >= 0; at = within.indexOf(mark, at + mark.length)) {
    if (looks.left-- <= 0) return void faults.add('too_many')
    if (at > start && body[at - 1] !== 0x0a) continue // not at the begin of a line
    const after = at + mark.length
    const line = within.toString('latin1', after, after + 80)
    const isClose = line.startsWith('--')
    if (!isClose && !/^[ \t]*(?:\r\n|$)/.test(line)) continue // a longer boundary of an inner part
    if (from >= 0) yield [from, Math.max(from, at - 2)]
    if (isClose) return
    const newline = within.indexOf(0x0a, after)
    from = newline < 0 ? end : newline + 1
  }
  if (from < 0) return void faults.add('boundary_missing')
  faults.add('not_closed')
  yield [from, end]
}

const ENCODINGS = ['7bit', '8bit', 'binary', 'quoted-printable', 'base64']

function leafOf(
  fields: readonly Field[],
  type: string,
  parameters: ReadonlyMap<string, string>,
  faults: Set<MimeFault>,
): Omit<Part, 'start' | 'end' | 'depth'> {
  const encoding = withoutComments(named(fields, 'content-transfer-encoding') ?? '7bit')
    .trim()
    .toLowerCase()
  if (!ENCODINGS.includes(encoding)) faults.add('encoding')
  const disposition = parseParameters(named(fields, 'content-disposition') ?? '')
  const name = disposition.parameters.get('filename') ?? parameters.get('name') ?? ''
  return {
    type,
    charset: (parameters.get('charset') ?? 'us-ascii').slice(0, MAX_WORD).toLowerCase(),
    encoding: encoding.slice(0, MAX_WORD),
    disposition: disposition.value.slice(0, MAX_WORD),
    name: decodeWords(name.slice(0, 1_000)),
  }
}

/** The value of the first field of a name. */
function named(fields: readonly Field[], name: string): string | undefined {
  const field = fields.find((one) => one.name === name)
  return field && fieldBody(field)
}

/** The media type of a header section, `text/plain` by default (RFC 2045 §5.2). */
function contentTypeOf(fields: readonly Field[], faults?: Set<MimeFault>) {
  const written = named(fields, 'content-type')
  if (written === undefined) return TEXT_PLAIN
  const { value, parameters } = parseParameters(written)
  if (/^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/.test(value)) return { type: value, parameters }
  faults?.add('type')
  return TEXT_PLAIN
}

/**
 * A value with parameters (RFC 2045 §5.1), with continuations and character sets (RFC 2231). Names and the value are
 * lower case. A quoted string that is not closed ends like one without quotes.
 */
export function parseParameters(text: string): { value: string; parameters: ReadonlyMap<string, string> } {
  const parameters = new Map<string, string>()
  const continued = new Map<string, Piece[]>()
  let at = text.indexOf(';')
  const value = at < 0 ? text : text.slice(0, at)
  let hasQuotes = true
  while (at >= 0) {
    PARAMETER.lastIndex = at
    const written = PARAMETER.exec(text)?.[1]
    if (written !== undefined) {
      at = PARAMETER.lastIndex
      QUOTED.lastIndex = at
      const quoted = hasQuotes && text[at] === '"' ? QUOTED.exec(text) : undefined
      if (quoted === null) hasQuotes = false // none is closed behind it: the text is read once
      BARE.lastIndex = at
      const given = quoted ? quoted[1]!.replace(/\\(.)/gs, '$1') : BARE.exec(text)![0]
      at += quoted?.[0].length ?? given.length
      add(written.toLowerCase(), given)
    } else at++
    at = text.indexOf(';', at)
  }
  function add(name: string, given: string): void {
    const { base, place, star } = /^(?<base>[^*]+)(?:\*(?<place>\d{1,2}))?(?<star>\*)?$/.exec(name)?.groups ?? {}
    if (base === undefined || (place === undefined && star === undefined)) return void parameters.set(name, given)
    const pieces = continued.get(base) ?? []
    continued.set(base, pieces)
    pieces.push({ place: Number(place ?? 0), isEncoded: star !== undefined, text: given })
  }
  for (const [name, pieces] of continued) parameters.set(name, joined(pieces))
  return { value: withoutComments(value).trim().toLowerCase(), parameters }
}

const PARAMETER = /;\s*([^\s=;"]{1,100})\s*=\s*/y
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy
const BARE = /[^;\s]*/y

/** A piece of a value that continues in others (RFC 2231 §3), or that is percent-encoded (§4). */
type Piece = { readonly place: number; readonly isEncoded: boolean; readonly text: string }

function joined(pieces: readonly Piece[]): string {
  const inOrder = pieces.toSorted((a, b) => a.place - b.place)
  const [first] = inOrder
  const { charset = 'utf-8', rest } = /^(?<charset>[^']{0,40})'[^']{0,40}'(?<rest>.*)$/s.exec(first!.text)?.groups ?? {}
  const isNamed = first!.isEncoded && rest !== undefined
  const octets = inOrder.map((piece, i) => {
    const text = i === 0 && isNamed ? rest : piece.text
    return piece.isEncoded ? percentDecoded(text) : Buffer.from(text, 'latin1')
  })
  return decoded(Buffer.concat(octets), isNamed && charset !== '' ? charset.toLowerCase() : 'utf-8')
}

function percentDecoded(text: string): Buffer {
  const octets = Buffer.from(text, 'latin1')
  let size = 0
  for (let i = 0; i < octets.length; i++) {
    const value = octets[i] === 0x25 ? hexOf(octets[i + 1]) * 16 + hexOf(octets[i + 2]) : Number.NaN
    octets[size++] = value >= 0 ? value : octets[i]!
    if (value >= 0) i += 2
  }
  return octets.subarray(0, size)
}

/** A text without its comments, nested to any depth (RFC 5322 §3.2.2); quoted strings keep their parentheses. */
export function withoutComments(text: string): string {
  if (!text.includes('(')) return text
  const kept: string[] = []
  let depth = 0
  let isQuoted = false
  let from = 0
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === '\\' && (depth > 0 || isQuoted)) i++
    else if (char === '"' && depth === 0) isQuoted = !isQuoted
    else if (char === '(' && !isQuoted && depth++ === 0) kept.push(text.slice(from, i))
    else if (char === ')' && depth > 0 && --depth === 0) from = i + 1
  }
  if (depth === 0) kept.push(text.slice(from))
  return kept.join('')
}

/** The decoded octets of a part, made of at most `max` octets of its encoded form (RFC 2045 §6). */
export function contentOf(
  body: Buffer,
  { start, end, encoding }: Pick<Part, 'start' | 'end' | 'encoding'>,
  max = end - start,
): Buffer {
  const raw = body.subarray(start, Math.min(end, start + max))
  if (encoding === 'base64') return Buffer.from(raw.toString('latin1'), 'base64')
  return encoding === 'quoted-printable' ? quotedPrintable(raw) : raw
}

/** RFC 2045 §6.7; what is no escape stays as it is. */
export function quotedPrintable(encoded: Uint8Array): Buffer {
  const octets = Buffer.from(encoded)
  let size = 0
  for (let i = 0; i < octets.length; ) {
    const octet = octets[i]!
    const isEscape = octet === EQUALS
    // Spaces at the end of a line are none of the text, also between the sign of a soft line break and the line end.
    const end = isEscape || isBlank(octet) ? afterBlanks(octets, isEscape ? i + 1 : i) : i
    if (end > i && octets[end] === 0x0d && octets[end + 1] === 0x0a) {
      i = isEscape ? end + 2 : end
      continue
    }
    const value = isEscape ? hexOf(octets[i + 1]) * 16 + hexOf(octets[i + 2]) : Number.NaN
    if (value >= 0) {
      octets[size++] = value
      i += 3
    } else if (isEscape || end === i) octets[size++] = octets[i++]!
    else while (i < end) octets[size++] = octets[i++]!
  }
  return octets.subarray(0, size)
}

const EQUALS = 0x3d
const isBlank = (octet: number | undefined): boolean => octet === 0x20 || octet === 0x09
function afterBlanks(octets: Buffer, from: number): number {
  let at = from
  while (isBlank(octets[at])) at++
  return at
}
