import { OutsideError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import type { Ip } from '../../names/ip.ts'
import type { ProxyName } from '../../names/source.ts'
import { dialProblem } from '../problems.ts'

/** Where to connect and from where. */
export type Target = {
  readonly address: Ip
  /** 1 to 65535. */
  readonly port: number
  /** The source address; absent: chosen by the system. */
  readonly localAddress?: Ip
  /** The proxy that makes the connection in place of this machine. */
  readonly proxy?: ProxyName
}

/** The certificate and protocol of a TLS connection: opportunistic, so nothing was required of them. */
export type TlsInfo = {
  /** `TLSv1.3` … */
  readonly protocol: string
  readonly cipher: string
  /** Whether the chain leads to a trusted root. */
  readonly trusted: boolean
  /** The reason if it is not trusted (an OpenSSL code). */
  readonly trustError?: string
  /** DNS names of the certificate (subjectAltName, otherwise the common name), at most 100. */
  readonly names: readonly string[]
  readonly subject: string
  readonly issuer: string
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number
  /** DER of the chain as sent, leaf first, at most 10. */
  readonly chain: readonly Uint8Array[]
}

/** `outdated`: only TLS 1.0 and 1.1, to see whether a host still accepts them (RFC 8996). */
export type TlsOffer = 'outdated'

/** One open TCP connection, owned by the code that opened it. */
export type Connection = {
  /** The next bytes, or undefined if the other side has closed. Rejects with {@link DialError}. */
  readonly read: () => Promise<Uint8Array | undefined>
  /** Rejects with {@link DialError} if the connection has failed. If this write fails, the next read says so. */
  readonly write: (bytes: Uint8Array | string) => Promise<void>
  /**
   * Turns the connection into TLS with `serverName` as SNI. Rejects with {@link DialError}: `tls_failure`, and
   * `protocol_error` if bytes arrived before the handshake (response injection). `offer`: the offered versions; absent:
   * TLS 1.0 and later.
   */
  readonly startTls: (serverName: string, offer?: TlsOffer) => Promise<TlsInfo>
  /** The client address that the other side sees: of this machine, or of a proxy. */
  readonly localAddress: Ip
  /** Closes at once; may be called twice. */
  readonly close: () => void
  /**
   * Writes `last` and closes gracefully in the background: written data is sent, received data is ignored, and the
   * socket closes when the other side does, at most a second later. After this call nothing can be read or written.
   */
  readonly finish: (last: string) => void
}

/**
 * Opens a connection. `signal` bounds its whole life: when it fires, every wait rejects (`timeout` or `aborted`) and
 * the socket is closed.
 */
export type Dial = (target: Target, signal: AbortSignal) => Promise<Connection>

export type DialReason =
  | 'connect_timeout'
  | 'connect_refused'
  | 'network_unreachable'
  | 'address_not_local' // the source address cannot be bound
  | 'proxy_failed' // the proxy could not be used; nothing is known about the target
  | 'unsafe_address' // a private or reserved target that the operator has not allowed
  | 'connection_lost'
  | 'tls_failure'
  | 'protocol_error' // bytes between STARTTLS and the handshake
  | 'timeout'
  | 'aborted'

export class DialError extends OutsideError {
  readonly reason: DialReason
  readonly problem: Problem
  constructor(reason: DialReason, problem: Problem, options?: { readonly cause?: unknown }) {
    super(problem.text, options)
    this.name = 'DialError'
    this.reason = reason
    this.problem = problem
  }
}

const CONNECT: Readonly<Record<string, DialReason>> = {
  ECONNREFUSED: 'connect_refused',
  ETIMEDOUT: 'connect_timeout',
  ENETUNREACH: 'network_unreachable',
  EHOSTUNREACH: 'network_unreachable',
  ENETDOWN: 'network_unreachable',
  EHOSTDOWN: 'network_unreachable',
  EAFNOSUPPORT: 'network_unreachable',
  EPERM: 'network_unreachable', // a firewall of this machine
  EACCES: 'network_unreachable',
  ECONNRESET: 'connection_lost',
}
const PROBLEMS: Readonly<Record<string, Problem>> = {
  ECONNREFUSED: dialProblem('refused'),
  ETIMEDOUT: dialProblem('timed_out'),
  ECONNRESET: dialProblem('reset'),
  EPIPE: dialProblem('ended'),
  EADDRNOTAVAIL: dialProblem('source'),
}

/** What a socket emits; the types of the package need none of Node. */
type SocketError = Error & { readonly code?: string | undefined; readonly syscall?: string | undefined }

/** A fault while connecting. A source address that cannot be bound is distinguished from an unreachable network. */
export function connectError(error: SocketError, bound: boolean): DialError {
  const code = error.code ?? ''
  const notLocal = bound && (code === 'EADDRNOTAVAIL' || code === 'EINVAL' || error.syscall === 'bind')
  const reason = notLocal ? 'address_not_local' : (CONNECT[code] ?? 'network_unreachable')
  return new DialError(reason, problemOf(error), { cause: error })
}

/** A fault of an open connection. */
export const lostError = (error: SocketError): DialError =>
  new DialError('connection_lost', problemOf(error), { cause: error })

export const tlsError = (error: SocketError): DialError =>
  new DialError('tls_failure', dialProblem('tls', { code: error.code ?? error.message }), { cause: error })

/** A signal that fired: a timeout, or the client disconnected. */
export function stoppedError(signal: AbortSignal): DialError {
  const late = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  return late ? new DialError('timeout', dialProblem('timeout')) : new DialError('aborted', dialProblem('aborted'))
}

const problemOf = (error: SocketError): Problem =>
  PROBLEMS[error.code ?? ''] ?? dialProblem('network', { code: error.code ?? error.message })
