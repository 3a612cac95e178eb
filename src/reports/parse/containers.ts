import { crc32, createInflateRaw } from 'node:zlib'
import type { ZipFile } from 'yauzl'
import { AppError, messageOf } from '../../base/errors.ts'
import { laneProblem } from '../../lane/problems.ts'
import { type Part, parseMime, contentOf as partOf } from '../../message/mime.ts'
import { parseMail } from '../../message/parse.ts'
import { reportError } from '../problems.ts'

/**
 * What an input holds when nothing is packed any more. The octets of `xml` and `json` must be read before the next one
 * is requested; what is not read is dropped.
 */
export type Leaf = {
  /** Name of the attachment or file as it was given, for answers; never a path. */
  readonly name: string
  /** The input is a message, and this came in it. */
  readonly isInMessage: boolean
} & (
  | { readonly content: 'xml' | 'json'; readonly octets: AsyncIterable<Uint8Array> }
  | { readonly content: 'failure' }
  /** No report, and what it is instead, where that is known. */
  | { readonly content: 'other'; readonly why?: AppError }
  /** A message in an input that is none, which is an input of its own: whoever sent it is asked for its sender. */
  | { readonly content: 'message'; readonly octets: Uint8Array; readonly depth: number }
  /** A file or container that could not be read. */
  | { readonly content: 'unread'; readonly error: AppError }
)

export type Bounds = {
  /** Maximum octets of an input, of a container within it, which is held in memory, and of the messages in it. */
  readonly maxOctets: number
  /** Maximum octets of all that is unpacked from an input. A ratio is not judged: real XML packs well. */
  readonly maxUnpacked: number
  /** Maximum number of files, messages and their parts. */
  readonly maxEntries: number
  /** Maximum nesting of archives, mbox files and messages. */
  readonly maxNesting: number
}
export const BOUNDS: Bounds = {
  maxOctets: 25 * 1_048_576,
  maxUnpacked: 256 * 1_048_576,
  maxEntries: 1_000,
  maxNesting: 3,
}

/** What was spent of the bounds of an input. The messages in it go on with it. */
export type Spent = { unpacked: number; entries: number; messages: number }
export const nothingSpent = (): Spent => ({ unpacked: 0, entries: 0, messages: 0 })

type Budget = { readonly bounds: Bounds; readonly spent: Spent }
type Place = { readonly name: string; readonly depth: number; readonly isInMessage: boolean }
type Octets = AsyncIterable<Uint8Array>

/**
 * What an input holds, whatever is packed in whatever, each recognized by its content. Everything in it spends from one
 * budget. Never rejects for what the octets are. `depth`: how deep the input itself was found.
 */
export async function* filesIn(
  octets: Uint8Array,
  { name, depth = 0 }: { readonly name: string; readonly depth?: number },
  bounds: Bounds = BOUNDS,
  spent: Spent = nothingSpent(),
): AsyncGenerator<Leaf> {
  const message = messageOfEmlx(octets) ?? octets
  const isMessage = contentOf(message.subarray(0, HEAD_OCTETS)) === 'message'
  const place = { name, depth, isInMessage: isMessage }
  const budget = { bounds, spent }
  if (isMessage) yield* caught(inMessage(message, place, budget), place)
  else yield* within(once(octets), place, budget)
}

async function* within(octets: Octets, place: Place, budget: Budget): AsyncGenerator<Leaf> {
  yield* caught(contents(octets, place, budget), place)
}

/** A fault of a container ends it, and what is beside it is read; also a fault of ours. */
async function* caught(leaves: AsyncGenerator<Leaf>, { name, isInMessage }: Place): AsyncGenerator<Leaf> {
  try {
    yield* leaves
  } catch (error) {
    yield { name, isInMessage, content: 'unread', error: itemError(error) }
  }
}

/** The error with which an item is refused: that of its reader, or that we have a fault (its `cause`). */
export const itemError = (error: unknown): AppError =>
  error instanceof AppError ? error : new AppError('bad_report', laneProblem('fault'), { cause: error })

async function* contents(octets: Octets, place: Place, budget: Budget): AsyncGenerator<Leaf> {
  const { name, isInMessage } = place
  const { head, all } = await peeked(octets)
  const content = contentOf(head)
  if (content === 'xml' || content === 'json') yield { name, isInMessage, content, octets: all }
  else if (content === 'other' || content === 'empty') {
    const what = content === 'empty' ? undefined : formatOf(head)
    const why = content === 'empty' ? reportError('empty') : what && reportError('format', { what })
    yield { name, isInMessage, content: 'other', ...(why && { why }) }
  } else {
    const inside = deeper(place, budget)
    const whole = await buffered(all, budget.bounds.maxOctets)
    if (content === 'gzip') yield* within(gunzipped(whole, budget), inside, budget)
    else if (content === 'base64') yield* within(once(Buffer.from(whole.toString('latin1'), 'base64')), inside, budget)
    else if (content === 'zip') yield* inZip(whole, inside, budget)
    else if (content === 'mbox') yield* inMbox(whole, inside, budget)
    else yield* messageAt(whole, inside, budget)
  }
}

function deeper(place: Place, { bounds }: Budget): Place {
  if (place.depth >= bounds.maxNesting) throw reportError('nesting', { max: bounds.maxNesting })
  return { ...place, depth: place.depth + 1 }
}

function spendEntry({ bounds, spent }: Budget): void {
  if (++spent.entries > bounds.maxEntries) throw reportError('entries', { max: bounds.maxEntries })
}

/** The beginning of a stream, and the whole of it. */
async function peeked(octets: Octets): Promise<{ readonly head: Uint8Array; readonly all: Octets }> {
  const chunks = octets[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let size = 0
  while (size < HEAD_OCTETS) {
    const next = await chunks.next()
    if (next.done) break
    first.push(next.value)
    size += next.value.length
  }
  const read = first.length === 1 ? first[0]! : Buffer.concat(first)
  const head = read.subarray(startOf(read.subarray(0, HEAD_OCTETS)))
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      if (head.length > 0) yield head
      for (;;) {
        const next = await chunks.next()
        if (next.done) return
        yield next.value
      }
    } finally {
      await chunks.return?.()
    }
  }
  return { head: head.subarray(0, HEAD_OCTETS), all: all() }
}

/** All octets in memory. Throws if there are more than `max`. */
export async function buffered(octets: Octets, max: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of octets) {
    size += chunk.length
    if (size > max) throw reportError('too_large', { max })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Counts unpacked octets. Throws at the bound. */
async function* bounded(octets: Octets, { bounds, spent }: Budget): AsyncGenerator<Uint8Array> {
  for await (const chunk of octets) {
    spent.unpacked += chunk.length
    if (spent.unpacked > bounds.maxUnpacked) throw reportError('unpacked', { max: bounds.maxUnpacked })
    yield chunk
  }
}

/**
 * The members of a gzip file (RFC 1952), without what is behind them: mail gateways add line ends and disclaimers.
 * createGunzip takes them for a broken member.
 */
async function* gunzipped(whole: Buffer, budget: Budget): AsyncGenerator<Uint8Array> {
  for (let at = 0; at === 0 || isGzip(whole.subarray(at)); ) {
    const from = endOfHeader(whole, at)
    const inflate = createInflateRaw({ chunkSize: PIECE })
    inflate.end(whole.subarray(from))
    let crc = 0
    try {
      for await (const chunk of bounded(inflate, budget)) {
        crc = crc32(chunk, crc)
        yield chunk
      }
    } catch (cause) {
      throw isOfZlib(cause) ? gzipError(messageOf(cause), cause) : cause
    } finally {
      inflate.destroy()
    }
    const end = from + inflate.bytesWritten
    if (end + TRAILER > whole.length) throw gzipError('it ends too soon')
    if (whole.readUInt32LE(end) !== crc) throw gzipError(DAMAGED)
    at = end + TRAILER
  }
}

const gzipError = (reason: string, cause?: unknown): AppError =>
  reportError('archive', { kind: 'gzip', reason }, { cause })
const isOfZlib = (error: unknown): boolean => error instanceof Error && 'errno' in error
/** The checksum and the size of a member. */
const TRAILER = 8
const isGzip = (head: Uint8Array): boolean => head[0] === 0x1f && head[1] === 0x8b // RFC 1952 §2.3.1

/** Where the data of a member begins (RFC 1952 §2.3). */
function endOfHeader(whole: Buffer, from: number): number {
  const flags = whole[from + 3] ?? 0
  let at = from + 10
  if (flags & 4) at += 2 + (whole[at] ?? 0) + 256 * (whole[at + 1] ?? 0)
  for (const flag of [8, 16]) {
    if (!(flags & flag)) continue
    const end = whole.indexOf(0, at) // of the name, and of the comment
    at = end < 0 ? whole.length : end + 1
  }
  if (flags & 2) at += 2
  if (whole[from + 2] !== 8) throw gzipError('its compression is unknown')
  if (at >= whole.length) throw gzipError('it ends too soon')
  return at
}

async function* inZip(whole: Buffer, place: Place, budget: Budget): AsyncGenerator<Leaf> {
  const { fromBufferPromise } = await import('yauzl')
  let zip: ZipFile
  try {
    // Names are shown and never used as paths: any name is accepted.
    zip = await fromBufferPromise(zipIn(whole), { lazyEntries: true, decodeStrings: false, autoClose: false })
  } catch (cause) {
    throw reportError('archive', { kind: 'zip', reason: messageOf(cause) }, { cause })
  }
  try {
    for await (const entry of zip.eachEntry()) {
      spendEntry(budget)
      const path = entry.fileNameRaw
      if (path.at(-1) === SLASH || isOfMac(path)) continue
      if (entry.isEncrypted()) throw reportError('archive', { kind: 'zip', reason: 'it is encrypted' })
      if (path.equals(OFFICE)) throw reportError('format', { what: 'a document of an office program' })
      const name = path.toString('utf8').replace(/^.*[/\\]/s, '') || place.name
      const stream = await zip.openReadStreamPromise(entry)
      try {
        yield* within(bounded(intact(stream, entry.crc32), budget), { ...place, name }, budget)
      } finally {
        stream.destroy()
      }
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw reportError('archive', { kind: 'zip', reason: messageOf(cause) }, { cause })
  } finally {
    zip.close()
  }
}

/** The octets of an entry; throws at their end if they are others than its checksum says. */
async function* intact(octets: Octets, checksum: number): AsyncGenerator<Uint8Array> {
  let crc = 0
  for await (const chunk of octets) {
    crc = crc32(chunk, crc)
    yield chunk
  }
  if (crc !== checksum) throw reportError('archive', { kind: 'zip', reason: DAMAGED })
}
const DAMAGED = 'its checksum is that of other octets: it is damaged'

/** A zip file without what is behind it (APPNOTE 4.3.16): mail gateways add line ends and disclaimers. */
function zipIn(whole: Buffer): Buffer {
  const at = whole.lastIndexOf(ZIP_END)
  const end = at + ZIP_END_OCTETS + (at >= 0 && at + ZIP_END_OCTETS <= whole.length ? whole.readUInt16LE(at + 20) : 0)
  return at < 0 ? whole : whole.subarray(0, end)
}
const ZIP_END = Buffer.from('PK\u0005\u0006')
const ZIP_END_OCTETS = 22

/** The first file of documents that are zip files. */
const OFFICE = Buffer.from('[Content_Types].xml')
const SLASH = 0x2f
/** macOS adds a folder with the properties of each file. */
const isOfMac = (name: Buffer): boolean => name.toString('latin1', 0, 9) === '__MACOSX/'

/** Messages between lines that begin with "From " after an empty line (RFC 4155); ">From " is "From " (mboxrd). */
async function* inMbox(whole: Buffer, place: Place, budget: Budget): AsyncGenerator<Leaf> {
  let number = 0
  for (let start = afterLine(whole, 0); start < whole.length; ) {
    const next = nextSeparator(whole, start)
    const end = next < 0 ? whole.length : next
    spendEntry(budget)
    const one = { ...place, name: `${place.name}#${++number}` }
    yield* messageAt(unquoted(whole.subarray(start, end)), one, budget)
    start = next < 0 ? whole.length : afterLine(whole, next)
  }
}

/** The index after the line that contains `from`. */
export const afterLine = (whole: Buffer, from: number): number => {
  const end = whole.indexOf(10, from)
  return end < 0 ? whole.length : end + 1
}

/** Where the next message of an mbox begins, with its line "From …"; -1: none begins after `from`. */
export function nextSeparator(whole: Buffer, from: number): number {
  for (let at = whole.indexOf('\nFrom ', from); at >= 0; at = whole.indexOf('\nFrom ', at + 1)) {
    const before = whole[at - 1] === 13 ? whole[at - 2] : whole[at - 1]
    if (before === 10) return at + 1
  }
  return -1
}

/** A message of an mbox as it was before ">" was put before its lines "From …" (mboxrd). */
export const unquoted = (message: Buffer): Buffer =>
  message.includes('\n>') ? Buffer.from(message.toString('latin1').replace(/^>(>*From )/gm, '$1'), 'latin1') : message

/** A message within another one is a part of it; in another container it was sent by somebody. */
async function* messageAt(whole: Buffer, place: Place, budget: Budget): AsyncGenerator<Leaf> {
  if (place.isInMessage) return yield* caught(inMessage(whole, place, budget), place)
  const { bounds, spent } = budget
  spent.messages += whole.length
  if (spent.messages > bounds.maxOctets) throw reportError('unpacked', { max: bounds.maxOctets })
  yield { name: place.name, isInMessage: false, content: 'message', octets: whole, depth: place.depth }
}

async function* inMessage(whole: Uint8Array, place: Place, budget: Budget): AsyncGenerator<Leaf> {
  const { fields, body } = parseMail(Buffer.from(whole.buffer, whole.byteOffset, whole.length))
  const { parts, faults } = parseMime(fields, body)
  const isFailure = parts.some(
    (part) => part.type === 'message/feedback-report' || (!isText(part) && beginsAsFeedback(headOf(body, part))),
  )
  if (isFailure) return yield { name: place.name, isInMessage: true, content: 'failure' }
  let found = 0
  for (const part of parts) {
    spendEntry(budget)
    const opaque = OPAQUE.find(([type]) => type.test(part.type))
    if (opaque) throw reportError('format', { what: opaque[1] })
    if (isText(part) && !mayBeReport(headOf(body, part))) continue
    found++
    yield* within(once(partOf(body, part)), { ...place, name: part.name || place.name }, budget)
  }
  if (faults.includes('too_many')) throw reportError('entries', { max: budget.bounds.maxEntries })
  if (found === 0) yield { name: place.name, isInMessage: true, content: 'other' }
}

/** What a person reads; a report may be in it. */
const isText = ({ type, disposition }: Part): boolean =>
  (type === 'text/plain' || type === 'text/html') && disposition !== 'attachment'

/** HTML of a person's mail is no report, and is not read as one. */
const mayBeReport = (head: string): boolean =>
  !/^\s*<(?:!doctype|html)/i.test(head) && MAY_BE_REPORT.includes(contentOf(Buffer.from(head, 'latin1')))
const MAY_BE_REPORT: readonly Content[] = ['xml', 'json', 'gzip', 'zip', 'base64']

/** Types of parts that only their recipient can read. */
const OPAQUE: readonly (readonly [type: RegExp, what: string])[] = [
  [/^application\/(?:x-)?pkcs7-mime$/, 'a message in S/MIME'],
  [/^application\/(?:pgp-encrypted|octet-stream\+pgp)$/, 'an encrypted message (PGP)'],
]

/** A failure report or another abuse report (RFC 6591, RFC 5965): by the field with which it begins. */
const beginsAsFeedback = (head: string): boolean => /^\s*(?:[\w-]+:[^\n]*\n)*?Feedback-Type\s*:/i.test(head)

const headOf = (body: Buffer, part: Part): string =>
  partOf(body, part, 2 * HEAD_OCTETS).toString('latin1', 0, HEAD_OCTETS)

/** Octets that are unpacked and parsed at once. */
const PIECE = 65_536

async function* once(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += PIECE) yield octets.subarray(at, at + PIECE)
}

/** What octets are, judged by their beginning: names and media types of reports are often wrong. */
type Content = 'gzip' | 'zip' | 'xml' | 'json' | 'base64' | 'mbox' | 'message' | 'empty' | 'other'

/** Number of octets that {@link contentOf} needs. */
export const HEAD_OCTETS = 1_024

/** Judges the first {@link HEAD_OCTETS} octets of an input. */
function contentOf(head: Uint8Array): Content {
  if (isGzip(head)) return 'gzip'
  if (isZip(head)) return 'zip'
  const text = new TextDecoder(encodingOf(head)).decode(head).trimStart()
  if (text === '') return 'empty'
  if (text.startsWith('<')) return 'xml'
  if (/^(?:\{|\[\s*\{)/.test(text)) return 'json'
  if (/^From \S/.test(text)) return 'mbox' // RFC 4155
  if (BASE64.test(text)) return 'base64'
  return /^[!-9;-~]{1,76}:(?:[ \t]|\r?\n)/.test(text) ? 'message' : 'other' // RFC 5322 §2.2
}

/** APPNOTE 4.3.7; an empty archive begins with its end. */
const isZip = (head: Uint8Array): boolean =>
  head[0] === 0x50 && head[1] === 0x4b && ((head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6))

/** gzip, zip, XML or JSON in base64 that nobody has decoded: a part of a mail without its transfer encoding. */
const BASE64 = /^(?:H4sI|UEsDB|PD94bWwg|PGZlZWRiYWNr|eyJ)[A-Za-z0-9+/\s]{30,}={0,2}\s*$/

/** The message in a file of Apple Mail: its octets are counted in the first line. */
function messageOfEmlx(octets: Uint8Array): Uint8Array | undefined {
  const head = Buffer.from(octets.buffer, octets.byteOffset, Math.min(octets.length, HEAD_OCTETS)).toString('latin1')
  const [line, count] = /^(\d{1,10}) *\r?\n(?=[!-9;-~]{1,76}:[ \t])/.exec(head) ?? []
  return line === undefined ? undefined : octets.subarray(line.length, line.length + Number(count))
}

/** Where the content begins: behind line ends before an archive, or a text before the XML. */
function startOf(head: Uint8Array): number {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1')
  const blank = /^[\r\n]+/.exec(text)?.[0].length ?? 0
  if (blank > 0 && (isGzip(head.subarray(blank)) || isZip(head.subarray(blank)))) return blank
  const isText = contentOf(head) === 'other' && formatOf(head) === undefined
  return isText ? Math.max(0, text.search(/<\?xml\s|<(?:\w{1,20}:)?feedback[\s>]/)) : 0
}

/** Files that people take for reports, by their first octets. */
const FORMATS: readonly (readonly [what: string, magic: Buffer, at?: number])[] = [
  ['a PDF', Buffer.from('%PDF-')],
  ['a 7-Zip archive (7z)', Buffer.from('7z\xbc\xaf\x27\x1c', 'latin1')],
  ['a RAR archive', Buffer.from('Rar!')],
  ['a tar archive', Buffer.from('ustar'), 257],
  ['packed with bzip2', Buffer.from('BZh')],
  ['packed with xz', Buffer.from('\xfd7zXZ', 'latin1')],
  ['packed with zstd', Buffer.from('\x28\xb5\x2f\xfd', 'latin1')],
  ['packed with compress', Buffer.from('\x1f\x9d', 'latin1')],
  ['packed with zlib', Buffer.from('\x78\x9c', 'latin1')],
  ['packed with zlib', Buffer.from('\x78\xda', 'latin1')],
  ['encoded with uuencode', Buffer.from('begin 6')],
  ['an image', Buffer.from('\x89PNG', 'latin1')],
  ['an image', Buffer.from('\xff\xd8\xff', 'latin1')],
  ['an image', Buffer.from('GIF8')],
  ['an attachment of Outlook (winmail.dat)', Buffer.from('\x78\x9f\x3e\x22', 'latin1')],
  ['a message of Outlook (.msg)', Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1')],
]
const formatOf = (head: Uint8Array): string | undefined =>
  FORMATS.find(([, magic, at = 0]) => magic.equals(head.subarray(at, at + magic.length)))?.[0]

/**
 * The encoding of XML or JSON, as a label of the Encoding standard: a byte order mark, else what zero octets tell of
 * UTF-16, else the XML declaration, else UTF-8 (XML 1.0 appendix F).
 */
export function encodingOf(head: Uint8Array): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8'
  if (head.length > 3 && head[0] !== 0 && head[1] === 0) return 'utf-16le'
  if (head.length > 3 && head[0] === 0 && head[1] !== 0) return 'utf-16be'
  const declared = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z][\w.-]{0,40})["']/.exec(
    Buffer.from(head.subarray(0, 256)).toString('latin1'),
  )?.[1]
  if (declared === undefined || /^utf-?16/i.test(declared)) return 'utf-8'
  try {
    return new TextDecoder(declared).encoding
  } catch {
    return 'utf-8' // a label that nobody knows: most reports with one are ASCII
  }
}
