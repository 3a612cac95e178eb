import { X509Certificate } from 'node:crypto'
import { canonicalName } from '../../names/domain.ts'
import type { TlsHost } from '../tls-host.ts'

/** The key of a certificate: `bits` of the modulus for RSA, of the curve for EC. */
export type CertificateKey = { readonly type: 'rsa' | 'ec' | 'other'; readonly bits: number | null }

const CURVE_BITS: Readonly<Record<string, number>> = { prime256v1: 256, secp384r1: 384, secp521r1: 521, secp224r1: 224 }

/** The key of the certificate that a host presented; undefined if there is none that can be parsed. */
export function keyOf({ tls }: TlsHost): CertificateKey | undefined {
  const leaf = tls?.chain[0]
  if (!leaf) return undefined
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = new X509Certificate(leaf).publicKey
    if (type === 'rsa' || type === 'rsa-pss') return { type: 'rsa', bits: details?.modulusLength ?? null }
    if (type === 'ec') return { type: 'ec', bits: CURVE_BITS[details?.namedCurve ?? ''] ?? null }
    return { type: 'other', bits: null }
  } catch {
    return undefined // external bytes that are not a certificate
  }
}

/** Too few bits: RSA under 2048, curves under 224 (NIST SP 800-131A; RFC 9325 §4.5). */
export const isShort = ({ type, bits }: CertificateKey): boolean =>
  bits !== null && ((type === 'rsa' && bits < 2048) || (type === 'ec' && bits < 224))

/**
 * Whether a certificate with these DNS names is valid for `host`: equal, or a `*` as the whole left-most label, which
 * stands for one label (RFC 9525 §6.3).
 */
export function nameMatches(host: string, names: readonly string[]): boolean {
  const wanted = canonicalName(host)
  const above = wanted.slice(wanted.indexOf('.') + 1)
  return names.map(canonicalName).some((name) => name === wanted || (wanted.includes('.') && name === `*.${above}`))
}

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
