import { PassThrough } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../base/errors.ts'

/** Reads bodies as JSON and nothing else, and keeps their text beside: a node's proof is over it. */
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

/** Time in which the body of a request must have come, ms. Uploads have the time of their operation. */
const BODY_MS = 30_000

/** Ends a request whose body trickles. The server's own clock cannot tell an upload from it. */
export function endSlowBodies(app: FastifyInstance, bodyMs = BODY_MS): void {
  app.addHook('preParsing', (request: FastifyRequest, reply, payload, done) => {
    const { headers } = request
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
      return done(null, payload)
    const body = new PassThrough()
    const timer = setTimeout(() => {
      void reply.header('connection', 'close')
      body.destroy(new AppError('timeout', `the body was not received within ${bodyMs / 1_000} s`))
    }, bodyMs)
    body.once('close', () => clearTimeout(timer))
    payload.once('error', (error) => body.destroy(error))
    done(null, payload.pipe(body))
  })
}

/** Leaves bodies of any type unread: the operation reads them as they come. */
export function leaveBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

/** Takes bodies of any type, at most the limit of bodies, and makes nothing of them. */
export function dropBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null, {}))
}
