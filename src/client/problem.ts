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
