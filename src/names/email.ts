import type { Domain } from './domain.ts'

/**
 * A mailbox address as parsed (RFC 5321 §4.1.2, RFC 6531 §3.3). `local` is the decoded local part (unquoted); print with {@link formatEmail} only:
 * what was read never reaches the wire as it came.
 */
export type Email = {
  readonly local: string
  readonly domain: Domain
  /** The local part has non-ASCII characters: the server must offer SMTPUTF8 (RFC 6531 §3.1). */
  readonly smtputf8: boolean
}
