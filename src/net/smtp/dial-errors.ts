import type { Problem } from '../../base/problem.ts'
import { dialProblem } from '../problems.ts'
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
const PROBLEMS: Readonly<Record<string, Problem>> = {
  ECONNREFUSED: dialProblem('refused'),
  ETIMEDOUT: dialProblem('timed_out'),
  ECONNRESET: dialProblem('reset'),
  EPIPE: dialProblem('ended'),
  EADDRNOTAVAIL: dialProblem('source'),
}

/** A fault while connecting. A source address that cannot be bound is distinguished from an unreachable network. */
export function connectError(error: NodeJS.ErrnoException, bound: boolean): DialError {
  const code = error.code ?? ''
  const notLocal = bound && (code === 'EADDRNOTAVAIL' || code === 'EINVAL' || error.syscall === 'bind')
  const reason = notLocal ? 'address_not_local' : (CONNECT[code] ?? 'network_unreachable')
  return new DialError(reason, problemOf(error), { cause: error })
}

/** A fault of an open connection. */
export const lostError = (error: NodeJS.ErrnoException): DialError =>
  new DialError('connection_lost', problemOf(error), { cause: error })

/** A failed handshake. */
export const tlsError = (error: NodeJS.ErrnoException): DialError =>
  new DialError('tls_failure', dialProblem('tls', { code: error.code ?? error.message }), { cause: error })

/** A signal that fired: a timeout, or the client disconnected. */
export function stoppedError(signal: AbortSignal): DialError {
  const late = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  return late ? new DialError('timeout', dialProblem('timeout')) : new DialError('aborted', dialProblem('aborted'))
}

const problemOf = (error: NodeJS.ErrnoException): Problem =>
  PROBLEMS[error.code ?? ''] ?? dialProblem('network', { code: error.code ?? error.message })
