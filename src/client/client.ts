import { type JobRow, type Operations, ROUTES, type Route } from './operations.ts'

export type * from './operations.ts'

/** The service and how to call it. */
export type ClientOptions = {
  /** The URL of the service; it may have a path. */
  readonly url: string
  /** An API key; without one, only a service without keys answers. */
  readonly key?: string
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

export type CallOptions = {
  readonly signal?: AbortSignal
  /** Identifies the request, so that it can be repeated: jobs, monitors and webhooks. */
  readonly idempotencyKey?: string
}

/** A list to upload: its text, octets, or a stream of them. */
export type UploadBody = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>
export type UploadOptions = CallOptions & {
  /**
   * Default `text/csv`; also text/plain, application/x-ndjson, application/json, each also as gzip with
   * `contentEncoding`.
   */
  readonly contentType?: string
  readonly contentEncoding?: 'gzip'
}

type Name = keyof Operations
type Input<N extends Name> = Operations[N]['input']
type Output<N extends Name> = Operations[N]['output']
type NameOf<Kind> = { [N in Name]: Operations[N]['kind'] extends Kind ? N : never }[Name]
/** An input that is optional if it has no required field. */
type Args<I, O> = object extends I ? [input?: I, options?: O] : [input: I, options?: O]

type Method<N extends Name> =
  N extends NameOf<'lines'>
    ? (...args: Args<Input<N>, CallOptions>) => AsyncIterable<Output<N>>
    : N extends NameOf<'upload'>
      ? (input: Input<N>, list: UploadBody, options?: UploadOptions) => Promise<Output<N>>
      : (...args: Args<Input<N>, CallOptions>) => Promise<Output<N>>

/** A part of an answer when it is known, then the whole. */
export type LiveEvent<N extends Name> =
  | { readonly event: 'part'; readonly data: Readonly<Record<string, unknown>> }
  | { readonly event: 'answer'; readonly data: Output<N> }

/** Nouns with several operations, `jobs.show`: each is a member with their verbs. */
type Group = Name extends infer N ? (N extends `${infer G}.${string}` ? G : never) : never
type Grouped = Extract<Name, `${Group}.${string}`>

/** A method whose input has an id takes it first. */
type ById<N extends Name> =
  Input<N> extends { id: string }
    ? N extends NameOf<'upload'>
      ? (id: string, input: Omit<Input<N>, 'id'>, list: UploadBody, options?: UploadOptions) => Promise<Output<N>>
      : (id: string, ...args: Args<Omit<Input<N>, 'id'>, CallOptions>) => Promise<Output<N>>
    : Method<N>
type Members<G extends Group> = {
  readonly [N in Grouped as N extends `${G}.${infer V}` ? V : never]: ById<N>
}

/** Every operation of the service as a method, named as on the command line (`check`, `jobs.show`), and its streams. */
export type Client = { readonly [N in Exclude<Name, Grouped>]: Method<N> } & {
  readonly [G in Group]: Members<G>
} & {
  /** An answer in parts: each check as it ends, then the whole. Rejects with {@link MailsondeError}. */
  readonly live: <N extends NameOf<'live'>>(
    name: N,
    input: Input<N>,
    options?: CallOptions,
  ) => AsyncIterable<LiveEvent<N>>
  /** The progress of a job: its state at once, then each change, until it has ended. */
  readonly progress: (
    id: string,
    options?: CallOptions,
  ) => AsyncIterable<{ readonly event: string; readonly data: Output<'jobs.show'> }>
  /**
   * All results of a job in the order of its list. An interrupted download continues after the last row, at most 5
   * times.
   */
  readonly rows: (
    id: string,
    filter?: { readonly result?: string; readonly reason?: string },
    options?: CallOptions,
  ) => AsyncIterable<JobRow>
}

/** Maximum number of times an interrupted download is resumed. */
const MAX_RESUMED = 5

/**
 * A client of a running service. It needs only `fetch` and web streams: Node.js, Deno, Bun, browsers. Methods reject
 * with {@link MailsondeError} if the service refuses, or cannot be reached (code `unreachable`, status 0).
 */
export function createClient(options: ClientOptions): Client {
  const methods: Record<string, unknown> = {}
  for (const [name, route] of Object.entries(ROUTES)) {
    const [noun = '', verb] = name.split('.')
    if (verb === undefined) methods[noun] = methodOf(options, route)
    else methods[noun] = { ...(methods[noun] as object | undefined), [verb]: memberOf(options, route) }
  }
  async function* live(name: NameOf<'live'>, input: object, call: CallOptions = {}): AsyncGenerator<unknown> {
    const response = await ask(options, ROUTES[name], input, { ...call, accept: 'text/event-stream' })
    for await (const one of eventsOf(response)) {
      if (one.event === 'error') throw new MailsondeError(response.status, one.data)
      yield one
    }
  }
  async function* progress(id: string, call: CallOptions = {}): AsyncGenerator<unknown> {
    yield* eventsOf(
      await ask(options, ROUTES['jobs.events'], { id, format: 'events' }, { ...call, accept: 'text/event-stream' }),
    )
  }
  // The table of routes has the names of the type: one method each.
  return {
    ...methods,
    live,
    progress,
    rows: (id: string, filter = {}, call = {}) => rowsOf(options, id, filter, call),
  } as unknown as Client
}

const methodOf = (options: ClientOptions, route: Route): unknown => {
  if (route.kind === 'lines') return (input: object = {}, call: CallOptions = {}) => lines(options, route, input, call)
  if (route.kind === 'upload')
    return (input: object, list: UploadBody, call: UploadOptions = {}) => json(options, route, input, { ...call, list })
  return (input: object = {}, call: CallOptions = {}) => json(options, route, input, call)
}

const memberOf = (options: ClientOptions, route: Route): unknown => {
  const method = methodOf(options, route) as (input: object, ...rest: readonly unknown[]) => unknown
  if (!route.path.includes('{id}')) return method
  return (id: string, input: object = {}, ...rest: readonly unknown[]) => method({ ...input, id }, ...rest)
}

type Asked = UploadOptions & { readonly accept?: string; readonly list?: UploadBody }

async function json(options: ClientOptions, route: Route, input: object, call: Asked): Promise<unknown> {
  const response = await ask(options, route, input, call)
  const text = await textOf(response)
  try {
    return JSON.parse(text)
  } catch {
    throw answeredWith(response, text)
  }
}

async function* lines(options: ClientOptions, route: Route, input: object, call: Asked): AsyncGenerator<unknown> {
  const response = await ask(options, route, input, { ...call, accept: 'application/x-ndjson' })
  for await (const line of linesOf(response)) if (line !== '') yield JSON.parse(line)
}

async function* rowsOf(options: ClientOptions, id: string, filter: object, call: CallOptions): AsyncGenerator<unknown> {
  let cursor: string | undefined
  for (let resumed = 0; ; resumed++) {
    const input = { id, format: 'ndjson', ...filter, ...(cursor !== undefined && { cursor }) }
    try {
      for await (const row of lines(options, ROUTES['jobs.results'], input, call)) {
        const { line, part } = row as JobRow
        cursor = part === undefined ? String(line) : `${line}.${part}`
        yield row
      }
      return
    } catch (error) {
      // Nothing was received, it was refused, or the caller has stopped: retrying would not help.
      const isRefused = error instanceof MailsondeError && error.status !== 0
      const isOver = cursor === undefined || isRefused || call.signal?.aborted === true
      if (isOver || resumed >= MAX_RESUMED) throw error
    }
  }
}

async function ask(
  { url, key, fetch = globalThis.fetch }: ClientOptions,
  { method, path, isStream }: Route,
  input: object,
  call: Asked,
): Promise<Response> {
  const { signal, idempotencyKey, accept = 'application/json', list, contentType, contentEncoding } = call
  const given = isStream ? { format: 'json', ...input } : input
  const rest = new Map(Object.entries(given).filter(([, value]) => value !== undefined))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name) ?? '')
    rest.delete(name)
    return encodeURIComponent(value)
  })
  const target = new URL(url)
  target.pathname = `${target.pathname.replace(/\/+$/, '')}${filled}`
  const hasBody = list === undefined && method !== 'GET' && method !== 'DELETE'
  if (!hasBody)
    for (const [name, value] of rest) target.searchParams.set(name, Array.isArray(value) ? value.join() : String(value))
  const headers = new Headers({ accept })
  if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  if (hasBody || list !== undefined)
    headers.set('content-type', list === undefined ? 'application/json' : (contentType ?? 'text/csv'))
  if (contentEncoding !== undefined) headers.set('content-encoding', contentEncoding)
  const init: RequestInit & { duplex?: 'half' } = { method, headers, redirect: 'error', ...(signal && { signal }) }
  if (hasBody) init.body = JSON.stringify(Object.fromEntries(rest))
  if (list !== undefined) Object.assign(init, { body: list, duplex: 'half' })
  const response = await fetch(target, init).catch((error: unknown) => {
    throw signal?.aborted === true ? error : unreachable(target, error)
  })
  if (!response.ok) throw answeredWith(response, await textOf(response))
  return response
}

/** What the service refused, in its own words (RFC 9457). */
export class MailsondeError extends Error {
  /**
   * Stable; docs/errors.md lists them. `unreadable` where the answer is none of the service's, `unreachable` (status 0)
   * where there is none.
   */
  readonly code: string
  readonly status: number
  readonly parameter: string | undefined
  /** The request in the service's log. */
  readonly requestId: string | undefined
  /** Seconds after which it may be asked again. */
  readonly retryAfter: number | undefined

  constructor(status: number, problem: unknown, retryAfter?: number) {
    const text = (name: string): string | undefined => {
      const value: unknown = typeof problem === 'object' && problem !== null ? Reflect.get(problem, name) : undefined
      return typeof value === 'string' ? value : undefined
    }
    super(text('detail') ?? `the service answered ${status}`)
    this.name = 'MailsondeError'
    this.code = text('code') ?? 'unreadable'
    this.status = status
    this.parameter = text('parameter')
    this.requestId = text('instance')
    this.retryAfter = retryAfter
  }
}

/** The error for an answer that is no success, or that cannot be read. */
export function answeredWith({ status, headers }: Response, text: string): MailsondeError {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  let problem: unknown
  try {
    problem = JSON.parse(text)
  } catch {
    problem = { detail: `the service answered ${status} with something other than JSON` }
  }
  return new MailsondeError(status, problem, Number.isFinite(seconds) ? seconds : undefined)
}

/** The error for a service that gave no answer. */
export function unreachable({ origin }: URL, error: unknown): MailsondeError {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error
  const reason = cause instanceof Error ? cause.message || Reflect.get(cause, 'code') : String(cause)
  return new MailsondeError(0, {
    code: 'unreachable',
    detail: `the service at ${origin} cannot be reached: ${String(reason)}`,
  })
}

/** Maximum number of characters of a complete answer, and of one line of a stream. */
const MAX_TEXT = 16 * 1024 * 1024

/** The text of a body as a stream. Leaving the loop cancels the rest. */
async function* textChunks({ body }: Response): AsyncGenerator<string> {
  if (!body) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      yield decoder.decode(value, { stream: !done })
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => {}) // it has ended, or was interrupted
  }
}

/** The whole text of a body, at most 16 Mi characters. */
export async function textOf(response: Response): Promise<string> {
  let text = ''
  for await (const chunk of textChunks(response)) {
    text += chunk
    if (text.length > MAX_TEXT) throw new RangeError('the answer is too long')
  }
  return text
}

/**
 * The lines of a body as a stream, without their ends; an incomplete last line is included. At most 16 Mi characters
 * each.
 */
export async function* linesOf(response: Response): AsyncGenerator<string> {
  let open = ''
  for await (const chunk of textChunks(response)) {
    const [first = '', ...others] = chunk.split('\n')
    open += first
    if (open.length > MAX_TEXT) throw new RangeError('a line of the answer is too long')
    for (const next of others) {
      yield open.replace(/\r$/, '')
      open = next
    }
  }
  if (open !== '') yield open
}

type SentEvent = { readonly event: string; readonly data: unknown }

/**
 * The events of a body as a stream (the format of the HTML standard, §9.2.6); comments and incomplete events are
 * ignored.
 */
export async function* eventsOf(response: Response): AsyncGenerator<SentEvent> {
  let event = 'message'
  let data: string[] = []
  for await (const line of linesOf(response)) {
    if (line === '') {
      if (data.length > 0) yield { event, data: JSON.parse(data.join('\n')) }
      event = 'message'
      data = []
    } else if (!line.startsWith(':')) {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []
      if (name === 'event') event = value
      if (name === 'data') data.push(value)
    }
  }
}
