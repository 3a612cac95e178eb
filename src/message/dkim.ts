import type { Problem } from '../base/problem.ts'
import { type Canonicalization, digestOf, type HashedBody, hashBody, signedFields } from './canonical.ts'
import { type GoodKey, type KeyAt, keyName, type Opened, opened } from './keys.ts'
import { type Field, MAX_FIELDS, type Mail, type Sections } from './parse.ts'
import { signatureProblem } from './problems.ts'
import { identityDomain, parseSignature, parseTagList, type Signature, withoutSignature } from './signature.ts'

/** The result of a signature by RFC 8601 §2.7.1; `unknown`: the body is not here. */
type SignatureResult = 'pass' | 'fail' | 'policy' | 'permerror' | 'temperror' | 'neutral' | 'unknown'

/** One signature of a message, verified: plain data. */
export type VerifiedSignature = {
  /** What it says; the fields of a signature that cannot be read are known as far as possible. */
  readonly domain: string
  readonly selector: string
  readonly algorithm: string
  readonly result: SignatureResult
  /** Why it does not pass. */
  readonly because?: Problem
  /** What it says, if it can be read. */
  readonly signature?: Pick<Signature, 'names' | 'header' | 'body' | 'limit' | 'signedAt' | 'expiresAt'>
  readonly key?: Omit<GoodKey, 'ok' | 'key'>
  /** The length of the canonical body, if it was hashed. */
  readonly bodyLength?: number
}

/** The same with what causes are found by. */
export type Verifying = Omit<VerifiedSignature, 'signature' | 'key'> & {
  readonly signature?: Signature
  readonly key?: GoodKey
  /** Which of its two parts hold; absent if they were not compared. */
  readonly compared?: { readonly header: boolean; readonly body: boolean; readonly opened: Opened }
}

/** Maximum number of signatures that are verified, from the top. */
export const MAX_SIGNATURES = 10
/** Octets that are hashed for all signatures of a message, as a multiple of its own. */
const MAX_HASHED = 4

/** Hashes what is signed in a message, within what is left to be hashed; undefined: it is more. */
export type HashSigned = {
  /** Each canonicalization and length is hashed once. */
  readonly body: (how: Canonicalization, limit?: number) => HashedBody | undefined
  readonly fields: (fields: readonly Field[], how: Canonicalization) => Buffer | undefined
}

export function hashing({ head, body }: Sections): HashSigned {
  let left = MAX_HASHED * (head.length + body.length) + 65_536 // a small message may have large signatures
  const bodies = new Map<string, HashedBody>()
  return {
    body: (how, limit) => {
      const name = `${how} ${limit ?? ''}`
      const known = bodies.get(name)
      if (known) return known
      left -= body.length
      if (left < 0) return undefined
      const hashed = hashBody(body, how, limit)
      bodies.set(name, hashed)
      return hashed
    },
    fields: (fields, how) => {
      left -= fields.reduce((sum, { raw }) => sum + raw.length, 0)
      return left < 0 ? undefined : digestOf(fields, how)
    },
  }
}

/** The signature fields of a message that are verified, from top to bottom. */
const signatureFields = ({ fields }: Pick<Mail, 'fields'>): readonly Field[] =>
  fields.filter(({ name }) => name === 'dkim-signature').slice(0, MAX_SIGNATURES)

/** What they say; undefined for one that cannot be read. */
export const signaturesOf = (mail: Mail): readonly (Signature | undefined)[] =>
  signatureFields(mail).map((field) => {
    const reading = parseSignature(field, 'dkim')
    return reading.ok ? reading.value : undefined
  })

/** The signing domains, and the names of the keys that {@link verifyMail} needs. */
export function signersOf(mail: Mail): { readonly domains: readonly string[]; readonly keys: readonly string[] } {
  const signers = signatureFields(mail).map((field) => {
    const reading = parseSignature(field, 'dkim')
    if (!reading.ok) return { ...namesOf(field), isRefused: true }
    return { ...reading.value, isRefused: refusedAlgorithm(reading.value.algorithm) !== undefined }
  })
  return {
    domains: signers.map(({ domain }) => domain),
    keys: mail.cut ? [] : signers.filter(({ isRefused }) => !isRefused).map(keyName),
  }
}

/**
 * Verifies the DKIM signatures of a message, at most {@link MAX_SIGNATURES}, from top to bottom (RFC 6376 §6.1, RFC
 * 8301, RFC 8463). `at`: the time at which expiry is judged, ms since the epoch. A key without an answer is
 * `temperror`.
 */
export const verifyMail = (mail: Mail, keyAt: KeyAt, hash: HashSigned, at: number): readonly Verifying[] =>
  signatureFields(mail).map((field) => verifyField(mail, field, keyAt, hash, at))

function verifyField(mail: Mail, field: Field, keyAt: KeyAt, hash: HashSigned, at: number): Verifying {
  const reading = parseSignature(field, 'dkim')
  if (!reading.ok) return { ...namesOf(field), result: 'permerror', because: reading.problem }
  const signature = reading.value
  const { domain, selector, algorithm } = signature
  const base = { domain, selector, algorithm, signature }
  if (mail.cut) return { ...base, result: 'neutral', because: signatureProblem('too_many_fields', { max: MAX_FIELDS }) }
  const refused = refusedAlgorithm(algorithm)
  if (refused) return { ...base, ...refused }
  const key = keyAt(keyName(signature))
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
  key: GoodKey,
  hash: HashSigned,
  at: number,
): Judged & Pick<Verifying, 'compared' | 'bodyLength'> {
  const name = keyName(signature)
  const { algorithm, domain, identity, limit } = signature
  if (!algorithm.startsWith(`${key.type}-`))
    return { result: 'permerror', because: signatureProblem('key_type', { name, type: key.type, algorithm }) }
  if (key.strict && identityDomain(identity) !== domain)
    return { result: 'permerror', because: signatureProblem('strict_identity', { name, text: identity }) }
  const body = hash.body(signature.body, limit)
  const header = hash.fields(fieldsOf(mail.fields, signature), signature.header)
  if (!body || !header) return { result: 'neutral', because: signatureProblem('too_much_signed', { max: MAX_HASHED }) }
  const open = opened(key, signature.signature)
  const compared = { header: open.isOver(header), body: body.hash === signature.bodyHash, opened: open }
  const facts = { compared, bodyLength: body.length }
  if (limit !== undefined && limit > body.length)
    // RFC 6376 §3.5 l
    return {
      ...facts,
      result: 'fail',
      because: signatureProblem('body_short', { signed: limit, arrived: body.length }),
    }
  if (!compared.header || !compared.body) return { ...facts, result: 'fail', because: changed(compared) }
  const expired = expiredBy(signature, at)
  return expired ? { ...facts, result: 'policy', because: expired } : { ...facts, result: 'pass' }
}

/** That a signature has expired at a time, ms since the epoch (RFC 6376 §3.5 x). */
export const expiredBy = ({ expiresAt }: Pick<Signature, 'expiresAt'>, at: number): Problem | undefined =>
  expiresAt !== undefined && expiresAt * 1_000 < at
    ? signatureProblem('expired', { at: isoSeconds(expiresAt) })
    : undefined

/**
 * What a signature proves of a header whose body is not here: nothing, unless a header that is as it was fails already.
 * Keys that are missing or refused stay so.
 */
export function withoutBody(one: Verifying, intact: boolean): Verifying {
  if (!one.compared) return one
  const { bodyLength: _, ...rest } = one
  return !one.compared.header && intact
    ? { ...rest, result: 'fail', because: signatureProblem('header_changed') }
    : { ...rest, result: 'unknown', because: signatureProblem('body_missing') }
}

const changed = ({ header, body }: { readonly header: boolean; readonly body: boolean }): Problem =>
  signatureProblem(header ? 'body_changed' : body ? 'header_changed' : 'both_changed')

/** A time of a signature as RFC 3339, or the number if it is beyond the calendar. */
export const isoSeconds = (seconds: number): string => {
  const date = new Date(seconds * 1_000)
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString()
}

/** The fields that a signature is over, its own without its value last (RFC 6376 §3.7). */
export function fieldsOf(fields: readonly Field[], { field, names }: Signature): readonly Field[] {
  const own: Field = { name: field.name, raw: withoutSignature(field.raw) }
  return signedFields(
    fields.filter((one) => one !== field),
    names,
    own,
  )
}

export const plainOf = ({ signature, key, compared: _, ...rest }: Verifying): VerifiedSignature => ({
  ...rest,
  ...(signature && { signature: saidBy(signature) }),
  ...(key && { key: describedKey(key) }),
})

const saidBy = ({
  names,
  header,
  body,
  limit,
  signedAt,
  expiresAt,
}: Signature): VerifiedSignature['signature'] & object => ({
  ...{ names, header, body },
  ...(limit !== undefined && { limit }),
  ...(signedAt !== undefined && { signedAt }),
  ...(expiresAt !== undefined && { expiresAt }),
})

const describedKey = ({ ok: _, key: __, ...rest }: GoodKey): VerifiedSignature['key'] & object => rest
