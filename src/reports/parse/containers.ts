import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Attachment, Email } from 'postal-mime'
import type { ZipFile } from 'yauzl'
import { AppError, messageOf } from '../../base/errors.ts'
import { reportError } from '../problems.ts'

/**
 * A file without a container around it. Its octets must be read before the next one is requested; what is not read is
 * dropped.
 */
export type Leaf = {
  /** Name of the attachment or file as it was given, for answers; never a path. */
  readonly name: string
  readonly content: 'xml' | 'json' | 'failure' | 'other'
  readonly octets: AsyncIterable<Uint8Array>
  /** The message in which it came: the outermost, which is the one that somebody sent to us. */
  readonly message?: Uint8Array
}
/** A file or container that could not be read. */
type Unread = { readonly name: string; readonly error: AppError; readonly message?: Uint8Array }

export type Bounds = {
  /** Maximum octets of an input and of a container within it, which is held in memory. */
  readonly maxOctets: number
  /** Maximum octets of all that is unpacked from an input. A ratio is not judged: real XML packs well. */
  readonly maxUnpacked: number
  readonly maxEntries: number
  /** Maximum nesting of archives and messages. */
  readonly maxNesting: number
}
export const BOUNDS: Bounds = {
  maxOctets: 25 * 1_048_576,
  maxUnpacked: 1_073_741_824,
  maxEntries: 1_000,
  maxNesting: 3,
}

type Place = { readonly name: string; readonly depth: number; readonly message?: Uint8Array }
type Budget = { readonly bounds: Bounds; unpacked: number; entries: number }
type Octets = AsyncIterable<Uint8Array>

/**
 * The files in an input, whatever is packed in whatever, each recognized by its content. Never rejects for what the
 * octets are; a fault is an {@link Unread}.
 */
export async function* filesIn(octets: Octets, name: string, bounds: Bounds = BOUNDS): AsyncGenerator<Leaf | Unread> {
  yield* within(octets, { name, depth: 0 }, { bounds, unpacked: 0, entries: 0 })
}

async function* within(octets: Octets, place: Place, budget: Budget): AsyncGenerator<Leaf | Unread> {
  const about = { name: place.name, ...(place.message && { message: place.message }) }
  try {
    const { head, all } = await peeked(octets)
    const content = contentOf(head)
    if (content === 'xml' || content === 'json') yield { ...about, content, octets: all }
    else if (content === 'other' || content === 'empty') yield { ...about, content: 'other', octets: all }
    else if (content === 'gzip') yield* within(gunzipped(all, budget), deeper(place, budget), budget)
    else {
      const whole = await buffered(all, budget.bounds.maxOctets)
      if (content === 'zip') yield* inZip(whole, deeper(place, budget), budget)
      else if (content === 'mbox') yield* inMbox(whole, place, budget)
      else yield* inMessage(whole, place.message ? deeper(place, budget) : place, budget)
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    yield { ...about, error }
  }
}

function deeper(place: Place, { bounds }: Budget): Place {
  if (place.depth >= bounds.maxNesting) throw reportError('nesting', { max: bounds.maxNesting })
  return { ...place, depth: place.depth + 1 }
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
  const head = Buffer.concat(first)
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
async function* bounded(octets: Octets, budget: Budget): AsyncGenerator<Uint8Array> {
  for await (const chunk of octets) {
    budget.unpacked += chunk.length
    if (budget.unpacked > budget.bounds.maxUnpacked) throw reportError('unpacked', { max: budget.bounds.maxUnpacked })
    yield chunk
  }
}

async function* gunzipped(octets: Octets, budget: Budget): AsyncGenerator<Uint8Array> {
  const packed = Readable.from(octets, { highWaterMark: 1 })
  const unzip = createGunzip()
  packed.on('error', (error) => unzip.destroy(error)).pipe(unzip)
  try {
    yield* bounded(unzip, budget)
  } catch (cause) {
    throw cause instanceof AppError
      ? cause
      : reportError('archive', { kind: 'gzip', reason: messageOf(cause) }, { cause })
  } finally {
    packed.destroy()
    unzip.destroy()
  }
}

async function* inZip(whole: Buffer, place: Place, budget: Budget): AsyncGenerator<Leaf | Unread> {
  const { fromBufferPromise } = await import('yauzl')
  let zip: ZipFile
  try {
    // Names are shown and never used as paths: any name is accepted.
    zip = await fromBufferPromise(whole, { lazyEntries: true, decodeStrings: false, autoClose: false })
  } catch (cause) {
    throw reportError('archive', { kind: 'zip', reason: messageOf(cause) }, { cause })
  }
  try {
    for await (const entry of zip.eachEntry()) {
      if (++budget.entries > budget.bounds.maxEntries) throw reportError('entries', { max: budget.bounds.maxEntries })
      const name = entry.fileNameRaw.toString('utf8').replace(/^.*[/\\]/s, '')
      if (name === '' || isOfMac(entry.fileNameRaw)) continue
      const stream = await zip.openReadStreamPromise(entry)
      try {
        yield* within(bounded(stream, budget), { ...place, name }, budget)
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

/** macOS adds a folder with the properties of each file. */
const isOfMac = (name: Buffer): boolean => name.toString('latin1').startsWith('__MACOSX/')

/** Messages between lines that begin with "From " after an empty line (RFC 4155); ">From " is "From " (mboxrd). */
async function* inMbox(whole: Buffer, place: Place, budget: Budget): AsyncGenerator<Leaf | Unread> {
  let number = 0
  for (const message of messagesOfMbox(whole)) {
    number++
    yield* inMessage(message, { ...place, name: `${place.name}#${number}` }, budget)
  }
}

function* messagesOfMbox(whole: Buffer): Generator<Buffer> {
  let start = afterLine(whole, 0)
  for (;;) {
    const next = nextSeparator(whole, start)
    yield unquoted(whole.subarray(start, next < 0 ? whole.length : next))
    if (next < 0) return
    start = afterLine(whole, next)
  }
}

const afterLine = (whole: Buffer, from: number): number => {
  const end = whole.indexOf(10, from)
  return end < 0 ? whole.length : end + 1
}

function nextSeparator(whole: Buffer, from: number): number {
  for (let at = whole.indexOf('\nFrom ', from); at >= 0; at = whole.indexOf('\nFrom ', at + 1)) {
    const before = whole[at - 1] === 13 ? whole[at - 2] : whole[at - 1]
    if (before === 10) return at + 1
  }
  return -1
}

const unquoted = (message: Buffer): Buffer =>
  message.includes('\n>') ? Buffer.from(message.toString('latin1').replace(/^>(>*From )/gm, '$1'), 'latin1') : message

async function* inMessage(whole: Buffer, place: Place, budget: Budget): AsyncGenerator<Leaf | Unread> {
  const message = place.message ?? whole
  const mail = await parsedMessage(whole)
  if (mail.attachments.some(isFailureReport)) {
    yield { name: place.name, content: 'failure', octets: none(), message }
    return
  }
  const texts = [mail.text, mail.html].filter((text) => text !== undefined && /^\s*[<{]/.test(text))
  let found = 0
  for (const one of mail.attachments) {
    if (++budget.entries > budget.bounds.maxEntries) throw reportError('entries', { max: budget.bounds.maxEntries })
    found++
    const name = one.filename ?? place.name
    yield* within(once(octetsOf(one)), { depth: place.depth, name, message }, budget)
  }
  for (const text of texts) {
    // A body that looks like a report; HTML of a person's mail is none, and is not read as one.
    if (text === undefined || /^\s*<(?:!doctype|html)/i.test(text)) continue
    found++
    yield* within(once(Buffer.from(text)), { depth: place.depth, name: place.name, message }, budget)
  }
  if (found === 0) yield { name: place.name, content: 'other', octets: none(), message }
}

async function parsedMessage(whole: Buffer): Promise<Email> {
  const { default: PostalMime } = await import('postal-mime')
  try {
    return await PostalMime.parse(whole, { attachmentEncoding: 'arraybuffer', maxNestingDepth: 20 })
  } catch (cause) {
    throw reportError('archive', { kind: 'message', reason: messageOf(cause) }, { cause })
  }
}

/** A failure report or another abuse report (RFC 6591, RFC 5965): by its type, or by the field with which it begins. */
const isFailureReport = (one: Attachment): boolean =>
  one.mimeType === 'message/feedback-report' || /^\s*(?:[\w-]+:[^\n]*\n)*?Feedback-Type\s*:/i.test(headText(one))

const headText = (one: Attachment): string => Buffer.from(octetsOf(one).subarray(0, HEAD_OCTETS)).toString('latin1')

const octetsOf = ({ content }: Attachment): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content as ArrayBuffer)

/** Octets that are parsed at once: rows are taken over between two pieces. */
const PIECE = 65_536

async function* once(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += PIECE) yield octets.subarray(at, at + PIECE)
}
async function* none(): AsyncGenerator<Uint8Array> {}

/** What octets are, judged by their beginning: names and media types of reports are often wrong. */
type Content = 'gzip' | 'zip' | 'xml' | 'json' | 'mbox' | 'message' | 'empty' | 'other'

/** Number of octets that {@link contentOf} needs. */
export const HEAD_OCTETS = 1_024

/** Judges the first {@link HEAD_OCTETS} octets of an input. */
function contentOf(head: Uint8Array): Content {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip' // RFC 1952 §2.3.1
  if (head[0] === 0x50 && head[1] === 0x4b && ((head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6)))
    return 'zip' // APPNOTE 4.3.7; an empty archive begins with its end
  const text = new TextDecoder(encodingOf(head)).decode(head).trimStart()
  if (text === '') return 'empty'
  if (text.startsWith('<')) return 'xml'
  if (text.startsWith('{')) return 'json'
  if (/^From \S/.test(text)) return 'mbox' // RFC 4155
  return /^[!-9;-~]{1,76}:(?:[ \t]|\r?\n)/.test(text) ? 'message' : 'other' // RFC 5322 §2.2
}

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
