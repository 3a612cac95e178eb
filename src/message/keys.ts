import { constants, createPublicKey, type KeyObject, publicDecrypt, verify } from 'node:crypto'
import type { Problem } from '../base/problem.ts'
import { keyProblem, parseKeyRecord, readKey, resemblesKey } from '../checks/dkim/index.ts'
import { DnsError, settled } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import { signatureProblem } from './problems.ts'

/** Where the key of a signature is published (RFC 6376 §3.6.2.1). */
export const keyName = ({ selector, domain }: { readonly selector: string; readonly domain: string }): string =>
  `${selector}._domainkey.${domain}`.toLowerCase()

/** What the DNS says at the name of a key, as plain data. */
export type KeyAnswer =
  /** `alias`: where the CNAMEs at the name end. */
  | { readonly records: readonly string[]; readonly alias?: string }
  | { readonly result: 'permerror' | 'temperror'; readonly because: Problem }
export type KeyAnswers = ReadonlyMap<string, KeyAnswer>

/** Asks for keys by their names, all at the same time; never rejects because of the DNS. */
export async function lookupKeys(
  { resolve, signal }: Pick<Ctx, 'resolve' | 'signal'>,
  names: readonly string[],
): Promise<KeyAnswers> {
  const lookup = async (name: string): Promise<[string, KeyAnswer]> => {
    const answer = await settled(resolve(name, 'TXT', signal))
    if (!(answer instanceof DnsError)) {
      const alias = answer.cname.at(-1)
      return [name, { records: answer.records, ...(alias !== undefined && { alias }) }]
    }
    const result = answer.reason === 'invalid_name' ? 'permerror' : 'temperror'
    return [name, { result, because: signatureProblem('no_answer', { name, why: answer.problem }) }]
  }
  return new Map(await Promise.all([...new Set(names)].map(lookup)))
}

export type GoodKey = {
  readonly ok: true
  readonly key: KeyObject
  readonly type: 'rsa' | 'ed25519'
  readonly bits: number
  /** `t=s`: the identity has to be in the signing domain itself (RFC 6376 §3.6.1). */
  readonly strict: boolean
  readonly testing: boolean
  /** There are other keys at the name, of which receivers may take one. */
  readonly hasOthers?: true
  /** It is for TLS reports alone (`s=tlsrpt`, RFC 8460 §3). */
  readonly onlyFor?: 'tlsrpt'
}
/** A key, or why there is none. */
export type Key =
  | GoodKey
  | { readonly ok: false; readonly result: 'permerror' | 'temperror' | 'policy'; readonly because: Problem }

export type KeyAt = (name: string) => Key

/** The keys of these answers, each read once. `takesReports`: keys for TLS reports alone are keys too. */
export function keysOf(answers: KeyAnswers, takesReports = false): KeyAt {
  const read = new Map<string, Key>()
  return (name) => {
    const known = read.get(name) ?? keyOf(name, answers.get(name)!, takesReports)
    read.set(name, known)
    return known
  }
}

function keyOf(name: string, answer: KeyAnswer, takesReports: boolean): Key {
  if ('because' in answer) return { ok: false, ...answer }
  const keys = answer.records.filter((text) => resemblesKey(text)).map((text) => readRecord(name, text, takesReports))
  // Of several records, one that can be used (RFC 6376 §3.6.2.2 leaves the choice open).
  const best = keys.find((key) => key.ok && !key.onlyFor) ?? keys.find((key) => key.ok) ?? keys[0]
  if (best) return best.ok && keys.length > 1 ? { ...best, hasOthers: true } : best
  const first = answer.records[0]
  if (first !== undefined) return readRecord(name, first, takesReports)
  const because =
    answer.alias === undefined
      ? signatureProblem('key_gone', { name })
      : signatureProblem('key_dangling', { name, target: answer.alias })
  return { ok: false, result: 'permerror', because }
}

function readRecord(name: string, text: string, takesReports: boolean): Key {
  const record = parseKeyRecord(text)
  if (!record.ok) return unusable(name, record.problem)
  const state = readKey(record.value)
  const isOfReports = state.state === 'reports'
  if (isOfReports && !takesReports) return unusable(name, keyProblem('services', { services: record.value.services }))
  if (state.state === 'revoked')
    return { ok: false, result: 'permerror', because: signatureProblem('key_revoked', { name }) }
  if (state.state === 'broken') {
    const { bits } = state
    // RFC 8301 §3.2: verifiers must not consider signatures by keys of less than 1,024 bits as valid.
    if (bits !== undefined && bits < 1_024)
      return { ok: false, result: 'policy', because: signatureProblem('key_short', { name, bits }) }
    return unusable(name, state.problem)
  }
  const { flags, publicKey } = record.value
  const key = keyObject(state.type, Buffer.from(publicKey, 'base64'))
  const { type, bits, testing } = state
  return {
    ...{ ok: true, key, type, bits, strict: flags.includes('s'), testing },
    ...(isOfReports && { onlyFor: 'tlsrpt' as const }),
  }
}

const unusable = (name: string, why: Problem): Key => ({
  ok: false,
  result: 'permerror',
  because: signatureProblem('key_unusable', { name, why }),
})

/** A SubjectPublicKeyInfo of Ed25519 up to its key (RFC 8410 §4). */
const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

/** The key of octets that `readKey` accepted: an RSA key in either of its two forms, or the 32 octets of Ed25519. */
function keyObject(type: 'rsa' | 'ed25519', octets: Buffer): KeyObject {
  if (type === 'ed25519')
    return createPublicKey({ key: Buffer.concat([ED25519_HEAD, octets]), format: 'der', type: 'spki' })
  try {
    return createPublicKey({ key: octets, format: 'der', type: 'spki' })
  } catch {
    return createPublicKey({ key: octets, format: 'der', type: 'pkcs1' })
  }
}

export type Opened = {
  /** The key made the signature, whatever it is about; Ed25519 does not tell: true. */
  readonly isMade: boolean
  /** Whether the signature is over octets with this SHA-256. */
  readonly isOver: (digest: Buffer) => boolean
}

/** A DigestInfo of SHA-256 up to the digest (RFC 8017 §9.2). */
const SHA256_HEAD = Buffer.from('3031300d060960864801650304020105000420', 'hex')

/** Opens a signature. The work with an RSA key is done once, however many digests are tried. */
export function opened({ key, type }: GoodKey, signature: Buffer): Opened {
  if (type === 'ed25519')
    return {
      isMade: true,
      isOver: (digest) => signature.length === 64 && verify(null, digest, key, signature), // RFC 8463 §3
    }
  const info = infoIn(key, signature)
  return {
    isMade: info !== undefined,
    isOver: (digest) => info?.equals(Buffer.concat([SHA256_HEAD, digest])) ?? false,
  }
}

/** What an RSA key finds in a signature without its padding (RFC 8017 §8.2.2), undefined if it did not make it. */
function infoIn(key: KeyObject, signature: Buffer): Buffer | undefined {
  try {
    return publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature)
  } catch {
    return undefined
  }
}
