import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { Problem } from '../../base/problem.ts'
import { type KeyRecord, parseKeyRecord } from './parse.ts'
import { keyProblem } from './problems.ts'

/**
 * The state of a key record. A `usable` one verifies mail; one of `reports` is sound, and verifies TLS reports alone
 * (`s=tlsrpt`, RFC 8460 §3); for a `broken` one `problem` is the reason.
 */
export type KeyState =
  | {
      readonly state: 'usable' | 'reports'
      readonly type: 'rsa' | 'ed25519'
      readonly bits: number
      readonly testing: boolean
    }
  | { readonly state: 'revoked' }
  | { readonly state: 'broken'; readonly problem: Problem; readonly type?: 'rsa' | 'ed25519'; readonly bits?: number }

/** Size in bits below which an RSA key must not be trusted (RFC 8301 §3.2). */
const LEAST_RSA_BITS = 1_024
/** Maximum RSA exponent; common verifiers refuse larger ones, because verification would be slow. */
const MOST_EXPONENT = 2n ** 32n
/** Maximum size of an exponent, octets; the key library takes seconds for much longer ones. */
const MOST_EXPONENT_OCTETS = 5
/** Maximum size of a modulus, octets. */
const MOST_MODULUS_OCTETS = 2_049

/** Reads the text of a record and its key; one that cannot be read is broken. */
export function stateOf(text: string): KeyState {
  const reading = parseKeyRecord(text)
  return reading.ok ? readKey(reading.value) : { state: 'broken', problem: reading.problem }
}

/** Reads the key itself: its type and real size, and whether it can verify mail. */
export function readKey(record: KeyRecord): KeyState {
  if (record.publicKey === '') return { state: 'revoked' } // RFC 6376 §3.6.1 p
  if (record.hashes.length > 0 && !record.hashes.includes('sha256'))
    return broken(keyProblem('hashes', { hashes: record.hashes })) // RFC 8301 §3.1
  const isForMail = record.services.some((service) => service === '*' || service === 'email')
  if (!isForMail && !record.services.includes('tlsrpt'))
    return broken(keyProblem('services', { services: record.services }))
  const key = readPublicKey(record)
  return key.state === 'usable' && !isForMail ? { ...key, state: 'reports' } : key
}

function readPublicKey(record: KeyRecord): KeyState {
  if (record.keyType === 'ed25519') return readEd25519(record)
  if (record.keyType === 'rsa') return readRsa(record)
  return broken(keyProblem('type', { text: record.keyType }))
}

const isTesting = (record: KeyRecord): boolean => record.flags.includes('y')
type Broken = Extract<KeyState, { state: 'broken' }>
const broken = (problem: Problem): Broken => ({ state: 'broken', problem })
const brokenRsa = (problem: Problem): Broken => ({ state: 'broken', type: 'rsa', problem })

/** RFC 8463 §4: only the 32 bytes of the key. */
function readEd25519(record: KeyRecord): KeyState {
  const bytes = Buffer.from(record.publicKey, 'base64')
  if (bytes.length === 32) return { state: 'usable', type: 'ed25519', bits: 256, testing: isTesting(record) }
  return { ...broken(keyProblem('ed25519', { count: bytes.length, wrapped: bytes.length === 44 })), type: 'ed25519' }
}

function readRsa(record: KeyRecord): KeyState {
  const der = Buffer.from(record.publicKey, 'base64')
  if (isPrivate(der)) return brokenRsa(keyProblem('private'))
  const octets = integersOf(der)
  if (octets && octets.exponent > MOST_EXPONENT_OCTETS) return brokenRsa(keyProblem('large_exponent'))
  if (octets && octets.modulus > MOST_MODULUS_OCTETS) return brokenRsa(keyProblem('modulus', { count: octets.modulus }))
  const plain = plainRsaBits(der)
  if (plain !== undefined) return { state: 'usable', type: 'rsa', bits: plain, testing: isTesting(record) }
  const key = rsaKey(der)
  const { modulusLength: bits, publicExponent } = key?.asymmetricKeyDetails ?? {}
  if (key?.asymmetricKeyType !== 'rsa' || bits === undefined) return brokenRsa(notRsa(der))
  if (bits < LEAST_RSA_BITS) return { state: 'broken', type: 'rsa', bits, problem: keyProblem('short', { bits }) }
  if (publicExponent !== undefined && publicExponent > MOST_EXPONENT)
    return { ...brokenRsa(keyProblem('large_exponent')), bits }
  if (publicExponent !== undefined && publicExponent < 3n)
    return {
      state: 'broken',
      type: 'rsa',
      bits,
      problem: keyProblem('small_exponent', { text: String(publicExponent) }),
    }
  return { state: 'usable', type: 'rsa', bits, testing: isTesting(record) }
}

/**
 * The octets before and after the modulus of nearly every key: a SubjectPublicKeyInfo (RFC 8017 §A.1, DER) whose
 * modulus has all its bits, with the exponent 65537.
 */
const PLAIN_RSA = [
  { bits: 1_024, head: '30819f300d06092a864886f70d010101050003818d0030818902818100' },
  { bits: 2_048, head: '30820122300d06092a864886f70d01010105000382010f003082010a0282010100' },
  { bits: 4_096, head: '30820222300d06092a864886f70d01010105000382020f003082020a0282020100' },
].map(({ bits, head }) => ({ bits, head: Buffer.from(head, 'hex') }))
const PLAIN_RSA_END = Buffer.from('0203010001', 'hex')

/** The size of a key in that usual form, which needs no library; undefined for any other form. */
function plainRsaBits(der: Buffer): number | undefined {
  return PLAIN_RSA.find(({ bits, head }) => {
    const end = head.length + bits / 8
    if (der.length !== end + PLAIN_RSA_END.length || der[head.length]! < 0x80) return false
    return head.compare(der, 0, head.length) === 0 && PLAIN_RSA_END.compare(der, end) === 0
  })?.bits
}

/** RFC 6376 §3.6.1 specifies RSAPublicKey (PKCS #1), but everybody reads SubjectPublicKeyInfo: both are in use. */
function rsaKey(der: Buffer): KeyObject | undefined {
  for (const type of ['spki', 'pkcs1'] as const) {
    try {
      return createPublicKey({ key: der, format: 'der', type })
    } catch {
      // the other form
    }
  }
  return undefined
}

/** A private key in place of the public one, which a reader of public keys would accept as well. */
function isPrivate(der: Buffer): boolean {
  // SEQUENCE, then INTEGER 0: the version of PKCS #1 and #8 private keys (RFC 8017 §A.1.2, RFC 5958 §2); a public key
  // has none.
  if (der[0] !== 0x30 || der.subarray(0, 8).indexOf(Buffer.from([2, 1, 0])) < 2) return false
  for (const type of ['pkcs1', 'pkcs8'] as const) {
    try {
      return createPrivateKey({ key: der, format: 'der', type }).type === 'private'
    } catch {
      // the other form
    }
  }
  return false
}

/**
 * Why bytes are not an RSA public key, as far as visible: truncated (a record of more than 255 characters that lost its
 * end), or of another kind.
 */
function notRsa(der: Buffer): Problem {
  if (der.length === 32) return keyProblem('ed25519_as_rsa')
  const size = derSize(der)
  if (size !== undefined && size > der.length) return keyProblem('truncated', { count: der.length, expected: size })
  return keyProblem('not_rsa')
}

/** The total length of a DER SEQUENCE according to its header (X.690 §8.1.3), at most 64 KiB. */
function derSize(der: Buffer): number | undefined {
  const head = headerAt(der, 0)
  return head?.tag === 0x30 ? head.end : undefined
}

/**
 * The lengths of the two INTEGERs of an RSA public key, bare or wrapped (RFC 8017 §A.1.1, X.509), without parsing them;
 * undefined if the bytes are not one.
 */
function integersOf(der: Buffer): { readonly modulus: number; readonly exponent: number } | undefined {
  const outer = headerAt(der, 0)
  if (outer?.tag !== 0x30) return undefined
  const first = headerAt(der, outer.start)
  if (first?.tag === 0x30) {
    const bits = headerAt(der, first.end)
    return bits?.tag === 0x03 ? integersOf(der.subarray(bits.start + 1)) : undefined
  }
  const second = first?.tag === 0x02 ? headerAt(der, first.end) : undefined
  if (first === undefined || second?.tag !== 0x02) return undefined
  return { modulus: first.end - first.start, exponent: second.end - second.start }
}

/**
 * The tag of a DER value and the begin and end of its contents (X.690 §8.1.2, §8.1.3); undefined beyond the end and
 * over 64 KiB.
 */
function headerAt(
  der: Buffer,
  at: number,
): { readonly tag: number; readonly start: number; readonly end: number } | undefined {
  const tag = der[at]
  const length = der[at + 1]
  if (tag === undefined || length === undefined) return undefined
  if (length < 0x80) return { tag, start: at + 2, end: at + 2 + length }
  if (length === 0x81 && der.length > at + 2) return { tag, start: at + 3, end: at + 3 + der[at + 2]! }
  if (length === 0x82 && der.length > at + 3) return { tag, start: at + 4, end: at + 4 + der.readUInt16BE(at + 2) }
  return undefined
}
