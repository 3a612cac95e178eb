import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { TextStream } from '../operations/given.ts'

/** Sends objects as they come, one line of JSON each. A fault on the way ends the connection, so that what was sent cannot be taken for the whole. */
export function sendLines(reply: FastifyReply, objects: AsyncIterable<object>): FastifyReply {
  return reply
    .type('application/x-ndjson; charset=utf-8')
    .header('x-accel-buffering', 'no') // a proxy before us passes lines on as they come
    .send(Readable.from(lines(objects), { objectMode: true, highWaterMark: 1 }))
}

/** Sends a text as it is made, piece by piece. */
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
