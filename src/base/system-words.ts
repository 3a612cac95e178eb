import { codeOf, messageOf } from './errors.ts'

/** What the system calls a fault of the network, of a certificate or of a file, in words. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was ended',
  ETIMEDOUT: 'there was no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'there was no answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'there was no answer in time',
  UND_ERR_SOCKET: 'the connection was ended',
  ENOTFOUND: 'its name has no address',
  EAI_AGAIN: 'its name could not be looked up',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to its network',
  EADDRNOTAVAIL: 'the source address is not one of this machine',
  EMFILE: 'this machine has no descriptors left',
  ENFILE: 'this machine has no descriptors left',
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'a certificate of its chain is self-signed and not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the chain of the certificate is not complete, or its authority is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'the authority of the certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the authority of the certificate is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is not for this name',
  HOSTNAME_MISMATCH: 'the certificate is not for this name',
}

/**
 * A fault of the system in words, with its code; for a code without words what the system says, up to the hints that it
 * has for programmers.
 */
export function systemWords(error: unknown, code = codeOf(error)): string {
  const words = code !== undefined && Object.hasOwn(WORDS, code) ? WORDS[code] : undefined
  if (words !== undefined) return `${words} (${code})`
  const [said = ''] = messageOf(error)
    .slice(0, 200)
    .split(/; if the|\. See /)
  return code === undefined || said.includes(code) ? said : `${said} (${code})`
}
