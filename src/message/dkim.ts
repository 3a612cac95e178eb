import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Problem } from '../base/problem.ts'
import { parseKeyRecord, readKey, resemblesKey } from '../checks/dkim/index.ts'
import { DnsError, settled } from '../net/dns/resolver.ts'
import type { Ctx } from '../world.ts'
import { type Canonicalization, type HashedBody, hashBody, signedText } from './canonical.ts'
import { type Field, MAX_FIELDS, type Mail, parseMail } from './parse.ts'
import { signatureProblem } from './problems.ts'
import { identityDomain, parseSignature, parseTagList, type Signature, withoutSignature } from './signature.ts'

/** The result of a signature by RFC 8601 §2.7.1. */
type SignatureResult = 'pass' | 'fail' | 'policy' | 'permerror' | 'temperror' | 'neutral'

/** One signature of a message, verified. */
export type VerifiedSignature = {
  /** What it says; the fields of a signature that cannot be read are known as far as possible. */
  readonly domain: string
  readonly selector: string
  readonly algorithm: string
  readonly result: SignatureResult
  /** Why it does not pass. */
  readonly because?: Problem
  /** What it says, if it can be read. */
  readonly signature?: Signature
  readonly key?: Extract<Key, { ok: true }>
  /** Which of its two parts hold; absent if they were not compared. */
  readonly holds?: { readonly header: boolean; readonly body: boolean }
  /** The length of the canonical body, if it was hashed. */
  readonly bodyLength?: number
}

/** Maximum number of signatures that are verified, from the top. */
export const MAX_SIGNATURES = 10

/** Hashes the body of a message once for each canonicalization and length. */
export type HashMail = (how: Canonicalization, limit?: number) => HashedBody

export function hashing(mail: Mail): HashMail {
  const hashes = new Map<string, HashedBody>()
  return (how, limit) => {
    const name = `${how} ${limit ?? ''}`
    const known = hashes.get(name) ?? hashBody(mail.body, how, limit)
    hashes.set(name, known)
    return known
  }
}

/**
 * Verifies the DKIM signatures of a message, at most {@link MAX_SIGNATURES}, from top to bottom (RFC 6376 §6.1, RFC
 * 8301, RFC 8463). `at`: the time at which expiry is judged, ms since the epoch. A key without an answer is
 * `temperror`; never rejects because of the DNS or of the message. `takesReports`: keys for TLS reports alone (RFC 8460
 * §3) are keys too.
 */
export async function verifySignatures(
  raw: Buffer,
  ctx: Pick<Ctx, 'resolve' | 'signal'>,
  at: number,
  takesReports = false,
): Promise<readonly VerifiedSignature[]> {
  const mail = parseMail(raw)
  return verifyMail(mail, lookingUpKeys(ctx, takesReports), hashing(mail), at)
}

/** The same for a message that is already parsed. */
export function verifyMail(
  mail: Mail,
  lookupKey: LookupKey,
  hash: HashMail,
  at: number,
): Promise<readonly VerifiedSignature[]> {
  const fields = mail.fields.filter(({ name }) => name === 'dkim-signature').slice(0, MAX_SIGNATURES)
  return Promise.all(fields.map((field) => verifyField(mail, field, lookupKey, hash, at)))
}

async function verifyField(
  mail: Mail,
  field: Field,
  lookupKey: LookupKey,
  hash: HashMail,
  at: number,
): Promise<VerifiedSignature> {
  const reading = parseSignature(field, 'dkim')
  if (!reading.ok) return { ...namesOf(field), result: 'permerror', because: reading.problem }
  const signature = reading.value
  const { domain, selector, algorithm } = signature
  const base = { domain, selector, algorithm, signature }
  if (mail.cut) return { ...base, result: 'neutral', because: signatureProblem('too_many_fields', { max: MAX_FIELDS }) }
  const refused = refusedAlgorithm(algorithm)
  if (refused) return { ...base, ...refused }
  const key = await lookupKey(domain, selector)
  if (!key.ok) return { ...base, result: key.result, because: key.because }
  return { ...base, key, ...judge(mail, signature, key, hash, at) }
}

/** What can be said of a signature that cannot be read. */
function namesOf(field: Field): Pick<VerifiedSignature, 'domain' | 'selector' | 'algorithm'> {
  const list = parseTagList(field.raw.slice(field.raw.indexOf(':') + 1))
  const tag = (name: string): string => (list.ok ? (list.value.get(name) ?? '') : '').toLowerCase().slice(0, 253)
  return { domain: tag('d'), selector: tag('s'), algorithm: tag('a') }
}

type Judged = Pick<VerifiedSignature, 'result' | 'because'>

function refusedAlgorithm(algorithm: string): Judged | undefined {
  if (algorithm === 'rsa-sha1') return { result: 'policy', because: signatureProblem('sha1') } // RFC 8301 §3.1
  if (algorithm === 'rsa-sha256' || algorithm === 'ed25519-sha256') return undefined
  return { result: 'permerror', because: signatureProblem('algorithm', { text: algorithm }) }
}

function judge(
  mail: Mail,
  signature: Signature,
  key: Extract<Key, { ok: true }>,
  hash: HashMail,
  at: number,
): Judged & Pick<VerifiedSignature, 'holds' | 'bodyLength'> {
  const name = keyName(signature)
  const { algorithm, domain, identity, limit, expiresAt } = signature
  if (!algorithm.startsWith(`${key.type}-`))
    return { result: 'permerror', because: signatureProblem('key_type', { name, type: key.type, algorithm }) }
  if (key.strict && identityDomain(identity) !== domain)
    return { result: 'permerror', because: signatureProblem('identity', { text: identity, domain }) }
  const body = hash(signature.body, limit)
  const holds = {
    header: headerHolds(mail.fields, signature, key.key),
    body: body.hash === signature.bodyHash,
  }
  const facts = { holds, bodyLength: body.length }
  if (limit !== undefined && limit > body.length)
    // RFC 6376 §3.5 l
    return {
      ...facts,
      result: 'fail',
      because: signatureProblem('body_short', { signed: limit, arrived: body.length }),
    }
  if (!holds.header || !holds.body) return { ...facts, result: 'fail', because: changed(holds) }
  if (expiresAt !== undefined && expiresAt * 1_000 < at)
    return { ...facts, result: 'policy', because: signatureProblem('expired', { at: isoSeconds(expiresAt) }) }
  return { ...facts, result: 'pass' }
}

const changed = ({ header, body }: { readonly header: boolean; readonly body: boolean }): Problem =>
  signatureProblem(header ? 'body_changed' : body ? 'header_changed' : 'both_changed')

export const keyName = ({ selector, domain }: Pick<Signature, 'selector' | 'domain'>): string =>
  `${selector}._domainkey.${domain}`

/** A time of a signature as RFC 3339, or the number if it is beyond the calendar. */
export const isoSeconds = (seconds: number): string => {
  const date = new Date(seconds * 1_000)
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString()
}

/**
 * Whether the signature over the header fields holds with this key (RFC 6376 §3.7); the claimed hash of the body is
 * part of it.
 */
export function headerHolds(fields: readonly Field[], signature: Signature, key: KeyObject): boolean {
  const { field, names, header } = signature
  const own: Field = { name: field.name, raw: withoutSignature(field.raw) }
  const others = fields.filter((one) => one !== field)
  return isSignedBy(signedText(others, names, own, header), signature.signature, key)
}

/** Whether octets (one a character) were signed with SHA-256 and this key; Ed25519 signs their hash (RFC 8463 §3). */
export function isSignedBy(text: string, signature: Buffer, key: KeyObject): boolean {
  const data = Buffer.from(text, 'latin1')
  try {
    return key.asymmetricKeyType === 'ed25519'
      ? verify(null, createHash('sha256').update(data).digest(), key, signature)
      : verify('sha256', data, key, signature)
  } catch {
    return false // a signature of an impossible length
  }
}

/** The key of a signature, or why there is none. */
export type Key =
  | {
      readonly ok: true
      readonly key: KeyObject
      readonly type: 'rsa' | 'ed25519'
      readonly bits: number
      /** `t=s`: the identity has to be in the signing domain itself (RFC 6376 §3.6.1). */
      readonly strict: boolean
      readonly testing: boolean
      /** It is for TLS reports alone (`s=tlsrpt`, RFC 8460 §3). */
      readonly onlyFor?: 'tlsrpt'
    }
  | { readonly ok: false; readonly result: 'permerror' | 'temperror' | 'policy'; readonly because: Problem }

/** Looks up the key of a signing domain and selector; never rejects because of the DNS. */
export type LookupKey = (domain: string, selector: string) => Promise<Key>

/** A {@link LookupKey} that asks for each key once. `takesReports`: keys for TLS reports alone are keys too. */
export function lookingUpKeys(ctx: Pick<Ctx, 'resolve' | 'signal'>, takesReports = false): LookupKey {
  const asked = new Map<string, Promise<Key>>()
  return (domain, selector) => {
    const name = `${selector}._domainkey.${domain}`.toLowerCase()
    const known = asked.get(name) ?? lookup(ctx, name, takesReports)
    asked.set(name, known)
    return known
  }
}

async function lookup(ctx: Pick<Ctx, 'resolve' | 'signal'>, name: string, takesReports: boolean): Promise<Key> {
  const answer = await settled(ctx.resolve(name, 'TXT', ctx.signal))
  if (answer instanceof DnsError) {
    const result = answer.reason === 'invalid_name' ? 'permerror' : 'temperror'
    return { ok: false, result, because: signatureProblem('no_answer', { name, why: answer.problem }) }
  }
  const keys = answer.records.filter((text) => resemblesKey(text)).map((text) => readRecord(name, text, takesReports))
  // Of several records, one that can be used (RFC 6376 §3.6.2.2 leaves the choice open).
  const best = keys.find((key) => key.ok && !key.onlyFor) ?? keys.find((key) => key.ok) ?? keys[0]
  if (best) return best
  const first = answer.records[0]
  return first === undefined ? gone(name) : readRecord(name, first, takesReports)
}

const gone = (name: string): Key => ({
  ok: false,
  result: 'permerror',
  because: signatureProblem('key_gone', { name }),
})

function readRecord(name: string, text: string, takesReports: boolean): Key {
  const record = parseKeyRecord(text)
  if (!record.ok) return unusable(name, record.problem)
  const { services } = record.value
  const isOfReports =
    takesReports && services.includes('tlsrpt') && !['*', 'email'].some((one) => services.includes(one))
  const state = readKey(isOfReports ? { ...record.value, services: ['*'] } : record.value)
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
