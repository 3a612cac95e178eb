/**
 * The lines of a stream, trimmed, without empty ones and comments (`#` first). A line is read up to `maxLength`
 * characters and one more, by which the reader detects that it was longer; the rest of it is dropped.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let open = ''
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    open = cut(open + first, maxLength)
    for (const next of others) {
      yield* lineOf(open)
      open = cut(next, maxLength)
    }
  }
  yield* lineOf(cut(open + decoder.decode(), maxLength))
}

const cut = (text: string, maxLength: number): string => text.slice(0, maxLength + 1)

function* lineOf(text: string): Generator<string> {
  const line = text.trim()
  if (line !== '' && !line.startsWith('#')) yield line
}
