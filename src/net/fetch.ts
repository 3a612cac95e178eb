import { timedOut } from '../base/deadline.ts'
import { codeOf, OutsideError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { systemWords } from '../base/system-words.ts'
import { DnsError } from './dns/resolver.ts'
import { fetchProblem } from './problems.ts'

/** A bounded GET over HTTPS. */
export type FetchOptions = {
  /** Maximum number of bytes of the body; a longer one rejects with `too_large`. */
  readonly maxBytes: number
  /** Maximum number of redirects; default 0. */
  readonly redirects?: number
  readonly accept?: string
}

export type Fetched = {
  readonly status: number
  /** Media type without parameters, lower case; "" if there is none. */
  readonly contentType: string
  readonly body: Uint8Array
  /** The final URL, after redirects. */
  readonly url: string
}

/**
 * Gets `url` from a public address (the address of the connection is checked), with a verified certificate. Rejects
 * with {@link FetchError}.
 */
export type Fetch = (url: string, signal: AbortSignal, options: FetchOptions) => Promise<Fetched>

export type FetchReason =
  | 'invalid_url'
  | 'dns' // the host name has no address or could not be queried; `cause` has the details
  | 'unsafe_address'
  | 'connect'
  | 'certificate'
  | 'redirect'
  | 'too_large'
  | 'protocol'
  | 'timeout'
  | 'aborted'

export class FetchError extends OutsideError {
  readonly reason: FetchReason
  readonly problem: Problem
  constructor(reason: FetchReason, problem: Problem, options?: { readonly cause?: unknown }) {
    super(problem.text, options)
    this.name = 'FetchError'
    this.reason = reason
    this.problem = problem
  }
}

const THEIRS: readonly FetchReason[] = [
  'certificate',
  'redirect',
  'too_large',
  'protocol',
  'unsafe_address',
  'invalid_url',
]

/**
 * Whether every client gets the same fault. A connection that fails or is slow may be a fault of our own network. A
 * name without an address is a fault of the host, but not if the DNS gave no answer.
 */
export const isTheirs = ({ reason, cause }: FetchError): boolean =>
  reason === 'dns' ? !(cause instanceof DnsError) : THEIRS.includes(reason)

const CONNECT = new Set([
  'ECONNREFUSED',
  'ETIMEDOUT',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'EADDRNOTAVAIL',
  'ENETDOWN',
  'EHOSTDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
  // Faults of this machine: no descriptors, no memory.
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
])
/** Codes of OpenSSL's verification (X509_V_ERR_…) as Node names them. */
const CERTIFICATE =
  /^(?:CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|ERROR_IN_CERT)/

/** Any fault of a GET as a {@link FetchError}; a fault that is not of the network is a bug and is thrown on. */
export function fetchError(error: unknown, signal: AbortSignal): FetchError {
  if (error instanceof FetchError) return error
  if (signal.aborted) return stopped(signal, error)
  if (isBreach(error)) return new FetchError('protocol', fetchProblem('not_http_answer'), { cause: error })
  const code = networkCodeOf(error)
  if (code === undefined) throw error
  return new FetchError(reasonOf(code), fetchProblem('system', { words: systemWords(error, code) }), { cause: error })
}

const stopped = (signal: AbortSignal, cause: unknown): FetchError =>
  timedOut(signal)
    ? new FetchError('timeout', fetchProblem('timeout'), { cause })
    : new FetchError('aborted', fetchProblem('aborted'), { cause })

/** The code of a fault of the network, of HTTP or of a certificate; undefined for other errors. */
function networkCodeOf(error: unknown): string | undefined {
  const code = codeOf(error)
  return code !== undefined && (/^(?:E[A-Z]|UND_ERR|HPE_|ERR_SSL|ERR_TLS)/.test(code) || CERTIFICATE.test(code))
    ? code
    : undefined
}

/** An answer that violates HTTP; the client reports only the name of such faults, or an unexpected one. */
const BREACHES = new Set(['HTTPParserError', 'AssertionError'])
const isBreach = (error: unknown): boolean => error instanceof Error && BREACHES.has(error.name)

function reasonOf(code: string): FetchReason {
  if (CONNECT.has(code)) return 'connect'
  if (CERTIFICATE.test(code)) return 'certificate'
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'too_large'
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'timeout'
  return 'protocol'
}
