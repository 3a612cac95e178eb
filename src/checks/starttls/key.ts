import { X509Certificate } from 'node:crypto'
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
