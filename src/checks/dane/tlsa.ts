import { createHash, X509Certificate } from 'node:crypto'
import type { Problem } from '../../base/problem.ts'
import type { RecordData } from '../../net/dns/resolver.ts'
import { tlsaProblem } from '../problems.ts'

export type Tlsa = RecordData['TLSA']

/** Octets of the digest by matching type (RFC 6698 §2.1.3); 0 is the data itself. */
const DIGESTS: Readonly<Record<number, { readonly name: string; readonly octets: number }>> = {
  1: { name: 'sha256', octets: 32 },
  2: { name: 'sha512', octets: 64 },
}

/** Why mail servers cannot use a TLSA record; undefined if they can. */
export function problemOf(record: Tlsa): { readonly kind: 'pkix' | 'syntax'; readonly problem: Problem } | undefined {
  const syntax = syntaxProblem(record)
  if (syntax !== undefined) return { kind: 'syntax', problem: syntax }
  // RFC 7672 §3.1.3: PKIX-TA(0) and PKIX-EE(1) are not for SMTP.
  return record.usage < 2 ? { kind: 'pkix', problem: tlsaProblem('pkix', { octet: record.usage }) } : undefined
}

function syntaxProblem({ usage, selector, matchingType, data }: Tlsa): Problem | undefined {
  if (usage > 3) return tlsaProblem('usage', { octet: usage })
  if (selector > 1) return tlsaProblem('selector', { octet: selector })
  if (matchingType > 2) return tlsaProblem('matching_type', { octet: matchingType })
  const digest = DIGESTS[matchingType]
  const octets = data.length / 2
  if (digest && octets !== digest.octets) return tlsaProblem('digest', { count: octets, expected: digest.octets })
  return octets === 0 ? tlsaProblem('empty') : undefined
}

/**
 * Whether the chain that a server presented, leaf first, matches a usable record. DANE-EE(3): the leaf, whatever its
 * name and dates (RFC 7672 §3.1.1). DANE-TA(2): an issuer in the chain, and the leaf is issued under it, valid now and
 * for the host (§3.1.2, §3.2.2). False for a chain that cannot be parsed.
 */
export function tlsaMatches(
  record: Tlsa,
  chain: readonly Uint8Array[],
  now: { readonly nowMs: number; readonly nameMatches: boolean },
): boolean {
  const certificates = chain.flatMap((der) => certificateOf(der) ?? [])
  const leaf = certificates[0]
  if (!leaf || certificates.length !== chain.length) return false
  if (record.usage === 3) return associated(record, leaf)
  const anchor = certificates.findIndex((certificate, i) => i > 0 && associated(record, certificate))
  if (anchor < 0 || !now.nameMatches) return false
  const path = certificates.slice(0, anchor + 1)
  return path.every(
    (certificate, i) => isCurrent(certificate, now.nowMs) && (i === anchor || issuedBy(certificate, path[i + 1]!)),
  )
}

/**
 * `3 1 1` data of a certificate: the SHA-256 of its public key, which stays valid when the certificate is renewed with
 * the same key (RFC 7671 §5.1).
 */
export function keyDigest(der: Uint8Array): string | undefined {
  const certificate = certificateOf(der)
  const key = certificate && spkiOf(certificate)
  return key && createHash('sha256').update(key).digest('hex')
}

function certificateOf(der: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(der)
  } catch {
    return undefined // external bytes that are not a certificate
  }
}

/** RFC 6698 §2.1.2, §2.1.3 */
function associated({ selector, matchingType, data }: Tlsa, certificate: X509Certificate): boolean {
  const selected = selector === 0 ? certificate.raw : spkiOf(certificate)
  if (!selected) return false
  const digest = DIGESTS[matchingType]
  return (digest ? createHash(digest.name).update(selected).digest('hex') : selected.toString('hex')) === data
}

/** Undefined for a key of an unknown kind. */
function spkiOf(certificate: X509Certificate): Buffer | undefined {
  try {
    return certificate.publicKey.export({ type: 'spki', format: 'der' })
  } catch {
    return undefined
  }
}

const isCurrent = (certificate: X509Certificate, nowMs: number): boolean =>
  certificate.validFromDate.getTime() <= nowMs && nowMs < certificate.validToDate.getTime()

function issuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
  } catch {
    return false // a key or signature of an unknown kind
  }
}
