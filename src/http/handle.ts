import type { FastifyReply, FastifyRequest } from 'fastify'
import { within } from '../base/deadline.ts'
import { AppError } from '../base/errors.ts'
import { type Call, httpStatusOf, type Operation } from '../operations/operation.ts'
import { readInput } from '../operations/read-input.ts'
import type { Ctx } from '../world.ts'
import { sendLines } from './lines.ts'
import type { HttpOptions } from './options.ts'

/** Answers one request: input read, the operation run until its deadline or until the caller hangs up, its answer sent. */
export async function handle(
  operation: Operation,
  options: HttpOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { ctx, input } = callOf(operation, options, request, reply)
  if (operation.stream) return sendLines(reply, operation.stream(ctx, options.deps, input))
  const answer = await operation.run(ctx, options.deps, input)
  void reply.code(httpStatusOf(answer))
  const document = operation.documents?.[String((request.query as Record<string, unknown>).format ?? 'json').trim()]
  if (!document) return reply.send(answer)
  return reply
    .headers(document.headers ?? {})
    .type(document.contentType)
    .send(document.render(answer, options))
}

function callOf(
  operation: Operation,
  options: HttpOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): { readonly ctx: Call; readonly input: Record<string, unknown> } {
  if (operation.scope === undefined) return { ctx: contextForAll(options, operation), input: {} }
  const input = readInput(operation.input, rawInput(operation, request)) as Record<string, unknown>
  const timeout = input.timeout
  const deadlineMs = (typeof timeout === 'number' ? timeout : operation.deadlineMs) + (operation.graceMs ?? 0)
  const signal = within(deadlineMs, hangUp(reply))
  return { ctx: { ...options.world, signal, ...(request.auth && { caller: request.auth }) }, input }
}

/** A context for many requests, until `untilMs` of the process's own clock. */
type Shared = { readonly ctx: Ctx; readonly untilMs: number }
const shared = new WeakMap<HttpOptions, Map<Operation, Shared>>()

/**
 * The context of an operation that answers everybody, often and at once: a signal and its timer for each request would cost more than the answer. Requests of the
 * same tenth of the deadline share theirs, which so comes up to a tenth early.
 */
function contextForAll(options: HttpOptions, operation: Operation): Ctx {
  const kept = shared.get(options) ?? new Map<Operation, Shared>()
  shared.set(options, kept)
  const known = kept.get(operation)
  if (known && performance.now() < known.untilMs) return known.ctx
  const ctx = { ...options.world, signal: within(operation.deadlineMs) }
  kept.set(operation, { ctx, untilMs: performance.now() + operation.deadlineMs / 10 })
  return ctx
}

function rawInput(operation: Operation, request: FastifyRequest): Record<string, unknown> {
  const query = { ...(request.query as Record<string, unknown>) }
  if (operation.method === 'GET') return query
  const stray = Object.keys(query)[0]
  if (stray !== undefined)
    throw new AppError(
      'unknown_parameter',
      `${JSON.stringify(stray.slice(0, 60))}: this operation takes its input in the body`,
      { parameter: stray.slice(0, 60) },
    )
  const body = request.body
  if (body === undefined || body === null) return {}
  if (typeof body !== 'object' || Array.isArray(body))
    throw new AppError('invalid_parameter', 'the body must be one JSON object')
  return { ...(body as Record<string, unknown>) }
}

/** Fires when the caller goes away before the answer was sent. */
function hangUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const stop = (): void => {
    if (!reply.raw.writableFinished) controller.abort(new DOMException('the caller went away', 'AbortError'))
  }
  if (reply.raw.destroyed)
    stop() // while the request waited for its turn
  else reply.raw.once('close', stop)
  return controller.signal
}
