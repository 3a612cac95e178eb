import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** One server-sent event. */
export type SentEvent = { readonly event: string; readonly data: object }

/** Sends server-sent events as they occur. */
export const sendEvents = (reply: FastifyReply, events: AsyncIterable<SentEvent>): FastifyReply =>
  reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no') // a proxy must pass events on without buffering
    .send(Readable.from(eventText(events), { objectMode: true, highWaterMark: 1 }))

/** Time without an event after which a comment is sent, ms: otherwise a proxy may close the idle connection. */
const QUIET_MS = 15_000

/** Events as the text of a stream (WHATWG HTML §9.2). Ending it early also ends `events`. */
export async function* eventText(
  events: AsyncIterable<SentEvent>,
  quietMs = QUIET_MS,
): AsyncGenerator<string, void, undefined> {
  const iterator = events[Symbol.asyncIterator]()
  try {
    let next = iterator.next()
    for (;;) {
      const result = await Promise.race([next, after(quietMs)])
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
