/** The detail of `overloaded` while the service shuts down. */
export const STOPPING = 'the service is stopping; try again in a moment'

/** Every code that an answer of ours may carry, with its HTTP status and title (RFC 9457). The list is the contract: docs/errors.md is made from it. */
export const ERRORS = {
  missing_parameter: { status: 400, title: 'Missing parameter' },
  invalid_parameter: { status: 400, title: 'Invalid parameter' },
  unknown_parameter: { status: 400, title: 'Unknown parameter' },
  invalid_domain: { status: 400, title: 'Not a domain name' },
  invalid_ip: { status: 400, title: 'Not an IP address' },
  invalid_duration: { status: 400, title: 'Invalid duration' },
  bad_list: { status: 400, title: 'Invalid list' },
  empty_list: { status: 400, title: 'Empty list' },
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
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  upstream_unavailable: { status: 502, title: 'Upstream unavailable' },
  overloaded: { status: 503, title: 'Overloaded or shutting down' },
  timeout: { status: 504, title: 'Timed out' },
} as const

export type ErrorCode = keyof typeof ERRORS

/** An expected fault that is told to the caller: a stable code and a sentence that says what was wrong, with which value, and what to do. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly parameter: string | undefined
  /** When the same may be asked again (`Retry-After`, RFC 9110 §10.2.3), where that is known. */
  readonly retryAfterSeconds: number | undefined
  /** Records of an upload that are held, where that is what was wrong. */
  readonly received: number | undefined

  constructor(
    code: ErrorCode,
    detail: string,
    options: { parameter?: string; cause?: unknown; retryAfterSeconds?: number; received?: number } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.parameter = options.parameter
    this.retryAfterSeconds = options.retryAfterSeconds
    this.received = options.received
  }
}
