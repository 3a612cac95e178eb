import { expect, it } from 'vitest'
import { readUpload } from './multipart.ts'

const BOUNDARY = 'x'.repeat(30)
const FORM = `--${BOUNDARY}\r
content-disposition: form-data; name="file"; filename="a.txt"\r
\r
a@b.example\r
--${BOUNDARY}--\r
`
const contentType = `multipart/form-data; boundary=${BOUNDARY}`

/** The form in pieces; after them it ends, or nothing comes any more. */
async function* piecesOf(isWhole: boolean): AsyncIterable<Uint8Array> {
  for (const piece of [FORM.slice(0, 40), FORM.slice(40, isWhole ? undefined : 60)]) yield Buffer.from(piece)
  if (!isWhole) await new Promise(() => {})
}

it('reads a form that comes in pieces', async () =>
  expect(await readUpload({ upload: piecesOf(true), contentType, by: {} }, 1_000)).toEqual({ text: 'a@b.example' }))

it('does not wait longer than it may for the rest of a form', () =>
  expect(readUpload({ upload: piecesOf(false), contentType, by: {} }, 1_000, 50)).rejects.toMatchObject({
    code: 'timeout',
    message: 'the file was not received within 0.05 s',
  }))

it('ends when the caller disconnects', async () => {
  const gone = new AbortController()
  const read = readUpload({ upload: piecesOf(false), contentType, by: { signal: gone.signal } }, 1_000)
  gone.abort(new DOMException('the client disconnected', 'AbortError'))
  await expect(read).rejects.toThrow('the client disconnected')
})
