import { Readable } from 'node:stream'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Operation } from '../operations/operation.ts'
import { type Authorize, bringsProof, callerAddress, closedError } from './authorize.ts'
import { OWNER, parseHostField, refusal } from './caller.ts'
import { turns } from './connections.ts'
import type { HttpOptions } from './options.ts'
import { loopWatch } from './overload.ts'
import { callerError, requestError } from './problems.ts'
import type { Sessions } from './sessions.ts'
import { MAX_STREAMS, openStreams } from './streams.ts'

/** Nodes forward the questions of many callers, so their rate is higher by this factor. */
const NODE_FACTOR = 20
/** Probes of a load balancer may arrive every second. */
const PROBE_FACTOR = 10
const PROBE = 'probe of'

/** An answer to one caller: no proxy and no browser keeps it (RFC 9111 §5.2.2). An operation may say otherwise. */
export const PRIVATE = { 'cache-control': 'private, no-store' } as const

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
export type Gate = {
  readonly hooks: (operation: Pick<Operation, 'scope' | 'forPeers' | 'open' | 'path'>) => {
    readonly onRequest: Hook
    readonly preHandler: Hook
  }
  /** Refuses requests while the service stops. */
  readonly unlessStopping: Hook
  /** Counts a request that needs no key, by its address. */
  readonly stray: Hook
  /** Counts a probe, which is frequent and cheap: {@link PROBE_FACTOR} times as many are allowed. */
  readonly probe: Hook
  /** Number of requests in progress. */
  readonly underWay: () => number
}

/**
 * The checks before every operation except health: shutdown, authentication, the rate, the bound on requests in
 * progress.
 */
export function gateOf(
  app: FastifyInstance,
  options: HttpOptions,
  { authorize, sessions }: { readonly authorize: Authorize; readonly sessions: Pick<Sessions, 'refuseForged'> },
): Gate {
  let underWay = 0
  const turn = turns()
  const watch = loopWatch({ warn: (fields) => options.logger.warn(fields, 'the event loop was blocked') })
  app.addHook('onClose', async () => watch.stop())
  const rate = app.createRateLimit({
    max: (request: FastifyRequest) => allowance(options, request),
    timeWindow: 60_000,
    keyGenerator: (request) => request.caller,
  })
  app.decorateRequest('caller', '')
  app.decorateRequest('auth')
  app.decorateRequest('over')
  app.decorateRequest('refused')
  // A completed answer ends the request, whether the client reads it or not (connections.ts bounds unread data); a
  // stream is produced while it is read.
  const takeStream = openStreams()
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!(payload instanceof Readable)) {
      request.over?.()
      done(null, payload)
    } else if (!isEventStream(reply)) {
      done(null, payload)
    } else if (takeStream(request.caller, reply.raw)) {
      done(null, payload)
    } else {
      payload.destroy()
      done(callerError('streams', { max: MAX_STREAMS }))
    }
  })

  async function admit(
    operation: Pick<Operation, 'scope' | 'forPeers' | 'open' | 'path'>,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    const auth = authorize(operation, request)
    request.caller = auth.by
    request.auth = auth.caller
    await spend(await rate(request), reply) // before the refusal, so that guessed keys count too
    if (auth.refused) throw auth.refused
    if (auth.bySession && changes(request)) sessions.refuseForged(request, tokenIn(request))
    if (underWay >= options.maxConcurrency) {
      void reply.header('retry-after', '1')
      throw callerError('busy', { count: options.maxConcurrency })
    }
    underWay++
    const ended = watch.begin(operation.path)
    let isOver = false
    request.over = () => {
      if (!isOver) underWay--
      isOver = true
      ended()
    }
    reply.raw.once('close', request.over)
    await turn()
  }

  async function unlessStopping(): Promise<void> {
    if (options.draining()) throw callerError('stopping')
  }

  return {
    unlessStopping,
    hooks: (operation) => ({
      onRequest: async (request, reply) => {
        void reply.headers(PRIVATE)
        await unlessStopping()
        if (!isLate(request)) await admit(operation, request, reply)
      },
      preHandler: async (request, reply) => {
        if (isLate(request)) await admit(operation, request, reply)
      },
    }),
    stray: async (request, reply) => {
      request.caller = callerAddress(request.client.address)
      await spend(await rate(request), reply)
    },
    probe: async (request, reply) => {
      request.caller = `${PROBE} ${callerAddress(request.client.address)}`
      await spend(await rate(request), reply)
    },
    underWay: () => underWay,
  }
}

/** A node's proof covers the body, so it is verified after the body was read (at most 64 KiB). */
const isLate = (request: FastifyRequest): boolean => request.method === 'POST' && bringsProof(request)

/** A page checks the token itself, which may be in its form. */
const changes = ({ method, routeOptions }: FastifyRequest): boolean =>
  method !== 'GET' && method !== 'HEAD' && routeOptions.config.isPage !== true

const isEventStream = (reply: FastifyReply): boolean =>
  String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream')

function tokenIn({ headers }: FastifyRequest): string | undefined {
  const token = headers['x-csrf-token']
  return typeof token === 'string' ? token : undefined
}

function allowance({ ratePerMinute }: HttpOptions, { caller }: FastifyRequest): number {
  if (caller.startsWith('node ') || caller === OWNER.address) return ratePerMinute * NODE_FACTOR
  return caller.startsWith(PROBE) ? ratePerMinute * PROBE_FACTOR : ratePerMinute
}

type Spent = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>

/**
 * The RateLimit fields of draft-ietf-httpapi-ratelimit-headers §3 and §4 on every answer, and 429 when the rate is
 * exceeded.
 */
async function spend(limit: Spent, reply: FastifyReply): Promise<void> {
  if (limit.isAllowed) return
  void reply
    .header('ratelimit-policy', `"default";q=${limit.max};w=60`)
    .header('ratelimit', `"default";r=${limit.remaining};t=${limit.ttlInSeconds}`)
  if (!limit.isExceeded) return
  void reply.header('retry-after', String(limit.ttlInSeconds))
  throw callerError('rate', { max: limit.max, seconds: limit.ttlInSeconds })
}

/**
 * How the requests of a route are limited: by its own gate, by a larger rate of their own (`probe`), not at all, or
 * (undefined) like those of a caller without a key.
 */
type RouteLimit = 'gate' | 'probe' | 'none'

type Route = { readonly config?: FastifyContextConfig; readonly url?: string }

/** The first checks of a request. Each throws AppError, or passes it to `done`. */
type Guard = {
  /** For every request: it must be unambiguous HTTP. A preflight (CORS) is checked completely, because it ends here. */
  readonly everywhere: onRequestHookHandler
  /** For the requests of a route, by its configuration. */
  readonly ofRoute: (route: Route) => onRequestHookHandler
  /** For a request without a route. */
  readonly elsewhere: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/**
 * A request must not come from a page of another site, the service must not be closed because its keys are lost, and a
 * request without a gate of its own is counted by its address. Health always passes.
 */
export function guardOf(options: HttpOptions, gate: () => Pick<Gate, 'stray' | 'probe'>): Guard {
  const ambiguity = ambiguityCheck()

  async function judge({ config }: Route, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    refuseOtherSites(options, request, config?.isPage === true)
    const why = options.closed?.()
    if (config?.isPage && why === undefined && options.keys().length === 0) refuseForeignNames(options, request)
    await (config?.limit === 'probe' ? gate().probe(request, reply) : gate().stray(request, reply))
    if (why !== undefined) throw closedError()
  }

  const isPreflight = (request: FastifyRequest): boolean => request.method === 'OPTIONS'
  const nowhere = { config: { isPage: true } }
  return {
    everywhere: (request, reply, done) => {
      try {
        ambiguity(request, reply)
      } catch (error) {
        done(error as Error)
        return
      }
      if (isPreflight(request)) judge({}, request, reply).then(() => done(), done)
      else done()
    },
    ofRoute: (route) => {
      const limit = route.config?.limit
      if (limit === 'none') return (_request, _reply, done) => done()
      if (limit !== 'gate') return (request, reply, done) => void judge(route, request, reply).then(() => done(), done)
      return (request, _reply, done) => {
        try {
          if (!route.config?.isEmbeddable) refuseOtherSites(options, request, route.config?.isPage === true)
          done()
        } catch (error) {
          done(error as Error)
        }
      }
    },
    elsewhere: async (request, reply) => {
      if (!isPreflight(request)) await judge(nowhere, request, reply)
    },
  }
}

/**
 * While no key is in force, pages are for callers that use this host's own names (DNS rebinding), like operations
 * (authorize.ts).
 */
function refuseForeignNames(options: HttpOptions, { headers, socket }: FastifyRequest): void {
  const why = refusal(options, { host: headers.host, origin: headers.origin, localAddress: socket.localAddress })
  if (why) throw callerError(why)
}

/** Refuses requests that a proxy and this server might interpret differently (RFC 9112 §3.2, §6.1, §11.2). */
function ambiguityCheck(): (request: FastifyRequest, reply: FastifyReply) => void {
  let lastHost: string | undefined // most requests have the same value
  return ({ raw, headers, url }, reply) => {
    const coding = headers['transfer-encoding']
    if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
      void reply.header('connection', 'close') // the end of the body is not known
      throw requestError('transfer_encoding')
    }
    if (hostFields(raw.rawHeaders) > 1) throw requestError('hosts')
    const { host } = headers
    if (host !== undefined && host !== lastHost && !parseHostField(host)) throw requestError('host')
    lastHost = host
    if (!url.startsWith('/') && url !== '*' && !isFor(url, host)) throw requestError('target')
  }
}

function hostFields(rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** Whether a target in absolute form (RFC 9112 §3.2.2) has the host of the Host field. */
const isFor = (url: string, host: string | undefined): boolean =>
  URL.canParse(url) && new URL(url).host === host?.toLowerCase() && new URL(url).username === ''

/**
 * Refuses a request that a browser marks as coming from another site (Fetch Metadata, `Sec-Fetch-Site`); otherwise an
 * image or a script in any page could start work here. Following a link to one of our pages starts nothing by itself
 * and is allowed, and so are the origins of `--cors-origin`.
 */
function refuseOtherSites({ corsOrigins }: HttpOptions, request: FastifyRequest, isPage: boolean): void {
  const site = request.headers['sec-fetch-site']
  if (site !== 'cross-site' && site !== 'same-site') return
  const { origin } = request.headers
  if (origin !== undefined && corsOrigins.includes(origin)) return
  const isLink = request.headers['sec-fetch-mode'] === 'navigate' && /^(?:GET|HEAD)$/.test(request.method)
  if (isLink && request.headers['sec-fetch-dest'] === 'document' && isPage) return
  throw callerError('other_site')
}

declare module 'fastify' {
  interface FastifyContextConfig {
    limit?: RouteLimit
    /** A page for people: a link of another site may lead here. */
    isPage?: boolean
    /** An image that pages of other sites may show. */
    isEmbeddable?: boolean
  }
}
