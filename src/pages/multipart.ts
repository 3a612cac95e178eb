import { deadlineOf, raced, timedOut } from '../base/deadline.ts'
import type { Visit } from './page.ts'
import { pageError } from './problems.ts'

/** Time in which a file must have been received, ms. */
const UPLOAD_MS = 120_000

/**
 * The fields of a form with a file (`multipart/form-data`), with the file as the field `text`. At most `maxBytes` are
 * read, and a little more for the other fields. Throws AppError `payload_too_large`, `timeout` if the form is not
 * received within `uploadMs`, or `invalid_parameter` if it is not such a form.
 */
export async function readUpload(
  { upload, contentType, by }: Pick<Visit, 'upload' | 'contentType' | 'by'>,
  maxBytes: number,
  uploadMs = UPLOAD_MS,
): Promise<Record<string, string>> {
  const body = await inTime(readAll(upload ?? [], maxBytes), uploadMs, by.signal)
  const fields: Record<string, string> = {}
  for (const [name, value] of await formIn(body, contentType))
    fields[typeof value === 'string' ? name : 'text'] = typeof value === 'string' ? value : await value.text()
  return fields
}

/** The same with the file as it is, octet by octet: its characters may be in any set. */
export async function readForm(
  { upload, contentType, by }: Pick<Visit, 'upload' | 'contentType' | 'by'>,
  maxBytes: number,
  uploadMs = UPLOAD_MS,
): Promise<{ readonly fields: Readonly<Record<string, string>>; readonly file?: Buffer }> {
  const body = await inTime(readAll(upload ?? [], maxBytes), uploadMs, by.signal)
  const fields: Record<string, string> = {}
  let file: Buffer | undefined
  for (const [name, value] of await formIn(body, contentType)) {
    if (typeof value === 'string') fields[name] = value
    else file = Buffer.from(await value.arrayBuffer())
  }
  return { fields, ...(file && { file }) }
}

/**
 * The files of a form (`multipart/form-data`), unchanged; together at most `maxBytes`. Throws as {@link readUpload}.
 */
export async function readFiles(
  { upload, contentType, by }: Pick<Visit, 'upload' | 'contentType' | 'by'>,
  maxBytes: number,
  uploadMs = UPLOAD_MS,
): Promise<readonly { readonly name: string; readonly octets: Uint8Array }[]> {
  const body = await inTime(readAll(upload ?? [], maxBytes), uploadMs, by.signal)
  const files: { name: string; octets: Uint8Array }[] = []
  for (const [, value] of await formIn(body, contentType))
    if (typeof value !== 'string') files.push({ name: value.name, octets: new Uint8Array(await value.arrayBuffer()) })
  return files
}

async function readAll(upload: AsyncIterable<Uint8Array> | [], maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of upload) {
    bytes += piece.length
    if (bytes > maxBytes + 16_384) throw pageError('file_too_large', { max: maxBytes })
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function inTime<T>(work: Promise<T>, limitMs: number, caller: AbortSignal | undefined): Promise<T> {
  const { signal, clear } = deadlineOf(limitMs, caller)
  try {
    return await raced(signal, work)
  } catch (error) {
    throw timedOut(signal) ? pageError('late_file', { seconds: limitMs / 1_000 }) : error
  } finally {
    clear()
  }
}

async function formIn(body: Uint8Array<ArrayBuffer>, contentType: string): Promise<FormData> {
  try {
    return await new Response(body, { headers: { 'content-type': contentType } }).formData()
  } catch (cause) {
    throw pageError('no_form', undefined, { cause })
  }
}
