import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../operations/operation.ts'
import { proofProblem } from '../peers/problems.ts'
import { type Authorize, bringsProof, callerAddress } from './authorize.ts'
import { loopWatch } from './loop-watch.ts'
import type { HttpOptions } from './options.ts'
import { callerError } from './problems.ts'
import type { Sessions } from './sessions.ts'
import { MAX_STREAMS, openStreams } from './streams.ts'
import { turns } from './turns.ts'

/** Nodes forward the questions of many callers, so their rate is higher by this factor. */
const NODE_FACTOR = 20
/** Probes of a load balancer may arrive every second. */
const PROBE_FACTOR = 10
const PROBE = 'probe of'

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
export type Gate = {
  /** The hooks of a route for an operation of this scope. */
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
  const takeStream = openStreams(options.shared)
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!(payload instanceof Readable)) {
      request.over?.()
      done(null, payload)
    } else if (!isEventStream(reply)) {
      done(null, payload)
    } else {
      const answer = (isTaken: boolean): void => {
        if (isTaken) {
          done(null, payload)
          return
        }
        payload.destroy()
        done(callerError('streams', { max: MAX_STREAMS }))
      }
      const taken = takeStream(request.caller, reply.raw)
      if (taken instanceof Promise) taken.then(answer, done)
      else answer(taken)
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
    if (auth.nonce !== undefined && (await options.shared?.seen(auth.nonce)))
      throw callerError('proof', { why: proofProblem('replay') })
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
        await unlessStopping()
        if (!isLate(request)) await admit(operation, request, reply)
      },
      preHandler: async (request, reply) => {
        if (isLate(request)) await admit(operation, request, reply)
      },
    }),
    stray: async (request, reply) => {
      request.caller = callerAddress(request.ip)
      await spend(await rate(request), reply)
    },
    probe: async (request, reply) => {
      request.caller = `${PROBE} ${callerAddress(request.ip)}`
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
  if (caller.startsWith('node ')) return ratePerMinute * NODE_FACTOR
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
