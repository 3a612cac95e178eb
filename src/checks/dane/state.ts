import { nameMatches } from '../starttls/index.ts'
import type { TlsHost } from '../tls-host.ts'
import type { DaneFacts, DaneHost } from './lookup.ts'
import { problemOf, type Tlsa, tlsaMatches } from './tlsa.ts'

export type RecordState = {
  readonly record: Tlsa
  readonly problem?: ReturnType<typeof problemOf>
  /** Whether the presented certificate matches it; null: none was seen, or the record cannot be used. */
  readonly matches: boolean | null
}

/** The state of one host. */
export type HostState = {
  readonly host: DaneHost
  /** MX, addresses and TLSA were all validated; null: could not be determined. */
  readonly secure: boolean | null
  readonly records: readonly RecordState[]
  /** Senders that use DANE apply these records: secure, and one of them is usable (RFC 7672 §2.2). */
  readonly inForce: boolean
  readonly seen?: TlsHost
}

export const hostStates = (facts: DaneFacts): HostState[] => facts.hosts.map((host) => stateOf(facts, host))

function stateOf(facts: DaneFacts, host: DaneHost): HostState {
  const seen = facts.tls?.hosts.find((other) => other.host === host.host)
  const secure = secureOf(facts, host)
  const records = host.records.map((record) => recordState(record, seen, facts.tls?.nowMs ?? 0))
  return {
    host,
    secure,
    records,
    inForce: secure === true && records.some(({ problem }) => problem === undefined),
    ...(seen ? { seen } : {}),
  }
}

function secureOf({ mxSecure, believed, isUnsigned }: DaneFacts, host: DaneHost): boolean | null {
  if (mxSecure && host.hostSecure && host.tlsaSecure) return true
  // RFC 7672 §2.2.1: MX records of a zone without signatures are insecure, also for a resolver that validates nothing.
  if (isUnsigned && !mxSecure) return false
  // Nothing is secure if the AD bit of the resolver is not trusted.
  if (believed !== true || host.error !== undefined || host.hostSecure === null) return null
  return false
}

function recordState(record: Tlsa, seen: TlsHost | undefined, nowMs: number): RecordState {
  const problem = problemOf(record)
  if (problem) return { record, problem, matches: null }
  const chain = seen?.tls?.chain
  if (!seen?.tls || !chain || chain.length === 0) return { record, matches: null }
  return {
    record,
    matches: tlsaMatches(record, chain, { nowMs, nameMatches: nameMatches(seen.host, seen.tls.names) }),
  }
}
