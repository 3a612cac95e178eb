import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

/**
 * The messages of an mbox file, each as a stream, or the whole of another file: an mbox may be far larger than a
 * report. A message larger than `maxOctets` is cut there.
 */
export async function* messagesOfFile(path: string, maxOctets: number): AsyncGenerator<AsyncIterable<Uint8Array>> {
  if (!(await isMbox(path))) {
    yield createReadStream(path)
    return
  }
  let message: Buffer[] = []
  let size = 0
  let isAfterEmpty = true
  let rest = Buffer.alloc(0)
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let text = Buffer.concat([rest, chunk])
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10)) {
      const line = text.subarray(0, end + 1)
      text = text.subarray(end + 1)
      if (isAfterEmpty && line.subarray(0, 5).toString('latin1') === 'From ') {
        if (message.length > 0) yield once(message)
        message = []
        size = 0
      } else if (size <= maxOctets) {
        message.push(Buffer.from(line))
        size += line.length
      }
      isAfterEmpty = line.length === 1 || (line.length === 2 && line[0] === 13)
    }
    rest = text.length > maxOctets ? Buffer.alloc(0) : text
  }
  if (rest.length > 0) message.push(rest)
  if (message.length > 0) yield once(message)
}

async function isMbox(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(5), 0, 5, 0)
    return buffer.toString('latin1') === 'From '
  } finally {
    await file.close()
  }
}

async function* once(lines: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield Buffer.concat(lines)
}
