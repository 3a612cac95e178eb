import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { TextStream } from '../operations/given.ts'

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
  if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store')
  return reply
    .type(contentType)
    .header('x-accel-buffering', 'no')
    .send(Readable.from(text, { objectMode: true, highWaterMark: 1 }))
}

async function* lines(objects: AsyncIterable<object>): AsyncGenerator<string, void, undefined> {
  for await (const object of objects) yield `${JSON.stringify(object)}\n`
}
