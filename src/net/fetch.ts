import type { Problem } from '../base/problem.ts'
import { DnsError } from './dns/resolver.ts'

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

export class FetchError extends Error {
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
