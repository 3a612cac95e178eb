import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { TlsInfo } from './dial.ts'

/** Maximum number of DNS names that are kept of a certificate. */
const MAX_NAMES = 100
/** Maximum number of certificates that are kept of a chain. */
const MAX_CHAIN = 10

/**
 * The result of a completed handshake: the certificates as the server sent them, and whether they lead to a trusted
 * root. The name is not checked here.
 */
export function tlsInfo(socket: TLSSocket): TlsInfo {
  const leaf = socket.getPeerCertificate(true)
  const error = socket.authorizationError as Error | string | null | undefined
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher()?.name ?? 'unknown',
    trusted: socket.authorized,
    ...(socket.authorized || !error ? {} : { trustError: codeOf(error) }),
    names: namesOf(leaf),
    subject: nameText(leaf.subject),
    issuer: nameText(leaf.issuer),
    validFromMs: Date.parse(leaf.valid_from ?? '') || 0,
    expiresAtMs: Date.parse(leaf.valid_to ?? '') || 0,
    chain: chainOf(leaf),
  }
}

const codeOf = (error: Error | string): string =>
  typeof error === 'string' ? error : ((error as NodeJS.ErrnoException).code ?? error.message)

/** DNS names of the subjectAltName (RFC 6125 §6.4.4: if there are any, the common name does not count). */
function namesOf(leaf: DetailedPeerCertificate): readonly string[] {
  const names = [
    ...(leaf.subjectaltname ?? '').slice(0, 65_536).matchAll(/DNS:(?:"((?:[^"\\]|\\.){0,512})"|([^,"]{1,512}))/g),
  ]
    .slice(0, MAX_NAMES)
    .map((match) => (match[1] ?? match[2] ?? '').toLowerCase())
  if (names.length > 0) return names
  const common = leaf.subject?.CN
  return typeof common === 'string' ? [common.toLowerCase()] : []
}

/** `CN=…, O=…`, at most 512 characters. */
const nameText = (name: object | undefined): string =>
  Object.entries(name ?? {})
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join('+') : String(value)}`)
    .join(', ')
    .slice(0, 512)

function chainOf(leaf: DetailedPeerCertificate): readonly Uint8Array[] {
  const chain: Uint8Array[] = []
  let at: DetailedPeerCertificate | undefined = leaf
  while (at?.raw && chain.length < MAX_CHAIN) {
    chain.push(at.raw)
    at = at.issuerCertificate === at ? undefined : at.issuerCertificate // a root is its own issuer
  }
  return chain
}
