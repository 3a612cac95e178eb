import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { TextStream } from '../operations/operation.ts'

/**
 * Maximum number of event streams that one caller may have open. A stream lasts minutes, and without the bound one
 * caller could occupy the places of all.
 */
export const MAX_STREAMS = 64

/**
 * Counts the open event streams of each caller: whether one more may be opened, which counts until the response is
 * closed. As many callers are held as have one open.
 */
export function openStreams(): (caller: string, response: EventEmitter) => boolean {
  const open = new Map<string, number>()
  function release(caller: string): void {
    const left = (open.get(caller) ?? 1) - 1
    if (left > 0) open.set(caller, left)
    else open.delete(caller)
  }
  return (caller, response) => {
    const count = open.get(caller) ?? 0
    if (count >= MAX_STREAMS) return false
    open.set(caller, count + 1)
    response.once('close', () => release(caller))
    return true
  }
}

export type SentEvent = { readonly event: string; readonly data: object }

export const sendEvents = (reply: FastifyReply, events: AsyncIterable<SentEvent>): FastifyReply =>
  reply
    .type('text/event-stream; charset=utf-8')
    .header('x-accel-buffering', 'no') // a proxy must pass events on without buffering
    .send(Readable.from(eventText(events), { objectMode: true, highWaterMark: 1 }))

/** Time without an event after which a comment is sent, ms: otherwise a proxy may close the idle connection. */
const QUIET_MS = 15_000

/** Events as the text of a stream (WHATWG HTML §9.2). Ending it early also ends `events`. */
async function* eventText(events: AsyncIterable<SentEvent>): AsyncGenerator<string, void, undefined> {
  const iterator = events[Symbol.asyncIterator]()
  try {
    let next = iterator.next()
    for (;;) {
      const result = await Promise.race([next, after(QUIET_MS)])
      if (result === undefined) {
        yield ': still at it\n\n'
        continue
      }
      if (result.done) return
      const { event, data } = result.value
      yield `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
      next = iterator.next()
    }
  } finally {
    await iterator.return?.()
  }
}

const after = (ms: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref())

/**
 * Sends objects as they become available, one line of JSON each. A fault in between ends the connection, so that a part
 * cannot be mistaken for the whole.
 */
export function sendLines(reply: FastifyReply, objects: AsyncIterable<object>): FastifyReply {
  return reply
    .type('application/x-ndjson; charset=utf-8')
    .header('x-accel-buffering', 'no') // a proxy must pass lines on without buffering
    .send(Readable.from(lines(objects), { objectMode: true, highWaterMark: 1 }))
}

/** Sends a text in pieces, as it is produced. */
export function sendText(reply: FastifyReply, { contentType, text }: TextStream): FastifyReply {
  return reply
    .type(contentType)
    .header('x-accel-buffering', 'no')
    .send(Readable.from(text, { objectMode: true, highWaterMark: 1 }))
}

async function* lines(objects: AsyncIterable<object>): AsyncGenerator<string, void, undefined> {
  for await (const object of objects) yield `${JSON.stringify(object)}\n`
}
