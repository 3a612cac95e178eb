import { DialError, type DialReason } from './dial.ts'

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
const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ETIMEDOUT: 'the connection timed out',
  ECONNRESET: 'the server reset the connection',
  EPIPE: 'the server closed the connection',
  EADDRNOTAVAIL: 'the source address cannot be used on this machine',
}

/** A fault while connecting. A source address that cannot be bound is distinguished from an unreachable network. */
export function connectError(error: NodeJS.ErrnoException, bound: boolean): DialError {
  const code = error.code ?? ''
  const notLocal = bound && (code === 'EADDRNOTAVAIL' || code === 'EINVAL' || error.syscall === 'bind')
  const reason = notLocal ? 'address_not_local' : (CONNECT[code] ?? 'network_unreachable')
  return new DialError(reason, sentence(error), { cause: error })
}

/** A fault of an open connection. */
export const lostError = (error: NodeJS.ErrnoException): DialError =>
  new DialError('connection_lost', sentence(error), { cause: error })

/** A failed handshake. */
export const tlsError = (error: NodeJS.ErrnoException): DialError =>
  new DialError('tls_failure', `the TLS handshake failed (${error.code ?? error.message})`, { cause: error })

/** A signal that fired: a timeout, or the client disconnected. */
export function stoppedError(signal: AbortSignal): DialError {
  const late = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  return late ? new DialError('timeout', 'no answer in time') : new DialError('aborted', 'the client disconnected')
}

const sentence = (error: NodeJS.ErrnoException): string =>
  SENTENCES[error.code ?? ''] ?? `network error (${error.code ?? error.message})`
