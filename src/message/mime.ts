import { decodeWords } from 'postal-mime'
import { type Field, fieldBody, parseFields } from './parse.ts'

/** A part without parts of its own (RFC 2046 §5.1). */
type Part = {
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

/** Maximum number of parts that are read. */
const MAX_PARTS = 1_000
/** Maximum number of places that begin like a boundary and are looked at. */
const MAX_LOOKED_AT = 20_000
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
}

function walk(at: At, parts: Part[], faults: Set<MimeFault>): void {
  const { fields, body, start, end, depth, looks } = at
  const { type, parameters } = contentTypeOf(fields, faults)
  if (!type.startsWith('multipart/')) {
    if (parts.length >= MAX_PARTS) faults.add('too_many')
    else parts.push({ ...leafOf(fields, type, parameters, faults), start, end, depth })
    return
  }
  const boundary = parameters.get('boundary')
  if (!boundary) return void faults.add('no_boundary')
  if (depth >= MAX_DEPTH) return void faults.add('too_deep')
  for (const [from, to] of sectionsOf(at, boundary, faults)) {
    if (parts.length >= MAX_PARTS) return void faults.add('too_many')
    const section = body.subarray(from, to)
    const head = parseFields(section)
    walk({ fields: head.fields, body, start: from + head.end, end: to, depth: depth + 1, looks }, parts, faults)
  }
}

/** The places between the lines of a boundary (RFC 2046 §5.1.1), without the line ends that belong to the boundary. */
function* sectionsOf(
  { body, start, end, looks }: At,
  boundary: string,
  faults: Set<MimeFault>,
): Generator<readonly [number, number]> {
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  let from = -1
  for (let at = body.indexOf(mark, start); at >= 0 && at < end; at = body.indexOf(mark, at + mark.length)) {
    if (looks.left-- <= 0) return void faults.add('too_many')
    if (at > start && body[at - 1] !== 0x0a) continue // not at the begin of a line
    const after = at + mark.length
    const line = body.toString('latin1', after, Math.min(after + 80, end))
    const isClose = line.startsWith('--')
    if (!isClose && !/^[ \t]*(?:\r\n|$)/.test(line)) continue // a longer boundary of an inner part
    if (from >= 0) yield [from, Math.max(from, at - 2)]
    if (isClose) return
    const newline = body.indexOf(0x0a, after)
    from = newline < 0 || newline >= end ? end : newline + 1
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
  const encodings = named(fields, 'content-transfer-encoding')
  const encoding = withoutComments(encodings[0] ?? '7bit')
    .trim()
    .toLowerCase()
  if (!ENCODINGS.includes(encoding)) faults.add('encoding')
  const disposition = parseParameters(named(fields, 'content-disposition')[0] ?? '')
  const name = disposition.parameters.get('filename') ?? parameters.get('name') ?? ''
  return {
    type,
    charset: (parameters.get('charset') ?? 'us-ascii').toLowerCase(),
    encoding,
    disposition: disposition.value,
    name: decodeWords(name.slice(0, 1_000)),
  }
}

const named = (fields: readonly Field[], name: string): string[] =>
  fields.filter((field) => field.name === name).map((field) => fieldBody(field).slice(0, 10_000))

/** The media type of a header section, `text/plain` by default (RFC 2045 §5.2). */
function contentTypeOf(fields: readonly Field[], faults?: Set<MimeFault>) {
  const written = named(fields, 'content-type')[0]
  if (written === undefined) return TEXT_PLAIN
  const { value, parameters } = parseParameters(written)
  if (/^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/.test(value)) return { type: value, parameters }
  faults?.add('type')
  return TEXT_PLAIN
}

/**
 * A value with parameters (RFC 2045 §5.1), with continuations and character sets (RFC 2231). Names and the value are
 * lower case.
 */
export function parseParameters(text: string): { value: string; parameters: ReadonlyMap<string, string> } {
  const parameters = new Map<string, string>()
  const pattern = /;\s*([^\s=;"]{1,100})\s*=\s*(?:"((?:[^"\\]|\\.){0,2000})"|([^;\s]{0,2000}))/gs
  const continued = new Map<string, string[]>()
  for (const [, written = '', quoted, bare] of text.matchAll(pattern)) {
    const name = written.toLowerCase()
    const value = quoted === undefined ? (bare ?? '') : quoted.replace(/\\(.)/gs, '$1')
    const { base, at, star } = /^(?<base>[^*]+)(?:\*(?<at>\d{1,2}))?(?<star>\*)?$/.exec(name)?.groups ?? {}
    if (base === undefined || (at === undefined && star === undefined)) parameters.set(name, value)
    else {
      const pieces = continued.get(base) ?? []
      pieces[Number(at ?? 0)] = star === undefined ? value : percentDecoded(value)
      continued.set(base, pieces)
    }
  }
  for (const [name, pieces] of continued) parameters.set(name, pieces.join(''))
  return { value: withoutComments(text.split(';', 1)[0]!).trim().toLowerCase(), parameters }
}

function percentDecoded(text: string): string {
  const value = /^[^']{0,40}'[^']{0,40}'(?<rest>.*)$/s.exec(text)?.groups?.rest ?? text
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** A text without its comments, nested to any depth (RFC 5322 §3.2.2); quoted strings keep their parentheses. */
export function withoutComments(text: string): string {
  if (!text.includes('(')) return text
  let out = ''
  let depth = 0
  let isQuoted = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    if (char === '\\' && (depth > 0 || isQuoted)) {
      if (depth === 0) out += text.slice(i, i + 2)
      i++
    } else if (isQuoted || depth === 0) {
      if (char === '"') isQuoted = !isQuoted
      if (char === '(' && !isQuoted) depth++
      else out += char
    } else if (char === '(') depth++
    else if (char === ')') depth--
  }
  return out
}

/** The content of a part, decoded, at most about `max` octets of it; one character an octet. */
export function decodedText(body: Buffer, { start, end, encoding }: Part, max: number): string {
  const raw = body.toString('latin1', start, Math.min(end, start + max))
  if (encoding === 'base64') return Buffer.from(raw, 'base64').toString('latin1')
  return encoding === 'quoted-printable' ? quotedPrintable(raw) : raw
}

/**
 * RFC 2045 §6.7; what is no escape stays as it is. One pass over octets: a call for each escape of 2 MiB would hold the
 * event loop for 0.3 s.
 */
export function quotedPrintable(text: string): string {
  const octets = Buffer.from(text, 'latin1')
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
  return octets.toString('latin1', 0, size)
}

const EQUALS = 0x3d
const isBlank = (octet: number | undefined): boolean => octet === 0x20 || octet === 0x09
function afterBlanks(octets: Buffer, from: number): number {
  let at = from
  while (isBlank(octets[at])) at++
  return at
}
/** The value of a hexadecimal digit, NaN for anything else. */
function hexOf(octet = 0): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30
  const letter = octet | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}
