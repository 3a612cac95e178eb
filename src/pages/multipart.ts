import type { Visit } from './page.ts'
import { pageError } from './problems.ts'

/**
 * The fields of a form with a file (`multipart/form-data`), with the file as the field `text`. At most `maxBytes` are read, and a little more for the other
 * fields. Throws AppError `payload_too_large`, or `invalid_parameter` if it is not such a form.
 */
export async function readUpload(
  { upload, contentType, by }: Visit,
  maxBytes: number,
): Promise<Record<string, string>> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of upload ?? []) {
    by.signal?.throwIfAborted()
    bytes += piece.length
    if (bytes > maxBytes + 16_384) throw pageError('file_too_large', { max: maxBytes })
    pieces.push(piece)
  }
  const fields: Record<string, string> = {}
  for (const [name, value] of await formIn(Buffer.concat(pieces), contentType))
    fields[typeof value === 'string' ? name : 'text'] = typeof value === 'string' ? value : await value.text()
  return fields
}

async function formIn(body: Uint8Array<ArrayBuffer>, contentType: string): Promise<FormData> {
  try {
    return await new Response(body, { headers: { 'content-type': contentType } }).formData()
  } catch (cause) {
    throw pageError('no_form', undefined, { cause })
  }
}
