import { randomUUID } from 'node:crypto'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { AppError } from '../base/errors.ts'
import type { Operation } from '../operations/operation.ts'
import type { ApiKey } from '../store/key-file.ts'
import { refusal } from './caller.ts'
import { handle } from './handle.ts'
import { allows, findKey, presentedKey } from './keys.ts'
import { documentApi } from './openapi.ts'
import type { HttpOptions } from './options.ts'
import { asAppError, problemOf } from './problem.ts'

/** Bytes of a body that are read at most. */
const BODY_LIMIT = 65_536

/** Input is read by zod and output is made by operations: Ajv and fast-json-stringify are not even loaded. */
const OWN_COMPILERS = {
  compilersFactory: {
    buildValidator: (() => () => (value: unknown) => ({ value })) as never, // typed as Ajv's own
    buildSerializer: () => () => (data: unknown) => JSON.stringify(data),
  },
}

/** The HTTP face, ready to listen. It translates: every decision is an operation's. */
export async function httpServer(options: HttpOptions): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: BODY_LIMIT,
    connectionTimeout: 120_000,
    requestTimeout: 30_000,
    exposeHeadRoutes: false,
    schemaController: OWN_COMPILERS,
    frameworkErrors: (error, request, reply) => void send(error, request, reply),
  })
  app.setErrorHandler((error, request, reply) => send(error, request, reply))
  app.addHook('onRequest', async (request, reply) => void reply.header('x-request-id', request.id))
  app.addHook('onResponse', async (request, reply) => tell(options, request, reply))
  await app.register(helmet, {
    contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
    hsts: false,
  })
  if (options.corsOrigins.length > 0)
    await app.register(cors, {
      origin: [...options.corsOrigins],
      exposedHeaders: ['x-request-id', 'ratelimit', 'ratelimit-policy', 'retry-after'],
    })
  await app.register(compress, { threshold: 1_024, encodings: ['br', 'gzip'] })
  await app.register(rateLimit, { global: false, cache: 10_000 })
  await documentApi(app, options)
  const gate = gateOf(app, options)
  for (const operation of options.operations) {
    app.route({
      method: operation.method,
      url: operation.path,
      ...(operation.scope === undefined ? {} : { onRequest: gate(operation) }),
      handler: (request, reply) => handle(operation, options, request, reply),
    })
  }
  app.setNotFoundHandler((request, reply) => send(notFound(options.operations, request, reply), request, reply))
  return app
}

function tell(options: HttpOptions, request: FastifyRequest, reply: FastifyReply): void {
  const path = request.routeOptions.url ?? ''
  const ms = Math.round(reply.elapsedTime)
  if (path !== '/v1/health')
    request.log.info({ path, status: reply.statusCode, ms, caller: request.caller, request_id: request.id }, 'answered')
  options.onAnswer?.({ path, status: reply.statusCode, ms })
}

async function send(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const known = asAppError(error)
  if (known.code === 'internal') request.log.error({ err: known.cause, request_id: request.id }, 'unexpected fault')
  const problem = problemOf(known, request.id)
  return reply
    .code(problem.status)
    .header('x-request-id', request.id)
    .type('application/problem+json')
    .send(JSON.stringify(problem))
}

function notFound(operations: readonly Operation[], request: FastifyRequest, reply: FastifyReply): AppError {
  const path = request.url.split('?')[0]!
  const methods = operations.filter((operation) => operation.path === path).map((operation) => operation.method)
  if (methods.length === 0)
    return new AppError('not_found', `there is nothing at ${path.slice(0, 200)}; the paths are listed at /docs`)
  void reply.header('allow', methods.join(', '))
  return new AppError('method_not_allowed', `${path} takes ${methods.join(', ')}, not ${request.method}`)
}

/** What stands before every operation but health: draining, in-flight bound, Host and Origin, key, rate. */
function gateOf(app: FastifyInstance, options: HttpOptions) {
  let underWay = 0
  const rate = app.createRateLimit({
    max: options.ratePerMinute,
    timeWindow: 60_000,
    keyGenerator: (request) => request.caller,
  })
  app.decorateRequest('caller', '')
  return (operation: Operation) => async (request: FastifyRequest, reply: FastifyReply) => {
    if (options.draining()) throw new AppError('overloaded', 'the service is stopping; ask again in a moment')
    const auth = authorize(operation, options, request)
    request.caller = auth.key ? `key ${auth.key.id}` : `address ${request.ip}`
    await spend(await rate(request), options.ratePerMinute, reply) // before the refusal: guessing keys is counted too
    if (auth.refused) throw auth.refused
    if (underWay >= options.maxConcurrency) {
      void reply.header('retry-after', '1')
      throw new AppError('overloaded', `${options.maxConcurrency} requests are under way; ask again in a moment`)
    }
    underWay++
    reply.raw.once('close', () => underWay--)
  }
}

function authorize(
  operation: Operation,
  options: HttpOptions,
  request: FastifyRequest,
): { key?: ApiKey; refused?: AppError } {
  const keys = options.keys()
  if (keys.length === 0) {
    const why = refusal(options, {
      host: request.headers.host,
      origin: request.headers.origin,
      localAddress: request.socket.localAddress,
    })
    return why ? { refused: new AppError('forbidden', why) } : {}
  }
  const presented = presentedKey(request.headers)
  if (presented === undefined)
    return { refused: new AppError('unauthorized', 'give a key as "Authorization: Bearer …" or "X-API-Key: …"') }
  const key = findKey(keys, presented, options.world.now())
  if (!key) return { refused: new AppError('unauthorized', 'this key is not known here, or has expired') }
  if (operation.scope && !allows(key, operation.scope))
    return { key, refused: new AppError('forbidden', `this key lacks the scope ${operation.scope}`) }
  return { key }
}

type Spent = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>

/** The RateLimit fields of draft-ietf-httpapi-ratelimit-headers on every answer, and 429 when the allowance is spent. */
async function spend(limit: Spent, ratePerMinute: number, reply: FastifyReply): Promise<void> {
  if (limit.isAllowed) return
  void reply
    .header('ratelimit-policy', `"default";q=${ratePerMinute};w=60`)
    .header('ratelimit', `"default";r=${limit.remaining};t=${limit.ttlInSeconds}`)
  if (!limit.isExceeded) return
  void reply.header('retry-after', String(limit.ttlInSeconds))
  throw new AppError(
    'rate_limited',
    `${ratePerMinute} requests a minute are allowed; ask again in ${limit.ttlInSeconds} s`,
  )
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, as the rate sees it: a key or an address. */
    caller: string
  }
}
