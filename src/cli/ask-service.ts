import { timedOut, within } from '../base/deadline.ts'
import { AppError, ERRORS, type ErrorCode } from '../base/errors.ts'
import { isJsonRecord, type JsonRecord } from '../base/json.ts'
import { printable } from '../base/text.ts'
import { type Given, streaming, type TextStream } from '../operations/given.ts'
import type { Operation, Upload } from '../operations/operation.ts'
import { fillPath } from '../operations/path.ts'
import { proofHeaders } from '../peers/registry.ts'

/** Maximum size of an answer, bytes. */
const MAX_ANSWER = 16 * 1024 * 1024
/** Time for an answer beyond the deadline of its operation, ms. */
const GRACE_MS = 10_000
/** The longest that an upload or a download may take, ms. */
const TRANSFER_MS = 6 * 3_600_000

/** The service to ask, and what shows that one may. */
export type AskedService = {
  readonly server: string
  readonly key: string | undefined
  /** The cluster's secret and this node's id: for what nodes ask of each other. */
  readonly peerSecret: string | undefined
  readonly nodeId: string | undefined
  readonly now: () => number
}

/**
 * Asks a running service the same question, for as long as the operation may take and 10 s more. Rejects with {@link AppError}: the service's own problem, or
 * `upstream_unavailable` when there is no answer of at most 16 MiB that can be read; with the reason of `stopped` when that fires first.
 */
export async function askService(
  operation: Operation,
  raw: Readonly<Record<string, unknown>>,
  to: AskedService,
  stopped: AbortSignal,
  upload?: Upload,
): Promise<Given> {
  const url = serviceUrl(to.server)
  const { path, rest } = fillPath(operation.path, raw)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}` // it may stand below a path of a proxy
  const hasBody = operation.method !== 'GET' && operation.method !== 'DELETE' && !operation.uploads
  if (!hasBody) for (const [name, value] of Object.entries(rest)) url.searchParams.set(name, String(value))
  const body = hasBody ? JSON.stringify(rest) : undefined
  const headers = {
    accept: 'application/json',
    ...authorization(operation, url, body ?? '', to, raw),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const isLong = upload !== undefined || operation.streams?.includes(String(rest.format)) === true
  const ms = isLong ? TRANSFER_MS : operation.ask(raw).deadlineMs + GRACE_MS
  const request: RequestInit = {
    method: operation.method,
    headers: upload ? { ...headers, 'content-type': upload.contentType } : headers,
    ...(upload ? streamedBody(upload) : body === undefined ? {} : { body }),
    redirect: 'manual', // a key is for the service that was named
    signal: within(ms, stopped),
  }
  const response = await send(url, request)
  if (isLong && !upload && response.ok && response.body) return streaming({ status: 200, stream: textOf(response) })
  const { isOk, status, text } = await read(url, response, request)
  const wrong = notAService(response, text, operation.line !== undefined)
  if (wrong !== undefined) throw new AppError('upstream_unavailable', `${url.origin} ${wrong}`)
  if (isOk) return readAnswer(operation, text, url.origin)
  const answer = problemIn(text)
  if (answer === undefined)
    throw new AppError(
      'upstream_unavailable',
      `${url.origin} returned status ${status} without a problem in JSON; is it the URL of a mailsonde service?`,
    )
  const code = String(answer.code)
  throw new AppError(
    Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'upstream_unavailable',
    printable(String(answer.detail ?? `${url.origin} returned status ${status}`), 1_000),
  )
}

/** The URL of `--server`. Throws AppError for one that cannot be used; a password in it is not repeated. */
function serviceUrl(text: string): URL {
  const fault = (what: string): AppError => new AppError('invalid_parameter', `--server: ${what}`)
  if (!URL.canParse(text)) throw fault(`${JSON.stringify(text)} is not a URL`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw fault('the URL contains a user name or a password; the service takes a key, in MAILSONDE_KEY')
  if (!/^https?:$/.test(url.protocol)) throw fault(`${JSON.stringify(text)} does not begin with http:// or https://`)
  return url
}

/** Why an answer cannot be one of a service like this: it leads elsewhere, is a page, or nothing at all. */
function notAService({ status, headers }: Response, text: string, inLines: boolean): string | undefined {
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null)
    return `redirects to ${printable(location, 200)}; set --server to the URL of the service itself`
  if (text.trim() === '' && !inLines)
    return `returned status ${status} without content; is it the URL of a mailsonde service?`
  if (/^text\/html$/i.test(type) || /^\s*<(?:!doctype|html)/i.test(text))
    return `returned status ${status} with a web page; is it the URL of a mailsonde service?`
  return undefined
}

type Exchanged = { readonly isOk: boolean; readonly status: number; readonly text: string }

/** What went wrong: `fetch` says "fetch failed" and hides the rest in the cause. */
const whyOf = (error: unknown): string => {
  const { message, cause } = error as Error
  if (cause instanceof Error && Reflect.get(cause, 'code') === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it does not use TLS; try http:// in place of https://'
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

const unavailable = (url: URL, what: string, cause: unknown): AppError =>
  new AppError('upstream_unavailable', `${url.origin} ${what}: ${whyOf(cause)}`, { cause })

async function send(url: URL, request: RequestInit): Promise<Response> {
  return fetch(url, request).catch((cause: unknown) => {
    throw timedOutOr(request, unavailable(url, 'could not be reached', cause))
  })
}

/** The caller's own stop is passed on as it is, and a deadline is told as one. */
function timedOutOr({ signal }: RequestInit, error: AppError): unknown {
  if (!signal?.aborted) return error
  return timedOut(signal)
    ? new AppError('timeout', `${error.message.split(' ')[0]} did not respond in time`)
    : signal.reason
}

/** A body that is sent as it is read. */
const streamedBody = ({ octets }: Upload): RequestInit => ({ body: ReadableStream.from(octets), duplex: 'half' })

/** The text of an answer as it comes: it has no bound, since nothing holds it. */
function textOf(response: Response): TextStream {
  async function* text(): AsyncIterable<string> {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  }
  return { contentType: response.headers.get('content-type') ?? '', text: text() }
}

async function read(url: URL, response: Response, request: RequestInit): Promise<Exchanged> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > MAX_ANSWER) break
      chunks.push(chunk)
    }
  } catch (cause) {
    throw timedOutOr(request, unavailable(url, 'closed the connection before the end of its answer', cause))
  }
  if (size > MAX_ANSWER) throw new AppError('upstream_unavailable', `${url.origin} sent an answer that is too long`)
  return { isOk: response.ok, status: response.status, text: Buffer.concat(chunks).toString() }
}

function authorization(
  { method, forPeers }: Operation,
  { origin, pathname, search }: URL,
  body: string,
  { key, peerSecret: secret, nodeId, now }: AskedService,
  raw: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  if (key) return { authorization: `Bearer ${key}` }
  if (!forPeers || secret === undefined) return {}
  const id = typeof raw.id === 'string' ? raw.id.trim() : (nodeId ?? 'command-line')
  return proofHeaders({ method, origin, path: `${pathname}${search}`, body }, { id, secret, nowMs: now() })
}

/** Reads an answer with the open form of the operation's schema: a mismatch is `upstream_unavailable`, in words. */
function readAnswer(operation: Operation, text: string, origin: string): Given {
  const value = operation.line
    ? text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => readObject(line, origin))
    : readObject(text, origin)
  const given = operation.receive(value)
  if (given.ok) return given.value
  throw new AppError(
    'upstream_unavailable',
    `the answer of ${origin} does not match the schema of ${operation.name}; it may run another version: ${given.problem}`,
  )
}

function readObject(text: string, origin: string): JsonRecord {
  const fault = (what: string, cause?: unknown): AppError =>
    new AppError('upstream_unavailable', `the answer of ${origin} is not ${what}`, { cause })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw fault('JSON', cause)
  }
  if (isJsonRecord(value)) return value
  throw fault('a JSON object')
}

function problemIn(text: string): JsonRecord | undefined {
  try {
    return readObject(text, '')
  } catch {
    return undefined
  }
}
