import { setImmediate } from 'node:timers/promises'
import { crc32, createInflate, createInflateRaw } from 'node:zlib'
import { codeOf } from '../../base/errors.ts'
import { listError, type OtherFile } from '../problems.ts'

/** The octets of an upload as a stream. */
export type Octets = AsyncIterable<Uint8Array>

/** Maximum ratio of decompressed to compressed size of a list; the first mebibyte is always allowed. */
const MAX_RATIO = 100
const FREE_OCTETS = 1024 * 1024
/** Size of the pieces in which a list is read, octets. */
const PIECE = 64 * 1024

export type SizeBounds = {
  /** Maximum size of the upload, compressed and uncompressed each (`--max-upload`), octets. */
  readonly maxUpload: number
}

export type ListBounds = SizeBounds & {
  readonly maxRows: number
}

/** How files begin that people upload by mistake, each octet one character. */
const OTHER_FILES: Readonly<Record<OtherFile, RegExp>> = {
  zip: /^PK\x03\x04/,
  empty_zip: /^PK\x05\x06/,
  xls: /^\xd0\xcf\x11\xe0/,
  pdf: /^%PDF/,
  bzip2: /^BZh/,
  zstd: /^\x28\xb5\x2f\xfd/,
  xz: /^\xfd7zXZ/,
  seven_zip: /^7z\xbc\xaf/,
  rar: /^Rar!\x1a/,
  rtf: /^\{\\rtf/,
  image: /^(?:\x89PNG|\xff\xd8\xff|GIF8)/,
  html: /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|table|meta|style|div)[\s>]/i,
  xml: /^(?:\xef\xbb\xbf)?\s*<\?xml\s/i,
}
/** How directory entries (LDIF, RFC 2849) and contacts (vCard, RFC 6350) begin. */
export const ENTRIES = /^(?:\s|#[^\n]*\n)*(?:version: ?\d+\s+(?:#[^\n]*\n\s*)*)?(?:dn::? ?[\w-]+=|BEGIN:VCARD\b)/i
/** How a dump of a database begins. */
export const SQL =
  /^(?:[^@\n]*\n){0,100}?[ \t]*(?:(?:insert|replace) into|copy) [^@\n]{0,1000}(?:\bvalues|\bfrom stdin)\b/i
/** Octets that show what a file is. */
const SIGNATURE = 64
const GZIP = '\x1f\x8b'

/**
 * The octets of a list in pieces of {@link PIECE}, decompressed if they are gzip (declared or not) or declared as
 * deflate. Between two pieces the event loop turns. Throws AppError while reading: `unsupported_media_type` for a file
 * of another kind or an encoding that is not accepted, `payload_too_large` over the limits, `bad_list` for damaged
 * data.
 */
export async function* listOctets(
  upload: Octets,
  bounds: SizeBounds,
  contentEncoding = '',
  behind: Behind = () => {},
): Octets {
  const encoding = packingOf(contentEncoding)
  const { first, rest } = await peek(bounded(upload, bounds.maxUpload, 'upload_too_large'), SIGNATURE)
  const beginning = Buffer.from(first.subarray(0, SIGNATURE)).toString('latin1')
  for (const [file, signature] of Object.entries(OTHER_FILES))
    if (signature.test(beginning)) throw listError('other_file', { file: file as OtherFile })
  const packing = encoding ?? (beginning.startsWith(GZIP) ? 'gzip' : undefined)
  yield* inPieces(packing ? bounded(unpacked(rest, packing, behind), bounds.maxUpload, 'unpacked_too_large') : rest)
}

type Packing = 'gzip' | 'deflate'

/**
 * The encoding that Content-Encoding declares (RFC 9110 §8.4.1). Brotli is not accepted: each stream of it may need a
 * window of 16 MiB. Throws AppError.
 */
function packingOf(contentEncoding: string): Packing | undefined {
  const name = contentEncoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return undefined
  if (name === 'gzip' || name === 'x-gzip') return 'gzip'
  if (name === 'deflate') return 'deflate'
  throw listError('content_encoding', { text: contentEncoding })
}

/**
 * The same octets in pieces of {@link PIECE}; the last one is shorter, also before an error. Many small pieces would
 * cost more to keep than their content, and a large one would be one step in which nobody else is answered.
 */
async function* inPieces(octets: Octets): Octets {
  let piece = Buffer.allocUnsafeSlow(PIECE)
  let size = 0
  let fault: { readonly error: unknown } | undefined
  const source = octets[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await source.next().catch((error: unknown) => {
        fault = { error }
        return undefined
      })
      if (!next || next.done) break
      for (let at = 0; at < next.value.length; ) {
        const part = next.value.subarray(at, at + PIECE - size)
        piece.set(part, size)
        size += part.length
        at += part.length
        if (size < PIECE) continue
        yield piece
        await setImmediate()
        piece = Buffer.allocUnsafeSlow(PIECE)
        size = 0
      }
    }
    if (size > 0) yield piece.subarray(0, size)
  } finally {
    await source.return?.()
  }
  if (fault) throw fault.error
}

/** At least `least` octets of the beginning (fewer if there are no more), and the whole stream again. */
async function peek(octets: Octets, least: number): Promise<{ readonly first: Uint8Array; readonly rest: Octets }> {
  const { held, whole } = await headOf(octets, least)
  return { first: Buffer.concat(held), rest: whole }
}

/**
 * The first pieces, of at least `least` in all (fewer if there are no more), and the whole stream again. If the upload
 * is interrupted among them, the error follows the received pieces, which are kept.
 */
export async function headOf<T extends { readonly length: number }>(
  pieces: AsyncIterable<T>,
  least: number,
): Promise<{ readonly held: readonly T[]; readonly whole: AsyncIterable<T> }> {
  const iterator = pieces[Symbol.asyncIterator]()
  const held: T[] = []
  let size = 0
  let next = iterator.next()
  const isEnough = async (): Promise<boolean> => {
    const { done, value } = await next
    if (done === true) return true
    held.push(value)
    size += value.length
    next = iterator.next()
    return size >= least
  }
  try {
    while (!(await isEnough()));
  } catch {
    // `next` fails again below, after the received pieces
  }
  next.catch(() => {})
  async function* whole(): AsyncIterable<T> {
    try {
      yield* held
      for (let one = await next; one.done !== true; one = await iterator.next()) yield one.value
    } finally {
      await iterator.return?.()
    }
  }
  return { held, whole: whole() }
}

async function* bounded(octets: Octets, max: number, refused: 'upload_too_large' | 'unpacked_too_large'): Octets {
  let size = 0
  for await (const chunk of octets) {
    size += chunk.length
    if (size > max) throw listError(refused, { max })
    yield chunk
  }
}

/** Called with the number of octets behind a compressed list that are passed over. */
export type Behind = (octets: number) => void

/** Decompresses, and stops a list that grows beyond {@link MAX_RATIO} times what was decompressed of it so far. */
async function* unpacked(packed: Octets, packing: Packing, behind: Behind): Octets {
  const source = sourceOf(packed)
  try {
    if (packing === 'deflate') return yield* inflated(source, createInflate())
    for (let members = 0; ; members++) {
      const size = await gzipHeader(source)
      if (size === undefined && members > 0) return behind(await source.restOf())
      if (size === undefined) throw listError('packed_damaged', { reason: 'no gzip header' })
      source.pass(size)
      let checksum = 0
      for await (const chunk of inflated(source, createInflateRaw(), size + GZIP_TRAILER)) {
        checksum = crc32(chunk, checksum)
        yield chunk
      }
      if (!(await source.holds(GZIP_TRAILER))) throw listError('packed_damaged', { reason: 'unexpected end of file' })
      if (source.held().readUInt32LE(0) !== checksum)
        throw listError('packed_damaged', { reason: 'incorrect data check' })
      source.pass(GZIP_TRAILER)
      if (!(await source.holds(1))) return
    }
  } catch (error) {
    throw isZlibError(error) ? listError('packed_damaged', { reason: error.message }) : error
  } finally {
    source.end()
  }
}

/** CRC and length behind the data of a member, octets (RFC 1952 §2.3.1). */
const GZIP_TRAILER = 8
/** Maximum size of a member's header with its names, octets. */
const MAX_GZIP_HEADER = 64 * 1024

/** The size of the header of a gzip member (RFC 1952 §2.3); undefined where none begins. */
async function gzipHeader(source: Source): Promise<number | undefined> {
  if (!(await source.holds(10))) return undefined
  const [first, second, method, flags = 0] = source.held()
  if (first !== 0x1f || second !== 0x8b || method !== 8) return undefined
  let size = 10
  if ((flags & 4) > 0) size = (await source.holds(12)) ? 12 + source.held().readUInt16LE(10) : MAX_GZIP_HEADER + 1
  for (const text of [flags & 8, flags & 16]) {
    if (text === 0) continue
    while (source.held().indexOf(0, size) < 0)
      if (source.held().length > MAX_GZIP_HEADER || !(await source.holds(source.held().length + 1))) return undefined
    size = source.held().indexOf(0, size) + 1
  }
  if ((flags & 2) > 0) size += 2
  return (await source.holds(size)) ? size : undefined
}

/** Octets that are read in parts, of which some are given back. */
type Source = ReturnType<typeof sourceOf>
function sourceOf(octets: Octets) {
  const iterator = octets[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  async function next(): Promise<Buffer | undefined> {
    if (held.length > 0) {
      const piece = held
      held = Buffer.alloc(0)
      return piece
    }
    const { done, value } = await iterator.next()
    return done ? undefined : Buffer.from(value.buffer, value.byteOffset, value.length)
  }
  return {
    held: () => held,
    next,
    pass: (size: number): void => void (held = held.subarray(size)),
    giveBack: (piece: Buffer): void => void (held = held.length === 0 ? piece : Buffer.concat([piece, held])),
    holds: async (size: number): Promise<boolean> => {
      while (held.length < size) {
        const { done, value } = await iterator.next()
        if (done) return false
        held = Buffer.concat([held, value])
      }
      return true
    },
    /** Reads to the end; the number of octets. */
    restOf: async (): Promise<number> => {
      let size = 0
      for (let piece = await next(); piece; piece = await next()) size += piece.length
      return size
    },
    /** The upload may stand still: nobody waits for it. */
    end: (): void => void iterator.return?.()?.catch(() => {}),
  }
}

/** The data of one stream with `framing` octets around it; what stands behind it is given back to the source. */
async function* inflated(source: Source, stream: Unpacker, framing = 0): Octets {
  let given = 0
  const feeding = feed(source, stream)
  feeding.catch((error: Error) => stream.destroy(error))
  try {
    for await (const chunk of stream) {
      given += chunk.length
      if (given > FREE_OCTETS && given > (stream.bytesWritten + framing) * MAX_RATIO)
        throw listError('packed_ratio', { max: MAX_RATIO })
      yield chunk
    }
    await feeding
  } finally {
    stream.destroy()
  }
}

type Unpacker = ReturnType<typeof createInflateRaw> | ReturnType<typeof createInflate>

/** Writes pieces to the stream until its data ends, which it tells by reading no further. */
async function feed(source: Source, stream: Unpacker): Promise<void> {
  let written = 0
  for (let piece = await source.next(); piece; piece = await source.next()) {
    if (stream.readableEnded || stream.destroyed) return source.giveBack(piece)
    for (let at = 0; at < piece.length; at += FED) {
      const part = piece.subarray(at, at + FED)
      await new Promise<void>((resolve, reject) => stream.write(part, (error) => (error ? reject(error) : resolve())))
      written += part.length
      const left = written - stream.bytesWritten
      if (left > 0) return source.giveBack(piece.subarray(at + part.length - left))
    }
  }
  stream.end()
}
/** Octets that are written at a time. */
const FED = 16 * 1024

const isZlibError = (error: unknown): error is Error & { readonly code: string } =>
  codeOf(error)?.startsWith('Z_') === true

/** Number of octets used to detect the encoding. */
const SAMPLE = 64 * 1024

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/**
 * The text of a list in pieces, without a byte order mark. The encoding is detected by the mark or by NULs at every
 * second octet (UTF-16); else it is UTF-8 if the sample is valid UTF-8, else Latin-1 (windows-1252, which includes it).
 * Octets that cannot be decoded later become U+FFFD.
 */
export async function* listText(octets: Octets): AsyncIterable<string> {
  const { first, rest } = await peek(octets, SAMPLE)
  const decoder = new TextDecoder(encodingOf(first.subarray(0, SAMPLE)))
  for await (const chunk of rest) {
    const text = decoder.decode(chunk, { stream: true })
    if (text !== '') yield text
  }
  const end = decoder.decode()
  if (end !== '') yield end
}

/** The encoding that the beginning of a file indicates. */
export function encodingOf(sample: Uint8Array): Encoding {
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le'
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be'
  const wide = wideOf(sample)
  if (wide) return wide
  return isUtf8(sample) ? 'utf-8' : 'windows-1252'
}

/** UTF-16 without a byte order mark: text in Latin letters has a NUL at every second octet. */
function wideOf(sample: Uint8Array): Encoding | undefined {
  const length = Math.min(sample.length, 1_024) & ~1
  if (length < 4) return undefined
  let even = 0
  let odd = 0
  for (let i = 0; i < length; i += 2) {
    if (sample[i] === 0) even++
    if (sample[i + 1] === 0) odd++
  }
  const most = length / 2
  if (odd > most * 0.7 && even === 0) return 'utf-16le'
  return even > most * 0.7 && odd === 0 ? 'utf-16be' : undefined
}

function isUtf8(sample: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true }) // the last character may be incomplete
    return true
  } catch {
    return false
  }
}
