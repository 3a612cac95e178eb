import { createHash, type KeyObject, verify } from 'node:crypto'
import type { Problem } from '../base/problem.ts'
import type { Ctx } from '../world.ts'
import { type Canonicalization, type HashedBody, hashBody, signedText } from './canonical.ts'
import { type Key, type LookupKey, lookingUpKeys } from './keys.ts'
import { type Field, MAX_FIELDS, type Mail, parseMail } from './parse.ts'
import { signatureProblem } from './problems.ts'
import { identityDomain, parseSignature, type Signature } from './signature.ts'
import { parseTagList, withoutSignature } from './tag-list.ts'

/** The result of a signature by RFC 8601 §2.7.1. */
export type SignatureResult = 'pass' | 'fail' | 'policy' | 'permerror' | 'temperror' | 'neutral'

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
 * Verifies the DKIM signatures of a message, at most {@link MAX_SIGNATURES}, from top to bottom (RFC 6376 §6.1, RFC 8301, RFC 8463). `at`: the time at which
 * expiry is judged, ms since the epoch. A key without an answer is `temperror`; never rejects because of the DNS or of the message. `takesReports`: keys for TLS
 * reports alone (RFC 8460 §3) are keys too.
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

/** Whether the signature over the header fields holds with this key (RFC 6376 §3.7); the claimed hash of the body is part of it. */
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
