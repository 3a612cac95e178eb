import { timedOut, within } from '../base/deadline.ts'
import { AppError, ERRORS, type ErrorCode } from '../base/errors.ts'
import { isJsonRecord, type JsonRecord } from '../base/json.ts'
import { systemWords } from '../base/system-words.ts'
import {
  type Given,
  type Operation,
  readsQuery,
  streaming,
  type TextStream,
  type Upload,
} from '../operations/operation.ts'
import { fillPath } from '../operations/path.ts'
import { proofHeaders } from '../peers/registry.ts'
import { serviceError, toldProblem } from './problems.ts'

/** Maximum size of an answer, bytes. */
const MAX_ANSWER = 16 * 1024 * 1024
/** Time for an answer beyond the deadline of its operation, ms. */
const GRACE_MS = 10_000
/** The longest that an upload or a download may take, ms. */
const TRANSFER_MS = 6 * 3_600_000

/** The service to call, and the credentials for it. */
export type AskedService = {
  readonly server: string
  readonly key: string | undefined
  /** The cluster's secret and this node's id, for requests between nodes. */
  readonly peerSecret: string | undefined
  readonly nodeId: string | undefined
  readonly now: () => number
  /** How to reach it; absent: over the network. For the service of this data folder, its socket. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * Sends the request to a running service; the time limit is that of the operation plus 10 s. Rejects with
 * {@link AppError}: the service's own problem, or `upstream_unavailable` if there is no readable answer of at most 16
 * MiB; with the reason of `stopped` if that fires first.
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
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}` // the service may be below a path of a proxy
  const hasBody = !readsQuery(operation)
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
    redirect: 'manual', // the key must not be sent to another service
    signal: within(ms, stopped),
  }
  const response = await send(url, request, to.fetch)
  if (isLong && !upload && response.ok && response.body) return streaming({ status: 200, stream: textOf(response) })
  const { isOk, status, text } = await read(url, response, request)
  const wrong = notAService(response, url, text, operation.line !== undefined)
  if (wrong) throw wrong
  if (isOk) return readAnswer(operation, text, url.origin)
  const answer = problemIn(text)
  if (answer === undefined) throw serviceError('no_problem', { origin: url.origin, status })
  const code = String(answer.code)
  throw new AppError(
    Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'upstream_unavailable',
    typeof answer.detail === 'string'
      ? toldProblem(code === 'unauthorized' ? 'key' : 'detail', { detail: answer.detail })
      : toldProblem('status', { origin: url.origin, status }),
  )
}

/** The URL of `--server`. Throws AppError if it cannot be used; the message does not repeat a password. */
function serviceUrl(text: string): URL {
  const at = { at: '--server' }
  if (!URL.canParse(text)) throw serviceError('url', { text }, at)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw serviceError('login', undefined, at)
  if (!/^https?:$/.test(url.protocol)) throw serviceError('scheme', { text }, at)
  return url
}

/** Why an answer is not from a mailsonde service: it is a redirect, a web page or empty. */
function notAService(
  { status, headers }: Response,
  { origin }: URL,
  text: string,
  inLines: boolean,
): AppError | undefined {
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null) return serviceError('redirect', { origin, location })
  if (text.trim() === '' && !inLines) return serviceError('empty', { origin, status })
  if (/^text\/html$/i.test(type) || /^\s*<(?:!doctype|html)/i.test(text))
    return serviceError('web_page', { origin, status })
  return undefined
}

type Exchanged = { readonly isOk: boolean; readonly status: number; readonly text: string }

/** The reason of a failure: `fetch` says only "fetch failed" and has the reason in `cause`. */
const whyOf = (error: unknown): string => systemWords((error as Error).cause ?? error)

function unavailable({ origin }: URL, what: 'unreachable' | 'broken_off', error: unknown): AppError {
  const { cause } = error as Error
  if (cause instanceof Error && Reflect.get(cause, 'code') === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return serviceError('no_tls', { origin }, { cause: error })
  return serviceError(what, { origin, reason: whyOf(error) }, { cause: error })
}

async function send(url: URL, request: RequestInit, fetch = globalThis.fetch): Promise<Response> {
  return fetch(url, request).catch((cause: unknown) => {
    throw timedOutOr(request, url, unavailable(url, 'unreachable', cause))
  })
}

/** Passes on the reason of the caller's own stop, and reports a deadline as a timeout. */
function timedOutOr({ signal }: RequestInit, { origin }: URL, error: AppError): unknown {
  if (!signal?.aborted) return error
  return timedOut(signal) ? serviceError('late', { origin }) : signal.reason
}

const streamedBody = ({ octets }: Upload): RequestInit => ({ body: ReadableStream.from(octets), duplex: 'half' })

/** The text of an answer as a stream; it is unbounded, because it is not kept in memory. */
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
    throw timedOutOr(request, url, unavailable(url, 'broken_off', cause))
  }
  if (size > MAX_ANSWER) throw serviceError('too_long', { origin: url.origin })
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

/**
 * Reads an answer by the operation's schema, which allows additional fields. A mismatch is `upstream_unavailable`, with
 * the fault.
 */
function readAnswer(operation: Operation, text: string, origin: string): Given {
  const value = operation.line
    ? text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => readObject(line, origin))
    : readObject(text, origin)
  const given = operation.receive(value)
  if (given.ok) return given.value
  throw serviceError('schema', { origin, name: operation.name, why: given.problem })
}

function readObject(text: string, origin: string): JsonRecord {
  const fault = (what: 'not_json' | 'no_object', cause?: unknown): AppError => serviceError(what, { origin }, { cause })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw fault('not_json', cause)
  }
  if (isJsonRecord(value)) return value
  throw fault('no_object')
}

function problemIn(text: string): JsonRecord | undefined {
  try {
    return readObject(text, '')
  } catch {
    return undefined
  }
}
