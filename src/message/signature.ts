import { isIP } from 'node:net'
import { type Parsed, parsed, problem } from '../base/problem.ts'
import { canonicalName, isWithin } from '../names/domain.ts'
import type { Canonicalization } from './canonical.ts'
import type { Field } from './parse.ts'
import { signatureProblem } from './problems.ts'

/** What a DKIM-Signature or ARC-Message-Signature says (RFC 6376 §3.5). */
export type Signature = {
  readonly field: Field
  readonly tags: ReadonlyMap<string, string>
  readonly domain: string
  readonly selector: string
  readonly algorithm: string
  readonly header: Canonicalization
  readonly body: Canonicalization
  /** Names of the covered fields, lower case, in order. */
  readonly names: readonly string[]
  readonly bodyHash: string
  readonly signature: Buffer
  /** `i`: the identity, by default `@` and the domain. */
  readonly identity: string
  /** `l`: octets of the canonical body that are covered. */
  readonly limit?: number
  /** `t` and `x`, seconds since the epoch. */
  readonly signedAt?: number
  readonly expiresAt?: number
}

/** Maximum number of names of `h=`. */
const MAX_NAMES = 1_000
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const NUMBER = /^\d{1,12}$/
const LENGTH = /^\d{1,76}$/
const LABELS =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*$/

/** Tags that have to be there (RFC 6376 §3.5; RFC 8617 §4.1.2: no `v`, and `i` is the instance). */
const REQUIRED = { dkim: ['v', 'a', 'b', 'bh', 'd', 'h', 's'], arc: ['i', 'a', 'b', 'bh', 'd', 'h', 's'] } as const

/** Reads the field of a signature and checks what can be checked without its key (RFC 6376 §6.1.1). */
export function parseSignature(field: Field, kind: 'dkim' | 'arc'): Parsed<Signature> {
  const list = parseTagList(field.raw.slice(field.raw.indexOf(':') + 1))
  if (!list.ok) return list
  const tags = list.value
  const missing = REQUIRED[kind].find((tag) => !tags.has(tag))
  if (missing !== undefined) return problem(signatureProblem('tag_missing', { tag: missing }))
  const invalid = (tag: string): Parsed<never> =>
    problem(signatureProblem('tag_invalid', { tag, text: tags.get(tag)! }))
  const number = (tag: string): number | undefined => (tags.has(tag) ? Number(tags.get(tag)) : undefined)

  if (kind === 'dkim' && tags.get('v') !== '1') return invalid('v')
  const canonical = canonicalizationOf(tags.get('c') ?? 'simple/simple')
  if (!canonical) return invalid('c')
  for (const tag of ['t', 'x']) if (tags.has(tag) && !NUMBER.test(tags.get(tag)!)) return invalid(tag)
  if (tags.has('l') && !LENGTH.test(tags.get('l')!)) return invalid('l')
  for (const tag of ['d', 's']) if (!LABELS.test(tags.get(tag)!)) return invalid(tag)
  if (isIP(tags.get('d')!) !== 0 || !tags.get('d')!.includes('.')) return invalid('d')
  const domain = canonicalName(tags.get('d')!)

  const names = tags
    .get('h')!
    .split(':')
    .map((name) => withoutSpace(name).toLowerCase())
  if (names.length > MAX_NAMES) return invalid('h')
  if (kind === 'dkim' && !names.includes('from')) return problem(signatureProblem('from_unsigned'))
  const [hash, value] = [withoutSpace(tags.get('bh')!), withoutSpace(tags.get('b')!)]
  if (!BASE64.test(hash)) return invalid('bh')
  if (!BASE64.test(value)) return invalid('b')
  const identity = kind === 'dkim' ? withoutSpace(tags.get('i') ?? `@${domain}`) : `@${domain}`
  if (!isWithin(identityDomain(identity), domain))
    return problem(signatureProblem('identity', { text: identity, domain }))
  const [limit, signedAt, expiresAt] = [number('l'), number('t'), number('x')]
  if (signedAt !== undefined && expiresAt !== undefined && expiresAt <= signedAt)
    return problem(signatureProblem('expires_before_signing')) // RFC 6376 §3.5 x
  return parsed({
    field,
    tags,
    domain,
    selector: canonicalName(tags.get('s')!),
    algorithm: tags.get('a')!.toLowerCase(),
    ...canonical,
    names,
    bodyHash: hash,
    signature: Buffer.from(value, 'base64'),
    identity,
    ...(limit === undefined ? {} : { limit }),
    ...(signedAt === undefined ? {} : { signedAt }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  })
}

/** RFC 6376 §3.5 c: the algorithm of the body is `simple` if it is not named. */
function canonicalizationOf(text: string): { header: Canonicalization; body: Canonicalization } | undefined {
  const [header, body = 'simple', ...rest] = text.toLowerCase().split('/')
  const isKnown = (one: string | undefined): one is Canonicalization => one === 'simple' || one === 'relaxed'
  return isKnown(header) && isKnown(body) && rest.length === 0 ? { header, body } : undefined
}

/** The domain of an identity, what follows its last `@`. */
export const identityDomain = (identity: string): string => canonicalName(identity.slice(identity.lastIndexOf('@') + 1))

const MAX_TAGS = 100
/** Maximum number of characters of a signature; one of 1,000 signed names has 15,000. */
const MAX_LENGTH = 65_536
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/
const FWS = /(?:\r\n)?[ \t]+/g

/**
 * The tag list of a signature (RFC 6376 §3.2): names are case-sensitive, white space around names and values is left
 * out, and a name may occur once. Values keep their inner white space.
 */
export function parseTagList(text: string): Parsed<ReadonlyMap<string, string>> {
  if (text.length > MAX_LENGTH) return problem(signatureProblem('too_long', { max: MAX_LENGTH }))
  const items = text.split(';', MAX_TAGS + 2)
  if (items.length > MAX_TAGS + 1) return problem(signatureProblem('too_many_tags', { max: MAX_TAGS }))
  const tags = new Map<string, string>()
  for (const [i, item] of items.entries()) {
    const trimmed = item.trim()
    if (trimmed === '' && i === items.length - 1) continue // one final ";" (RFC 6376 §3.2)
    const equals = trimmed.indexOf('=')
    const name = equals < 0 ? '' : trimmed.slice(0, equals).trim()
    if (!NAME.test(name)) return problem(signatureProblem('not_a_tag', { text: trimmed }))
    if (tags.has(name)) return problem(signatureProblem('tag_twice', { tag: name }))
    tags.set(name, trimmed.slice(equals + 1).trim())
  }
  return parsed(tags)
}

/** A value without any white space (RFC 6376 §3.5: base64 and lists ignore it). */
export const withoutSpace = (value: string): string => value.replace(FWS, '').replace(/[ \t\r\n]/g, '')

/** A field with the value of its tag `b` removed, everything else as it is (RFC 6376 §3.7). */
export function withoutSignature(raw: string): string {
  const colon = raw.indexOf(':') + 1
  const items = raw.slice(colon).split(';')
  const emptied = items.map((item) =>
    /^[ \t\r\n]*b[ \t\r\n]*=/.test(item) ? item.slice(0, item.indexOf('=') + 1) : item,
  )
  return raw.slice(0, colon) + emptied.join(';')
}
