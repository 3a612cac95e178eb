import type { Visit } from './page.ts'
import { pageError } from './problems.ts'

type Sent = Pick<Visit, 'upload' | 'contentType'>

/** A form with files (`multipart/form-data`): its text fields, and its files as they are, octet by octet. */
type SentForm = {
  readonly fields: Readonly<Record<string, string>>
  readonly files: readonly { readonly name: string; readonly octets: Uint8Array }[]
}

/**
 * Reads a form with files, which together have at most `maxBytes`; the other fields have a little more. Throws AppError
 * `payload_too_large`, or `invalid_parameter` if it is not such a form.
 */
export async function readForm({ upload, contentType }: Sent, maxBytes: number): Promise<SentForm> {
  const body = await readAll(upload ?? [], maxBytes)
  const fields: Record<string, string> = {}
  const files: { name: string; octets: Uint8Array }[] = []
  for (const [name, value] of await formIn(body, contentType))
    if (typeof value === 'string') fields[name] = value
    else files.push({ name: value.name, octets: new Uint8Array(await value.arrayBuffer()) })
  return { fields, files }
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

async function formIn(body: Uint8Array<ArrayBuffer>, contentType: string): Promise<FormData> {
  try {
    return await new Response(body, { headers: { 'content-type': contentType } }).formData()
  } catch (cause) {
    throw pageError('no_form', undefined, { cause })
  }
}
