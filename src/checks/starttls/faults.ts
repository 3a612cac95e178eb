import type { TlsHost } from '../tls-host.ts'
import { nameMatches } from './names.ts'

/** Why a sender that requires TLS with a valid certificate does not deliver to a host. */
export type TlsFault = 'no_starttls' | 'expired' | 'untrusted' | 'other_name'

/** {@link TlsFault} of a host; undefined if it has none, and if its TLS is not known. */
export function tlsFault({ host, offered, open, tls }: TlsHost, nowMs: number): TlsFault | undefined {
  if (offered === null || open) return undefined
  if (!tls) return 'no_starttls'
  if (tls.expiresAtMs <= nowMs) return 'expired'
  if (!tls.trusted) return 'untrusted'
  return nameMatches(host, tls.names) ? undefined : 'other_name'
}
