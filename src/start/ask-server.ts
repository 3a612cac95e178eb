import { AppError, ERRORS, type ErrorCode } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Operation } from '../operations/operation.ts'
import { proofHeaders } from '../peers/room.ts'

/** Bytes of an answer that are read at most. */
const MAX_ANSWER = 64 * 1024 * 1024

/** The service to ask, and what shows that one may. */
export type AskedServer = {
  readonly server: string
  readonly key: string | undefined
  /** The cluster's secret and this node's id: for what nodes ask of each other. */
  readonly peerSecret: string | undefined
  readonly nodeId: string | undefined
}

/** Asks a running service the same question. Throws {@link AppError} with the service's own problem, or `upstream_unavailable` when it is not there. */
export async function askServer(
  operation: Operation,
  raw: Readonly<Record<string, unknown>>,
  to: AskedServer,
): Promise<JsonObject> {
  if (!URL.canParse(to.server))
    throw new AppError('invalid_parameter', `--server: ${JSON.stringify(to.server)} is not a URL`)
  const url = new URL(operation.path, to.server)
  if (operation.method === 'GET')
    for (const [name, value] of Object.entries(raw)) url.searchParams.set(name, String(value))
  const body = operation.method === 'POST' ? JSON.stringify(raw) : undefined
  const response = await fetch(url, {
    method: operation.method,
    headers: {
      accept: 'application/json',
      ...authorization(operation, `${url.pathname}${url.search}`, body ?? '', to, raw),
      ...(operation.method === 'POST' ? { 'content-type': 'application/json' } : {}),
    },
    ...(body === undefined ? {} : { body }),
    redirect: 'error',
    signal: AbortSignal.timeout(310_000),
  }).catch((cause: unknown) => {
    throw new AppError('upstream_unavailable', `${url.origin} could not be asked: ${(cause as Error).message}`, {
      cause,
    })
  })
  const text = await response.text()
  if (text.length > MAX_ANSWER)
    throw new AppError('upstream_unavailable', `${url.origin} answered with more than can be read`)
  if (response.ok && operation.stream) return readLines(text, url.origin)
  const answer = readJson(text, url.origin)
  if (response.ok) return answer
  const code = String(answer.code)
  throw new AppError(
    code in ERRORS ? (code as ErrorCode) : 'upstream_unavailable',
    String(answer.detail ?? `${url.origin} answered ${response.status}`),
  )
}

function authorization(
  { method, forPeers }: Operation,
  path: string,
  body: string,
  { key, peerSecret: secret, nodeId }: AskedServer,
  raw: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  if (key) return { authorization: `Bearer ${key}` }
  if (!forPeers || secret === undefined) return {}
  const id = typeof raw.id === 'string' ? raw.id.trim() : (nodeId ?? 'command-line')
  return proofHeaders({ method, path, body }, { id, secret, nowMs: Date.now() })
}

/** A line each, as the operation's `run` gives them in one. */
const readLines = (text: string, origin: string): JsonObject => ({
  data: text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => readJson(line, origin)),
  has_more: false,
  next_cursor: null,
})

function readJson(text: string, origin: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as JsonObject
  } catch {
    // told below
  }
  throw new AppError('upstream_unavailable', `${origin} did not answer with JSON`)
}
