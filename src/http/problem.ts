import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { AppError, ERRORS, type ErrorCode } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import { httpProblem, requestError } from './problems.ts'

/** The page of this service that explains the codes; the fragment is the code. */
const PROBLEM_PAGE = '/docs/errors'

/** A problem detail (RFC 9457). `code` is stable; `instance` is the request's id. */
type Problem = {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly instance: string
  readonly code: ErrorCode
  readonly parameter?: string
  /** With `wrong_offset`: the number of records that are stored. */
  readonly received?: number
  /** All that is wrong with the input, if it is more than one thing; this problem is the first. */
  readonly errors?: readonly ProblemPart[]
}
type ProblemPart = Pick<Problem, 'code' | 'parameter' | 'detail'>

const partOf = (error: AppError): ProblemPart => ({
  code: error.code,
  ...(error.parameter ? { parameter: printable(error.parameter, 100) } : {}),
  detail: printable(error.message, 1_000),
})

export function problemOf(error: AppError, requestId: string): Problem {
  const { status, title } = ERRORS[error.code]
  return {
    type: `${PROBLEM_PAGE}#${error.code}`,
    title,
    status,
    detail: printable(error.message, 1_000),
    instance: requestId,
    code: error.code,
    ...(error.parameter ? { parameter: printable(error.parameter, 100) } : {}),
    ...(error.received === undefined ? {} : { received: error.received }),
    ...(error.all.length > 1 && { errors: error.all.map(partOf) }),
  }
}

const BY_STATUS: Partial<Record<number, ErrorCode>> = {
  400: 'invalid_parameter',
  403: 'forbidden',
  404: 'not_found',
  413: 'payload_too_large',
  414: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  431: 'payload_too_large',
  503: 'overloaded',
}

/**
 * The fault as one of our codes: refusals of the HTTP library keep their meaning, and everything else is `internal`
 * without details. `bodyLimit`: maximum size of the body, bytes.
 */
export function asAppError(error: unknown, bodyLimit?: number): AppError {
  if (error instanceof AppError) return error
  const { statusCode, message, code: fault } = error as { statusCode?: number; message?: string; code?: string }
  if (fault === 'FST_ERR_CTP_BODY_TOO_LARGE' && bodyLimit !== undefined)
    return new AppError('payload_too_large', httpProblem('body_too_large', { max: bodyLimit }), { cause: error })
  const code = statusCode === undefined ? undefined : BY_STATUS[statusCode]
  return code
    ? new AppError(code, libraryProblem(fault, message ?? ERRORS[code].title), { cause: error })
    : new AppError('internal', httpProblem('unexpected'), { cause: error })
}

/** Faults of the HTTP library that have a sentence of ours, by their code. */
const LIBRARY = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'empty_json',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'content_length',
  FST_ERR_BAD_URL: 'url',
} as const
const isKnown = (fault: string): fault is keyof typeof LIBRARY => Object.hasOwn(LIBRARY, fault)

const libraryProblem = (fault: string | undefined, reason: string): ReturnType<typeof httpProblem> =>
  fault !== undefined && isKnown(fault) ? httpProblem(LIBRARY[fault]) : httpProblem('other', { reason })

type ClientError = { readonly error: NodeJS.ErrnoException; readonly socket: Socket }

/**
 * Problems for what the HTTP parser refuses before there is a request: headers over 16 KiB, a request that is not
 * received in time, bytes that are not HTTP.
 */
export function answerClientError({ error, socket }: ClientError): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = problemOf(parserError(error), randomUUID())
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${problem.instance}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon())
}

function parserError({ code }: NodeJS.ErrnoException): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return requestError('header_too_large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestError('late')
  return requestError('no_http')
}

/** Interval between two lines about refusals of one reason, ms. */
const LINE_EVERY_MS = 1_000

/** A refused request, as in its log line. */
export type Refusal = {
  readonly reason: ErrorCode
  readonly status: number
  readonly path: string
  readonly caller: string
  readonly request_id: string
}

export type RefusalLog = ReturnType<typeof refusalLog>

/**
 * Refusals are cheap for a caller, so they are not logged line by line: at most one line a second and reason, with the
 * first refused request and, if there were more, their number.
 */
export function refusalLog(write: (fields: Refusal & { readonly count: number }) => void) {
  const waiting = new Map<ErrorCode, { readonly first: Refusal; count: number }>()
  let timer: NodeJS.Timeout | undefined
  function flush(): void {
    timer = undefined
    for (const { first, count } of waiting.values()) write({ ...first, count })
    waiting.clear()
  }
  return {
    add: (refusal: Refusal): void => {
      const known = waiting.get(refusal.reason)
      if (known) known.count++
      else waiting.set(refusal.reason, { first: refusal, count: 1 })
      timer ??= setTimeout(flush, LINE_EVERY_MS).unref()
    },
    /** Writes the lines that are due. */
    stop: (): void => {
      clearTimeout(timer)
      flush()
    },
  }
}
