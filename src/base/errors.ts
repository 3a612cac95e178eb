import { type Given, type Problem, problemWith, type Sentence } from './problem.ts'

/**
 * Every error code of an answer, with its HTTP status and title (RFC 9457). The list is the contract: docs/errors.md is
 * generated from it.
 */
export const ERRORS = {
  missing_parameter: { status: 400, title: 'Missing parameter' },
  invalid_parameter: { status: 400, title: 'Invalid parameter' },
  unknown_parameter: { status: 400, title: 'Unknown parameter' },
  invalid_domain: { status: 400, title: 'Not a domain name' },
  invalid_ip: { status: 400, title: 'Not an IP address' },
  invalid_duration: { status: 400, title: 'Invalid duration' },
  bad_list: { status: 400, title: 'Invalid list' },
  empty_list: { status: 400, title: 'Empty list' },
  bad_message: { status: 400, title: 'No message that can be read' },
  bad_report: { status: 400, title: 'No report that can be read' },
  until_required: { status: 400, title: 'An end is required' },
  bind_ip_not_local: { status: 400, title: 'Address cannot be bound' },
  unauthorized: { status: 401, title: 'API key required' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  wrong_state: { status: 409, title: 'Not allowed in this state' },
  limit_reached: { status: 409, title: 'Limit reached' },
  wrong_offset: { status: 409, title: 'Wrong upload offset' },
  idempotency_key_reused: { status: 409, title: 'The Idempotency-Key was used for another request' },
  idempotency_key_in_use: { status: 409, title: 'The first request with this Idempotency-Key is still running' },
  gone: { status: 410, title: 'Gone' },
  payload_too_large: { status: 413, title: 'Request too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  too_many_rows: { status: 429, title: 'Too many open rows' },
  too_much_stored: { status: 429, title: 'Too much stored' },
  too_many_uploads: { status: 429, title: 'Too many open uploads' },
  rate_limited: { status: 429, title: 'Too many requests' },
  too_many_jobs: { status: 429, title: 'Too many open jobs' },
  internal: { status: 500, title: 'Internal error' },
  upstream_unavailable: { status: 502, title: 'Upstream unavailable' },
  storage_full: { status: 507, title: 'Storage is full' },
  overloaded: { status: 503, title: 'Overloaded or shutting down' },
  timeout: { status: 504, title: 'Timed out' },
} as const

export type ErrorCode = keyof typeof ERRORS

/** The data of an error in addition to its sentence. */
type ErrorOptions = {
  readonly parameter?: string
  /** The place in the input: the path of a parameter (`records.0`) or a flag (`--json`). The message begins with it. */
  readonly at?: string
  readonly cause?: unknown
  /** When the request may be repeated (`Retry-After`, RFC 9110 §10.2.3), if that is known. */
  readonly retryAfterSeconds?: number
  /** With a wrong upload offset: the number of records that are stored. */
  readonly received?: number
  /** All that is wrong if it is more than this, which is the first of it. */
  readonly all?: readonly AppError[]
}

/**
 * The lack of an answer from outside, which becomes data. It has no stack: every check and verification meets some, and
 * writing the stack costs more than all other work on them. Nor may its cause have one: such errors are cached, and a
 * stack that nobody has read holds everything that its functions see, an upload for example.
 */
export class OutsideError extends Error {
  constructor(text: string, options?: { readonly cause?: unknown }) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(text, options)
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * An expected fault that is reported to the caller: a stable code and a problem that says what was wrong, with which
 * value, and what to do. `message` is the English sentence, after the place in the input where there is one.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly problem: Problem
  readonly at: string | undefined
  readonly parameter: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly received: number | undefined
  readonly all: readonly AppError[]

  constructor(code: ErrorCode, problem: Problem, options: ErrorOptions = {}) {
    super(
      options.at === undefined ? problem.text : `${options.at}: ${problem.text}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'AppError'
    this.code = code
    this.problem = problem
    this.at = options.at
    this.parameter = options.parameter
    this.retryAfterSeconds = options.retryAfterSeconds
    this.received = options.received
    this.all = options.all ?? []
  }
}

/** Sentences by their id, by the code of their errors. */
type ErrorTable<T> = {
  readonly [Code in keyof T]: Code extends ErrorCode ? Readonly<Record<string, Sentence<never>>> : never
}
type IdOf<T> = { [Code in keyof T]: keyof T[Code] & string }[keyof T]
type ValuesOf<T, Id> = {
  [Code in keyof T]: Id extends keyof T[Code] ? (T[Code][Id] extends Sentence<infer V> ? V : never) : never
}[keyof T]

/**
 * A table of errors of a subject. The returned function makes an error from an id, the values of its sentence and
 * further data: `listError('no_column', { wanted }, { parameter: 'column' })`.
 */
export function errorsOf<T extends ErrorTable<T>>(subject: string, table: T) {
  const entries = new Map(
    Object.entries<Readonly<Record<string, Sentence<never>>>>(table).flatMap(([code, sentences]) =>
      Object.entries(sentences).map(([id, tell]) => [id, { code: code as ErrorCode, tell }] as const),
    ),
  )
  return Object.assign(
    <Id extends IdOf<T>>(id: Id, ...[values, options]: Given<ValuesOf<T, Id>, ErrorOptions>): AppError => {
      const { code, tell } = entries.get(id)!
      return new AppError(code, problemWith(`${subject}.${id}`, tell as Sentence<ValuesOf<T, Id>>, values), options)
    },
    { subject, errors: table },
  )
}

/** The error of a parameter whose text a parser refused. */
export const invalidAt = (code: ErrorCode, parameter: string, why: Problem): AppError =>
  new AppError(code, why, { parameter, at: parameter })

/** The error of a flag of the command line whose value was refused. */
export const invalidFlag = (
  flag: string,
  why: Problem,
  { code = 'invalid_parameter', ...options }: { readonly code?: ErrorCode } & Pick<ErrorOptions, 'cause'> = {},
): AppError => new AppError(code, why, { ...options, at: `--${flag}` })

/** The message of whatever was thrown; what is not an error as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The code of an error of Node.js or of the database (`ENOENT`, `23505`); undefined if it has none. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
