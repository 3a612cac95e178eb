import { PassThrough } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requestError } from './problems.ts'

/** Reads only JSON bodies, and keeps their text too, because a node's proof covers it. */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.decorateRequest('rawBody', '')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body: string, done) => {
    request.rawBody = body
    if (body.trim() === '') done(null, {})
    else void parse(request, body, done)
  })
}

/** Time limit for receiving the body of a request, ms. Uploads have the time of their operation. */
const BODY_MS = 30_000

/**
 * Ends a request whose body trickles. The server's own clock cannot tell an upload from it. What a request was answered
 * without (an unknown type, too many bytes) is read and dropped, so that the next request of the connection is read; if
 * it does not come in time, the connection is closed.
 */
export function endSlowBodies(app: FastifyInstance, bodyMs = BODY_MS): void {
  app.addHook('preParsing', (request: FastifyRequest, reply, payload, done) => {
    const { headers, raw } = request
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
      return done(null, payload)
    const body = new PassThrough()
    const timer = setTimeout(() => {
      if (body.destroyed) return void raw.destroy() // answered before its body has come
      void reply.header('connection', 'close')
      body.destroy(requestError('late_body', { seconds: bodyMs / 1_000 }))
    }, bodyMs)
    payload.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
    payload.once('error', (error) => body.destroy(error))
    // its reader gets the error; a refused request has no reader, and the exception would end the process
    body.on('error', () => {})
    reply.raw.once('close', () => {
      payload.unpipe(body).resume()
      body.destroy()
    })
    done(null, payload.pipe(body))
  })
  // Fastify closes the connection of a body that is too large, and the answer is lost with what is still on its way.
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (reply.statusCode === 413 && !raw.complete) void reply.removeHeader('connection')
    done(null, payload)
  })
}

/**
 * Leaves bodies of any type unread: the operation reads them as a stream. If the rest of a body (of a refused request,
 * most often) has not arrived within `bodyMs` after the answer, the connection is closed. Until then it is dropped.
 */
export function leaveBodies(app: FastifyInstance, bodyMs = BODY_MS): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (!raw.complete && !raw.destroyed) {
      // What is still sent is dropped, though a reader may have been left: a client that reads afterwards gets the answer.
      raw.removeAllListeners('readable').resume()
      const timer = setTimeout(() => raw.destroy(), bodyMs)
      raw.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
    }
    done()
  })
}

/** Accepts bodies of any type, up to the limit of bodies, and ignores them. */
export function dropBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null, {}))
}

/** The least pace at which a body arrives. */
type Pace = {
  /** Octets that arrive while they are waited for, in each span of `ms`. */
  readonly least: number
  readonly ms: number
}

/**
 * The same octets; fails with `late()` if fewer than the least arrive in a span. Only the time in which octets are
 * waited for counts: whoever reads them slowly does not make their sender late.
 */
export async function* paced(
  octets: AsyncIterable<Uint8Array>,
  { least, ms }: Pace,
  late: () => Error,
): AsyncGenerator<Uint8Array> {
  const source = octets[Symbol.asyncIterator]()
  let [arrived, waitedMs] = [0, 0]
  try {
    for (;;) {
      const begun = performance.now()
      const { done, value } = await inTime(source.next(), ms - waitedMs, late)
      if (done) return
      waitedMs += performance.now() - begun
      arrived += value.length
      if (arrived >= least) [arrived, waitedMs] = [0, 0]
      else if (waitedMs >= ms) throw late()
      yield value
    }
  } finally {
    source.return?.().catch(() => {}) // not awaited: a source that has stalled never ends
  }
}

function inTime<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
