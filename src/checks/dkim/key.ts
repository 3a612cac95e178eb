import { createPublicKey, type KeyObject } from 'node:crypto'
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
  if (bytes.length !== 32)
    return { ...broken(`an Ed25519 key has 32 bytes, and this one ${bytes.length}`), type: 'ed25519' } as KeyState
  return { state: 'usable', type: 'ed25519', bits: 256, testing: isTesting(record) }
}

function readRsa(record: KeyRecord): KeyState {
  const key = rsaKey(Buffer.from(record.publicKey, 'base64'))
  const bits = key?.asymmetricKeyDetails?.modulusLength
  if (key?.asymmetricKeyType !== 'rsa' || bits === undefined)
    return { ...broken('the key is not an RSA public key'), type: 'rsa' } as KeyState
  if (bits < LEAST_RSA_BITS)
    return { state: 'broken', type: 'rsa', bits, problem: `an RSA key of ${bits} bits is too short to be trusted` }
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
