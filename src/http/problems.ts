import { errorsOf } from '../base/errors.ts'
import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'

/** What the HTTP library found wrong with a request. */
export const httpProblem = problemsOf('http', {
  body_too_large: ({ max }: { max: number }) => `the body is larger than ${max} bytes`,
  invalid_json: () => 'the body is not valid JSON',
  empty_json: () => 'the body is empty: send one JSON object, or no Content-Type',
  media_type: () => 'this path does not accept the Content-Type; send JSON with "Content-Type: application/json"',
  url: () => 'the path is not a valid URL: it has an invalid percent-encoding',
  content_length: () => 'the length of the body does not match Content-Length',
  /** Any other fault; `reason` is in the words of the library. */
  other: ({ reason }: { reason: string }) => shown(reason, 300),
  unexpected: () => 'unexpected error; the log has the details under this instance',
})

export const requestError = errorsOf('request', {
  payload_too_large: {
    header_too_large: () => 'the headers are larger than 16 KiB',
    form_fields: ({ max }: { max: number }) => `a form may have at most ${max} fields`,
  },
  invalid_parameter: {
    late: () => 'the request was not received in time',
    no_http: () => 'the request is not valid HTTP',
    transfer_encoding: () => 'the only accepted Transfer-Encoding is chunked',
    hosts: () => 'the request has more than one Host field',
    host: () => 'the Host of the request is not a host and a port',
    target: () => 'the request target and the Host field name different hosts',
    broken_off: () => 'the connection was closed before all of the body had come',
    idempotency_key: () => 'Idempotency-Key must be given once, with 1 to 255 visible ASCII characters',
    twice: ({ name }: { name: string }) => `${shown(name)} is in the query and in the body; give it once`,
    no_object: () => 'the body must be one JSON object',
    batch: () => 'the body is a list of messages (a batch); send each message in its own request',
    in_path: ({ name }: { name: string }) => `${shown(name)} is part of the path; give it only there`,
  },
  timeout: {
    late_body: ({ seconds }: { seconds: number }) => `the body was not received within ${seconds} s`,
    slow_body: ({ min, seconds }: { min: number; seconds: number }) =>
      `fewer than ${min} bytes of the body arrived in ${seconds} s; the records of a list that did are kept: continue its upload`,
  },
  storage_full: {
    not_kept: ({ reason }: { reason: string }) => `the body could not be kept while it is received: ${shown(reason)}`,
  },
  not_found: {
    nowhere: ({ path }: { path: string }) => `there is nothing at ${shown(path)}; /docs/api lists the paths`,
  },
  method_not_allowed: {
    method: ({ path, known, method }: { path: string; known: readonly string[]; method: string }) =>
      `${shown(path)} accepts ${known.join(', ')}, not ${shown(method, 20)}`,
  },
  unknown_parameter: {
    query: ({ name }: { name: string }) => `${quoted(name)}: this operation reads its parameters from the body`,
  },
})

/** Errors of who asks, and how often. */
export const callerError = errorsOf('caller', {
  unauthorized: {
    no_key: () => 'give a key as "Authorization: Bearer …" or "X-API-Key: …"',
    unknown_key: () => 'this key is unknown or has expired',
    /** The reason is the operator's business, and in the log. */
    closed: () => 'a key is required, but this service has none: its operator must create one',
    proof: ({ why }: { why: Problem }, say) => `the proof of a node was refused: ${say(why)}`,
    no_proof: () => "this operation requires proof from a node that knows the cluster's secret",
  },
  forbidden: {
    scope: ({ scope, has }: { scope: string; has: string }) =>
      `this needs the scope ${shown(scope, 60)}, and this key has ${shown(has, 60)}: ask the operator for a key made with --scopes ${shown(has, 60)},${shown(scope, 60)}`,
    not_for_nodes: () => 'nodes may not call this operation',
    not_local: () => 'without --peer-secret, only callers on this machine are allowed',
    forged: () => 'this form is not from the current session: open the page again and repeat the change',
    other_site: () => 'a page of another site made this request; allow its origin with --cors-origin',
    foreign_host: () =>
      'the Host of this request is neither loopback nor set with --host-name; set it with --host-name, or use an API key',
    foreign_origin: () => 'the Origin of this request is another site; allow it with --cors-origin, or use an API key',
  },
  rate_limited: {
    rate: ({ max, seconds }: { max: number; seconds: number }) =>
      `${counted(max, 'request a minute is', 'requests a minute are')} allowed; try again in ${seconds} s`,
    streams: ({ max }: { max: number }) => `${max} event streams of this caller are open; close one first`,
  },
  overloaded: {
    busy: ({ count }: { count: number }) =>
      `${counted(count, 'request is', 'requests are')} in progress; try again in a moment`,
    late: () => 'too many requests at once; try again in a moment',
    stopping: () => 'the service is stopping; try again in a moment',
  },
})
