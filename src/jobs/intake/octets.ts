import { createGunzip } from 'node:zlib'
import { listError, type OtherFile } from './problems.ts'

/** The octets of an upload as a stream. */
export type Octets = AsyncIterable<Uint8Array>

/** Maximum ratio of decompressed to compressed size of a gzip body; the first mebibyte is always allowed. */
const MAX_RATIO = 100
const FREE_OCTETS = 1024 * 1024

export type SizeBounds = {
  /** Maximum size of the upload, compressed and uncompressed each (`--max-upload`), octets. */
  readonly maxUpload: number
}

/** The first octets of files that people upload by mistake. */
const OTHER_FILES: readonly { readonly magic: readonly number[]; readonly file: OtherFile }[] = [
  { magic: [0x50, 0x4b, 0x03, 0x04], file: 'zip' },
  { magic: [0x50, 0x4b, 0x05, 0x06], file: 'empty_zip' },
  { magic: [0xd0, 0xcf, 0x11, 0xe0], file: 'xls' },
  { magic: [0x25, 0x50, 0x44, 0x46], file: 'pdf' },
  { magic: [0x42, 0x5a, 0x68], file: 'bzip2' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], file: 'zstd' },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], file: 'xz' },
]
const GZIP = [0x1f, 0x8b]

/**
 * The octets of a list, decompressed if they are gzip (declared or not). Throws AppError while reading: `unsupported_media_type` for a file of another
 * kind, `payload_too_large` over the limits, `bad_list` for damaged gzip.
 */
export async function* listOctets(upload: Octets, bounds: SizeBounds): Octets {
  const { first, rest } = await peek(bounded(upload, bounds.maxUpload, 'upload_too_large'), 8)
  const other = OTHER_FILES.find(({ magic }) => begins(first, magic))
  if (other) throw listError('other_file', { file: other.file })
  if (!begins(first, GZIP)) {
    yield* rest
    return
  }
  yield* bounded(unpacked(rest), bounds.maxUpload, 'unpacked_too_large')
}

/** At least `least` octets of the beginning (fewer if there are no more), and the whole stream again. */
export async function peek(
  octets: Octets,
  least: number,
): Promise<{ readonly first: Uint8Array; readonly rest: Octets }> {
  const { held, whole } = await headOf(octets, least)
  return { first: Buffer.concat(held), rest: whole }
}

/**
 * The first pieces, of at least `least` in all (fewer if there are no more), and the whole stream again. If the upload is interrupted among them, the error follows the received
 * pieces, which are kept.
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

const begins = (octets: Uint8Array, magic: readonly number[]): boolean =>
  octets.length >= magic.length && magic.every((octet, i) => octets[i] === octet)

async function* bounded(octets: Octets, max: number, refused: 'upload_too_large' | 'unpacked_too_large'): Octets {
  let size = 0
  for await (const chunk of octets) {
    size += chunk.length
    if (size > max) throw listError(refused, { max })
    yield chunk
  }
}

/** Decompresses, and stops a body that grows beyond {@link MAX_RATIO}. */
async function* unpacked(packed: Octets): Octets {
  const gunzip = createGunzip()
  let taken = 0
  let given = 0
  const feeding = feed(packed, gunzip, (size) => {
    taken += size
  })
  feeding.catch((error: Error) => gunzip.destroy(error))
  try {
    for await (const chunk of gunzip) {
      given += chunk.length
      if (given > FREE_OCTETS && given > taken * MAX_RATIO) throw listError('gzip_ratio', { max: MAX_RATIO })
      yield chunk
    }
    await feeding
  } catch (error) {
    throw isZlibError(error) ? listError('gzip_damaged', { reason: error.message }) : error
  } finally {
    gunzip.destroy()
  }
}

async function feed(
  packed: Octets,
  gunzip: ReturnType<typeof createGunzip>,
  took: (size: number) => void,
): Promise<void> {
  for await (const chunk of packed) {
    took(chunk.length)
    if (gunzip.destroyed) return
    if (!gunzip.write(chunk)) await drained(gunzip)
  }
  gunzip.end()
}

const drained = (gunzip: ReturnType<typeof createGunzip>): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      gunzip.off('drain', go)
      gunzip.off('close', go)
      resolve()
    }
    gunzip.once('drain', go)
    gunzip.once('close', go)
  })

const isZlibError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && String((error as { readonly code?: unknown }).code).startsWith('Z_')
