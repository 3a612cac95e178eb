import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../base/errors.ts'
import { isJsonRecord } from '../base/json.ts'
import { type By, inParts, type Told } from '../operations/execute.ts'
import { type Operation, type Raw, readsQuery, type Upload } from '../operations/operation.ts'
import { pathNames } from '../operations/path.ts'
import type { Site } from '../pages/page.ts'
import { paced } from './bodies.ts'
import type { HttpOptions } from './options.ts'
import { asAppError, problemOf } from './problem.ts'
import { requestError } from './problems.ts'
import type { Spool } from './spool.ts'
import { type SentEvent, sendEvents, sendLines, sendText } from './streams.ts'

/**
 * Answers one request: executes the operation until its deadline or until the caller disconnects, and sends its answer
 * in the requested form. `pages`, for a browser: it is sent to the page that shows the answer, if there is one.
 */
export async function handle(
  operation: Operation,
  { execute, version, receive }: HttpOptions & { readonly receive: Spool },
  request: FastifyRequest,
  reply: FastifyReply,
  pages?: Pick<Site, 'pathFor'>,
): Promise<FastifyReply> {
  if (operation.headers) void reply.headers(operation.headers)
  const asked = rawInput(operation, request)
  const to = pages?.pathFor(operation.name, asked)
  if (to !== undefined) return reply.header('vary', 'accept').redirect(to, 303)
  const raw = negotiated(operation, request, reply, asked)
  const by = operation.scope === undefined ? {} : callerOf(operation, request, reply)
  if (operation.live && raw.format === undefined && wantsEvents(request.headers.accept))
    return sendEvents(reply, eventsOf(inParts(execute, operation, raw, by), request))
  if (operation.line) return sendLines(reply, await execute.lines(operation, raw, by))
  if (operation.uploads) refuseUnread(operation, raw, by)
  const given = await whenReceived(operation, request, by, receive, (by) => execute(operation, raw, by))
  void reply.code(given.status)
  if (given.isRepeated) void reply.header('idempotent-replayed', 'true')
  if (given.stream) return sendText(reply, given.stream)
  const document = given.rendered(given.format, { version })
  if (!document) return reply.send(given.answer)
  return reply
    .headers(document.headers ?? {})
    .type(document.contentType)
    .send(document.text)
}

/** Whether a browser opens the path of an operation without requesting a form of the answer. */
export const opensAsPage = ({ method }: Pick<Operation, 'method'>, { query, headers }: FastifyRequest): boolean =>
  method === 'GET' && recordOf(query).format === undefined && wantsHtml(headers.accept)

/** Adds the form that the Accept field prefers, if the operation is a page and no `format` is given. */
function negotiated(operation: Operation, { headers }: FastifyRequest, reply: FastifyReply, raw: Raw): Raw {
  if (!operation.isPage || !('format' in operation.params)) return raw
  void reply.header('vary', 'Accept')
  if (raw.format !== undefined) return raw
  const format = preferredForm(headers.accept)
  return format === undefined ? raw : { ...raw, format }
}

/** `part` when each part ends, then `answer`, or `error` with a problem. */
async function* eventsOf(told: AsyncIterable<Told>, request: FastifyRequest): AsyncIterable<SentEvent> {
  for await (const one of told) {
    if (one.kind === 'part') yield { event: 'part', data: one.part }
    if (one.kind === 'answer') yield { event: 'answer', data: one.given.answer as object } // answers are objects
    if (one.kind === 'error') yield { event: 'error', data: problemOf(logged(one.error, request), request.id) }
  }
}

function logged(error: unknown, request: FastifyRequest): AppError {
  const known = asAppError(error)
  if (known.code === 'internal') request.log.error({ err: known.cause, request_id: request.id }, 'unexpected error')
  return known
}

const callerOf = (operation: Operation, request: FastifyRequest, reply: FastifyReply): By => ({
  signal: hangUp(reply),
  ...(request.auth && { caller: request.auth }),
  ...(operation.uploads && { upload: uploadOf(request) }),
  ...(operation.idempotent && idempotencyKeyOf(request)),
})

/**
 * A key as a string of RFC 9651 §3.3.3, or bare as many clients send it: 1 to 255 visible ASCII characters. Throws
 * AppError.
 */
function idempotencyKeyOf({ headers }: FastifyRequest): Pick<By, 'idempotencyKey'> {
  const field = headers['idempotency-key']
  if (field === undefined) return {}
  const { quoted, bare } =
    /^(?:"(?<quoted>[!#-[\]-~]{1,255})"|(?<bare>[!#-~][!-~]{0,254}))$/.exec(String(field))?.groups ?? {}
  const idempotencyKey = quoted ?? bare
  if (idempotencyKey !== undefined) return { idempotencyKey }
  throw requestError('idempotency_key', undefined, { parameter: 'Idempotency-Key' })
}

/** What is refused whatever the body is, is refused before the body has come. Throws AppError. */
function refuseUnread(operation: Operation, raw: Raw, { upload }: By): void {
  operation.ask(raw)
  if (upload) operation.refuseType?.(upload)
}

/** A list is read while it comes. Any other body is received before its operation begins, whose time counts from then. */
function whenReceived<T>(
  { uploads }: Operation,
  { caller }: FastifyRequest,
  by: By,
  receive: Spool,
  work: (by: By) => Promise<T>,
): Promise<T> {
  const { upload, signal } = by
  if (upload === undefined || signal === undefined || uploads === 'list') return work(by)
  return receive(upload.octets, { caller, signal }, (octets) => work({ ...by, upload: { ...upload, octets } }))
}

/** Octets of an upload that arrive at least in a span of time, ms. */
const LEAST = { least: 65_536, ms: 60_000 }

/** The body of a request; ends with AppError `timeout` if fewer octets than the least arrive in a minute. */
export const inTime = (raw: IncomingMessage): AsyncIterable<Uint8Array> =>
  paced(
    raw.iterator({ destroyOnReturn: false }), // a list that is refused early gets its answer
    LEAST,
    () => requestError('slow_body', { min: LEAST.least, seconds: LEAST.ms / 1_000 }),
  )

/** The body as a stream, unread so far. It ends with AppError `timeout` if its octets trickle. */
const uploadOf = ({ raw, headers }: FastifyRequest): Upload => ({
  octets: inTime(raw),
  contentType: headers['content-type'] ?? '',
  ...(headers['content-encoding'] !== undefined && { contentEncoding: headers['content-encoding'] }),
})

/** The parameters of the path, and those of the query or of the body. */
function rawInput(operation: Operation, { query, body, params }: FastifyRequest): Raw {
  const named = pathNames(operation.path).length === 0 ? {} : recordOf(params)
  const given = recordOf(query)
  if (readsQuery(operation)) return withPath(named, given)
  const stray = Object.keys(given).find((name) => !operation.alsoInQuery?.includes(name))
  if (stray !== undefined) throw requestError('query', { name: stray }, { parameter: stray.slice(0, 60) })
  if (body === undefined || body === null) return { ...given, ...named }
  if (!isJsonRecord(body)) throw requestError('no_object')
  const twice = Object.keys(given).find((name) => Object.hasOwn(body, name))
  if (twice !== undefined) throw requestError('twice', { name: twice }, { parameter: twice })
  return withPath(named, { ...given, ...body })
}

/** Fastify gives the parameters of a query and of a path as objects. */
const recordOf = (given: unknown): Raw => (isJsonRecord(given) ? given : {})

function withPath(named: Raw, others: Raw): Raw {
  const twice = Object.keys(named).find((name) => Object.hasOwn(others, name))
  if (twice === undefined) return { ...others, ...named }
  throw requestError('in_path', { name: twice }, { parameter: twice })
}

/** Fires when the caller disconnects before the answer was sent. */
export function hangUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const stop = (): void => {
    if (!reply.raw.writableFinished) controller.abort(new DOMException('the client disconnected', 'AbortError'))
  }
  if (reply.raw.destroyed)
    stop() // while the request waited for its turn
  else reply.raw.once('close', stop)
  return controller.signal
}

/** The forms of a page by their media types. */
const FORMS: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/markdown': 'markdown',
}
const MAX_LENGTH = 1_000
/** Maximum number of ranges of an Accept field. */
const MAX_RANGES = 30

/**
 * The form that an Accept field requests by name with the highest weight (RFC 9110 §12.5.1), the first of equals;
 * undefined if it names none.
 */
export function preferredForm(accept: string | undefined): string | undefined {
  if (accept === undefined || accept.length > MAX_LENGTH) return undefined
  const named = accept.split(',', MAX_RANGES).flatMap((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const form = Object.hasOwn(FORMS, type) ? FORMS[type] : undefined
    const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
    return form !== undefined && weight > 0 ? [{ form, weight }] : []
  })
  return named.toSorted((a, b) => b.weight - a.weight)[0]?.form
}

/** Whether a request prefers HTML to JSON. A client that accepts anything is not a browser. */
export const wantsHtml = (accept: string | undefined): boolean => preferredForm(accept) === 'html'

/** Whether a request names server-sent events. */
const wantsEvents = (accept: string | undefined): boolean =>
  /^\s{0,9}text\/event-stream\s{0,9}(?:[,;]|$)/i.test(accept ?? '')
