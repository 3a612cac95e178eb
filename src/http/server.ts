import { randomUUID } from 'node:crypto'
import { IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import cors from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import helmet from 'helmet'
import type { AppError, ErrorCode } from '../base/errors.ts'
import { isOwn, isUnix } from '../net/unix-socket.ts'
import { openApiInTurns } from '../operations/openapi.ts'
import type { Caller, Operation } from '../operations/operation.ts'
import { matchesPath, routeOf } from '../operations/path.ts'
import type { Site } from '../pages/page.ts'
import { authorizer } from './authorize.ts'
import { dropBodies, endSlowBodies, leaveBodies, readJsonBodies } from './bodies.ts'
import { type Client, clientOf, OWNER } from './caller.ts'
import { compressed, fromMemory } from './compress.ts'
import { boundedServer, CONNECTION_BOUNDS, inTurns } from './connections.ts'
import { type Gate, gateOf, guardOf } from './gate.ts'
import { handle, opensAsPage, wantsHtml } from './handle.ts'
import { serveMcp } from './mcp.ts'
import type { HttpOptions } from './options.ts'
import { refuseWhenLate } from './overload.ts'
import { answerClientError, asAppError, problemOf, type RefusalLog, refusalLog } from './problem.ts'
import { requestError } from './problems.ts'
import { rateWindows } from './rate-windows.ts'
import { sessionsOf } from './sessions.ts'
import { type Serving, sendFramed, sendRefusal, serveSite } from './site.ts'
import { spoolIn } from './spool.ts'

/** Frequent requests of machines, logged at `debug`. */
const QUIET: readonly string[] = ['/v1/health', '/v1/ready', '/metrics', '/v1/peer/heartbeat', '/v1/peer/peers']
/** Default maximum size of a request body, bytes. */
const BODY_LIMIT = 65_536
/** Time limit for receiving the header of a request, ms; bodies have a limit of their own. */
const HEADERS_MS = 30_000
/** Interval of the check for requests without a complete header, ms; those of one check expire in one step. */
const CHECKED_EVERY_MS = 250
/** Time that a connection may be idle between two requests, ms. */
const IDLE_MS = 72_000
/**
 * Time without a byte in either direction after which a connection is closed, ms: longer than any operation may take.
 */
const SILENT_MS = 330_000

/** zod reads the input and operations produce the output: Ajv and fast-json-stringify are not even loaded. */
const OWN_COMPILERS = {
  compilersFactory: {
    buildValidator: (() => () => (value: unknown) => ({ value })) as never, // typed like Ajv's own
    buildSerializer: () => () => (data: unknown) => JSON.stringify(data),
  },
}

/** The HTTP adapter, ready to listen. It only translates; operations make every decision. */
export async function httpServer(options: HttpOptions): Promise<FastifyInstance> {
  const app = framework(options)
  const { site } = options
  const { now, monotonic } = options.world
  const sessions = sessionsOf({ keys: options.keys, now, monotonic })
  const authorize = authorizer(options, sessions)
  app.setErrorHandler((error, request, reply) => send(error, request, reply, site && { site, serving: serving() }))
  addHeaders(app, options)
  tellRequests(app, options)
  const guard = guardOf(options, () => gate)
  app.addHook('onRequest', guard.everywhere) // before CORS, which answers preflights by itself
  app.addHook('onRoute', (route) => {
    route.onRequest = [guard.ofRoute(route), ...[route.onRequest ?? []].flat()]
  })
  if (options.corsOrigins.length > 0)
    await app.register(cors, {
      origin: [...options.corsOrigins],
      exposedHeaders: ['x-request-id', 'ratelimit', 'ratelimit-policy', 'retry-after'],
    })
  app.addHook('onSend', compressed)
  await app.register(rateLimit, { global: false, store: rateWindows(monotonic) })
  if (options.refuseWhenLate !== false) refuseWhenLate(app, () => app.underWay())
  readJsonBodies(app)
  documentApi(app, options)
  const gate = gateOf(app, options, { authorize, sessions })
  const needsKeys = () => options.keys().length > 0 || options.closed?.() !== undefined
  const receive = spoolIn(options.spool)
  const serving = (): Serving => ({
    gate,
    sessions,
    authorize,
    needsKeys,
    receive,
  })
  app.decorate('underWay', gate.underWay)
  await serveOperations(app, options, serving)
  serveMcp(app, options, { gate, authorize })
  if (site) await serveSite(app, site, serving())
  const { metrics } = options
  if (metrics)
    app.get(
      '/metrics',
      { config: { limit: 'gate' }, ...gate.hooks({ scope: 'read', path: '/metrics' }) },
      async (_request, reply) => {
        const { contentType, text } = await metrics()
        return reply.type(contentType).send(text)
      },
    )
  app.setNotFoundHandler(async (request, reply) => {
    await guard.elsewhere(request, reply)
    throw notFound(options.operations, request, reply)
  })
  return app
}

function framework(options: HttpOptions): FastifyInstance {
  const refuse = inTurns(answerClientError, CONNECTION_BOUNDS.maxInTurn)
  return fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    // each log line has its request_id: one logger per request costs more than health itself
    childLoggerFactory: (logger) => logger,
    requestIdHeader: false,
    rewriteUrl: (request) => placeOf(options.operations, request),
    bodyLimit: BODY_LIMIT,
    serverFactory: (listener) => nodeServer(options, listener),
    routerOptions: { maxParamLength: 1_000 }, // a name of 253 characters, the id of a sender of some more
    exposeHeadRoutes: true, // RFC 9110 §9.1: GET and HEAD are always supported
    return503OnClosing: false, // the gate answers with our own text
    clientErrorHandler: (error, socket) => refuse({ error, socket }),
    schemaController: OWN_COMPILERS,
    frameworkErrors: (error, request, reply) => void send(error, request, reply, undefined),
  })
}

/** Who calls, and the header fields of every answer. */
function addHeaders(app: FastifyInstance, options: HttpOptions): void {
  const fixed = securityHeaders()
  const trusted = options.trustedProxies ?? { networks: [], unix: false }
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request
    const peer = isUnix(socket) ? undefined : (socket.remoteAddress ?? '')
    request.client = isOwn(socket) ? OWNER : clientOf(peer, request.headers, trusted)
    void reply.headers(fixed).header('x-request-id', request.id)
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // otherwise it would be waited for until it is idle for long
    if (options.draining()) void reply.header('connection', 'close')
    done(null, payload)
  })
}

function tellRequests(app: FastifyInstance, options: HttpOptions): void {
  const refusals = refusalLog((fields) => options.logger.info(fields, 'refused'))
  app.addHook('onClose', async () => refusals.stop())
  app.addHook('onResponse', (request, reply, done) => {
    tell(options, refusals, request, reply)
    done()
  })
}

/** The routes of the operations, by what becomes of the body of a request. */
async function serveOperations(app: FastifyInstance, options: HttpOptions, serving: () => Serving): Promise<void> {
  const { site, operations } = options
  const { gate, receive } = serving()
  const handling = { ...options, receive }
  const serve = (on: FastifyInstance, operation: Operation): void => {
    /** Sends the answer of the operation, or for a browser the page that shows it. */
    function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      const pages = opensAsPage(operation, request) ? site : undefined
      const framed = pages?.framed(operation.name)
      if (framed) return sendFramed(framed, request, reply.headers(operation.headers ?? {}), serving())
      return handle(operation, handling, request, reply, pages)
    }
    on.route({
      method: operation.method,
      url: routeOf(operation.path),
      ...(operation.bodyLimit !== undefined && { bodyLimit: operation.bodyLimit }),
      ...hooksOf(gate, operation),
      handler: answer,
    })
  }
  await app.register((uploads, _, done) => {
    leaveBodies(uploads)
    for (const operation of operations) if (operation.uploads) serve(uploads, operation)
    done()
  })
  await app.register((others, _, done) => {
    endSlowBodies(others)
    for (const operation of operations) if (!operation.uploads && !operation.ignoresBody) serve(others, operation)
    done()
  })
  await app.register((bodiless, _, done) => {
    endSlowBodies(bodiless)
    dropBodies(bodiless)
    for (const operation of operations) if (operation.ignoresBody) serve(bodiless, operation)
    done()
  })
}

/** The target of a request, with the path of the operation that its body is for (`bodiesOf`). */
function placeOf(operations: HttpOptions['operations'], { method, url = '/', headers }: IncomingMessage): string {
  const [path, ...query] = url.split('?')
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(/[;\s]/)
  const meant = operations.find(
    (one) => one.method === method && one.bodiesOf?.path === path && one.bodiesOf?.types.includes(type),
  )
  return meant ? [meant.path, ...query].join('?') : url
}

/**
 * Node limits a body by the longer of two times and checks every half minute: a slow body would hold its place for 90
 * s.
 */
function nodeServer({ maxConnections }: HttpOptions, listener: RequestListener): Server {
  const times = { requestTimeout: 0, headersTimeout: HEADERS_MS, connectionsCheckingInterval: CHECKED_EVERY_MS }
  const bounds = { ...CONNECTION_BOUNDS, ...(maxConnections === undefined ? {} : { maxConnections }) }
  const isUrgent = ({ url }: IncomingMessage): boolean => url === '/v1/health'
  const server = boundedServer({ ...times, keepAliveTimeout: IDLE_MS }, listener, bounds, { isUrgent })
  server.setTimeout(SILENT_MS)
  return server
}

/** Health is always answered; other paths without a key until the service stops. */
function hooksOf(gate: Gate, operation: Operation): object {
  if (operation.scope !== undefined)
    return {
      config: {
        limit: 'gate',
        ...(operation.isPage && { isPage: true }),
        ...(operation.embeddable && { isEmbeddable: true }),
      },
      ...gate.hooks(operation),
    }
  if (operation.path === '/v1/health') return { config: { limit: 'none' } }
  return { config: { limit: 'probe' }, onRequest: gate.unlessStopping }
}

function tell(options: HttpOptions, refusals: RefusalLog, request: FastifyRequest, reply: FastifyReply): void {
  const path = request.routeOptions.url ?? ''
  const ms = Math.round(reply.elapsedTime)
  const fields = { path, status: reply.statusCode, caller: request.caller, request_id: request.id }
  if (request.refused !== undefined && request.refused !== 'internal')
    refusals.add({ ...fields, reason: request.refused })
  else request.log[QUIET.includes(path) ? 'debug' : 'info']({ ...fields, ms }, 'answered')
  options.onAnswer?.({ path, status: reply.statusCode, ms })
}

/** A refusal: a problem, or for people a page that says what they can do. */
function send(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  pages: { readonly site: Site; readonly serving: Serving } | undefined,
): FastifyReply {
  const known = asAppError(error, request.routeOptions.bodyLimit)
  request.refused = known.code
  if (known.code === 'internal') request.log.error({ err: known.cause, request_id: request.id }, 'unexpected error')
  const problem = problemOf(known, request.id)
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer realm="mailsonde"') // RFC 9110 §15.5.2
  if (known.retryAfterSeconds !== undefined) void reply.header('retry-after', String(known.retryAfterSeconds))
  void reply.header('x-request-id', request.id)
  if (pages && wantsHtml(request.headers.accept))
    return sendRefusal(pages.site, known, { request, reply, serving: pages.serving })
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem))
}

function notFound(operations: HttpOptions['operations'], request: FastifyRequest, reply: FastifyReply): AppError {
  const path = request.url.split('?')[0]!
  const methods = operations
    .filter((operation) => matchesPath(operation.path, path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  if (methods.length === 0) return requestError('nowhere', { path })
  void reply.header('allow', methods.join(', '))
  return requestError('method', { path, known: methods, method: request.method })
}

declare module 'fastify' {
  interface FastifyRequest {
    client: Client
    /** The caller as the rate counts it: a key, a node or an address. */
    caller: string
    /** The caller as operations see it; undefined if no authentication is required. */
    auth: Caller | undefined
    /** The code of the error with which the request was refused. */
    refused: ErrorCode | undefined
    /** Releases the slot among the requests in progress; undefined without one. */
    over: (() => void) | undefined
    /** The text of the body as received. */
    rawBody: string
  }
  interface FastifyInstance {
    underWay: () => number
  }
}

/** `GET /openapi.json`, created with the first request and served from memory. */
const documentApi = (
  app: FastifyInstance,
  { operations, version }: Pick<HttpOptions, 'operations' | 'version'>,
): void => {
  app.get(
    '/openapi.json',
    fromMemory(async () => {
      const document = await openApiInTurns(operations, version)
      return { type: 'application/json; charset=utf-8', body: Buffer.from(JSON.stringify(document)) }
    }),
  )
}

/**
 * The security header fields of every answer, as helmet sets them. They depend on no request and are created once:
 * creating the policy for each answer costs as much as all other work on the answer of `GET /v1/health`. A route sends
 * its own field in place of one of these.
 */
function securityHeaders(): Readonly<Record<string, string>> {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const middleware = helmet({
    contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
    hsts: false,
  })
  middleware(response.req, response, (error) => {
    if (error) throw error
  })
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]))
}
