import { DnsError } from './dns/resolver.ts'

/** A bounded GET over HTTPS. */
export type FetchOptions = {
  /** Bytes of body that are read at most; more rejects with `too_large`. */
  readonly maxBytes: number
  /** Redirects that are followed; default 0. */
  readonly redirects?: number
  readonly accept?: string
}

export type Fetched = {
  readonly status: number
  /** Media type without parameters, lower case; "" when there was none. */
  readonly contentType: string
  readonly body: Uint8Array
  /** The URL that answered, after redirects. */
  readonly url: string
}

/** Gets `url` from a public address (judged on the address that is dialled), the certificate checked. Rejects with {@link FetchError}. */
export type Fetch = (url: string, signal: AbortSignal, options: FetchOptions) => Promise<Fetched>

export type FetchReason =
  | 'invalid_url'
  | 'dns' // the host name has no address or could not be asked; `cause` tells
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
  constructor(reason: FetchReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'FetchError'
    this.reason = reason
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
 * Whether everybody who asks meets the same fault. A connection that fails or is slow may be our own network's; a name without an address is theirs,
 * but not one that the DNS gave no answer about.
 */
export const isTheirs = ({ reason, cause }: FetchError): boolean =>
  reason === 'dns' ? !(cause instanceof DnsError) : THEIRS.includes(reason)
