import { timedOut } from '../base/deadline.ts'
import { FetchError, type FetchReason } from './fetch.ts'
import { fetchProblem } from './problems.ts'

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
  const code = codeOf(error)
  if (code === undefined) throw error
  const message = error instanceof Error ? error.message.slice(0, 200) : 'the connection failed'
  return new FetchError(reasonOf(code), fetchProblem('system', { message, code }), { cause: error })
}

const stopped = (signal: AbortSignal, cause: unknown): FetchError =>
  timedOut(signal)
    ? new FetchError('timeout', fetchProblem('timeout'), { cause })
    : new FetchError('aborted', fetchProblem('aborted'), { cause })

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = (error as NodeJS.ErrnoException).code
  return typeof code === 'string' && /^(?:E[A-Z]|UND_ERR|HPE_|ERR_SSL|ERR_TLS)/.test(code)
    ? code
    : certificateCode(code)
}

const certificateCode = (code: unknown): string | undefined =>
  typeof code === 'string' && CERTIFICATE.test(code) ? code : undefined

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
