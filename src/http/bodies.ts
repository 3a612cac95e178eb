import type { FastifyInstance } from 'fastify'

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
