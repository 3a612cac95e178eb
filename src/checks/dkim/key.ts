import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { KeyRecord } from './parse.ts'

/** What can be done with a key record. `usable` ones verify mail; of the others `problem` says why they do not. */
export type KeyState =
  | { readonly state: 'usable'; readonly type: 'rsa' | 'ed25519'; readonly bits: number; readonly testing: boolean }
  | { readonly state: 'revoked' }
  | { readonly state: 'broken'; readonly problem: string; readonly type?: 'rsa' | 'ed25519'; readonly bits?: number }

/** Bits under which an RSA key must not be trusted (RFC 8301 §3.2). */
const LEAST_RSA_BITS = 1_024

/** Reads the key itself: its type and real size, and whether mail can be verified with it. */
export function readKey(record: KeyRecord): KeyState {
  if (record.publicKey === '') return { state: 'revoked' } // RFC 6376 §3.6.1 p
  if (record.hashes.length > 0 && !record.hashes.includes('sha256'))
    return broken(`it allows the hash ${record.hashes.join(', ')} alone, and only sha256 may be used`) // RFC 8301 §3.1
  if (!record.services.some((service) => service === '*' || service === 'email'))
    return broken(`it is for ${record.services.join(', ') || 'no service'} and not for mail`)
  if (record.keyType === 'ed25519') return readEd25519(record)
  if (record.keyType === 'rsa') return readRsa(record)
  return broken(`the key type ${JSON.stringify(record.keyType.slice(0, 40))} is not known`)
}

const isTesting = (record: KeyRecord): boolean => record.flags.includes('y')
const broken = (problem: string): KeyState => ({ state: 'broken', problem })

/** RFC 8463 §4: the 32 bytes of the key alone. */
function readEd25519(record: KeyRecord): KeyState {
  const bytes = Buffer.from(record.publicKey, 'base64')
  if (bytes.length === 32) return { state: 'usable', type: 'ed25519', bits: 256, testing: isTesting(record) }
  const wrapped =
    bytes.length === 44 ? '; it is wrapped as a SubjectPublicKeyInfo, of which the last 32 are the key' : ''
  return {
    ...broken(`an Ed25519 key has 32 bytes, and this one ${bytes.length}${wrapped}`),
    type: 'ed25519',
  } as KeyState
}

function readRsa(record: KeyRecord): KeyState {
  const der = Buffer.from(record.publicKey, 'base64')
  if (isPrivate(der))
    return { ...broken('it is the private key, which everybody can now read and sign with'), type: 'rsa' } as KeyState
  const key = rsaKey(der)
  const { modulusLength: bits, publicExponent } = key?.asymmetricKeyDetails ?? {}
  if (key?.asymmetricKeyType !== 'rsa' || bits === undefined) return { ...broken(notRsa(der)), type: 'rsa' } as KeyState
  if (bits < LEAST_RSA_BITS)
    return { state: 'broken', type: 'rsa', bits, problem: `an RSA key of ${bits} bits is too short to be trusted` }
  if (publicExponent !== undefined && publicExponent < 3n)
    return {
      state: 'broken',
      type: 'rsa',
      bits,
      problem: `its exponent ${publicExponent} makes signatures that anybody can forge`,
    }
  return { state: 'usable', type: 'rsa', bits, testing: isTesting(record) }
}

/** RFC 6376 §3.6.1 names RSAPublicKey (PKCS #1) and is read as SubjectPublicKeyInfo by everybody: both are in use. */
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

/** A private key in the place of the public one, which a reader of public keys would take as well. */
function isPrivate(der: Buffer): boolean {
  // SEQUENCE, then INTEGER 0: the version of PKCS #1 and #8 private keys (RFC 8017 §A.1.2, RFC 5958 §2); a public key has none.
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

/** Why bytes are no RSA public key, as far as it can be seen: cut off (a record of more than 255 characters that lost its end), or of another kind. */
function notRsa(der: Buffer): string {
  if (der.length === 32) return 'its 32 bytes are no RSA public key; an Ed25519 key needs k=ed25519'
  const size = derSize(der)
  if (size !== undefined && size > der.length)
    return `the key is cut off: it says that it has ${size} bytes, and ${der.length} are there`
  return 'the key is not an RSA public key'
}

/** The bytes that a DER SEQUENCE says it has in all (X.690 §8.1.3), at most 64 KiB. */
function derSize(der: Buffer): number | undefined {
  const length = der[1]
  if (der[0] !== 0x30 || length === undefined) return undefined
  if (length < 0x80) return 2 + length
  if (length === 0x81 && der.length > 2) return 3 + der[2]!
  return length === 0x82 && der.length > 3 ? 4 + der.readUInt16BE(2) : undefined
}
