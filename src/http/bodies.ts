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
    body.on('error', () => {}) // its reader gets the error; a refused request has no reader, and the exception would end the process
    reply.raw.once('close', () => {
      payload.unpipe(body).resume()
      body.destroy()
    })
    done(null, payload.pipe(body))
  })
}

/**
 * Leaves bodies of any type unread: the operation reads them as a stream. If the rest of a body (of a refused request,
 * most often) has not arrived within `bodyMs` after the answer, the connection is closed.
 */
export function leaveBodies(app: FastifyInstance, bodyMs = BODY_MS): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (!raw.complete && !raw.destroyed) {
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
