import type { Readable, Writable } from 'node:stream'

/** What travels between the process of the lane and its own: a length, a type, and that many octets. */
export type Frame = { readonly type: number; readonly body: Buffer<ArrayBuffer> }

/** To the lane: `run`, followed by `octets`. From it: `ready` once, then for each job batches and `done` or `failed`. */
export const FRAME = { run: 1, octets: 2, ready: 3, batch: 4, done: 5, failed: 6 } as const

const HEAD = 5

/** Writes a frame; false if the stream should drain before the next one. `body` must stay as it is until then. */
export function writeFrame(stream: Writable, type: number, body: Uint8Array): boolean {
  const head = Buffer.allocUnsafe(HEAD)
  head.writeUInt32LE(body.length)
  head[4] = type
  stream.cork()
  stream.write(head)
  const hasRoom = stream.write(body)
  stream.uncork()
  return hasRoom
}

/** The frames of a stream, read as they are asked for; each has an own ArrayBuffer. Throws for one above `max` octets. */
export async function* framesOf(stream: Readable, max: number): AsyncGenerator<Frame, undefined> {
  const head = Buffer.alloc(HEAD)
  let frame: Frame | undefined
  let filled = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; ) {
      const into = frame?.body ?? head
      const copied = chunk.copy(into, filled, at)
      at += copied
      filled += copied
      if (filled < into.length) break
      filled = 0
      if (!frame) {
        const length = head.readUInt32LE()
        if (length > max) throw new RangeError(`a frame of ${length} octets`)
        frame = { type: head[4]!, body: Buffer.allocUnsafeSlow(length) }
        if (length > 0) continue
      }
      yield frame
      frame = undefined
    }
  }
  return undefined
}
