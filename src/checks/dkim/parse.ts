import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { unpasted } from '../../net/dns/pasted.ts'
import { providerOfAlias } from '../../providers/index.ts'
import { keyRecordProblem } from './problems.ts'

/** A DKIM key record (RFC 6376 §3.6.1): the tags that could be read, with the defaults of missing ones. */
export type KeyRecord = {
  /** `k`: the key type as written, lower case; default `rsa`. */
  readonly keyType: string
  /** `p`: base64 without white space; empty: the key is revoked. */
  readonly publicKey: string
  /** `h`: hash algorithms that may be used; empty: any. */
  readonly hashes: readonly string[]
  /** `s`: services that may use it; default `*`. */
  readonly services: readonly string[]
  /** `t`: `y` testing, `s` no sub-domains in `i=`; others are ignored. */
  readonly flags: readonly string[]
}

const MAX_TAGS = 50
/** Maximum number of characters of a record (a 16,384-bit key has 2,800 characters). */
const MAX_LENGTH = 16_384
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Reads the text of a TXT record as a DKIM key record (RFC 6376 §3.2 and §3.6.1). `at` is the start of the fault.
 * Refuses a text that is not a tag list, a `v` that is not first or not `DKIM1`, a repeated tag, a missing `p`, and a
 * `p` that is not base64. White space after the last ";" is accepted.
 */
export function parseKeyRecord(text: string): Parsed<KeyRecord> {
  if (text.length > MAX_LENGTH) return problem(keyRecordProblem('too_long', { max: MAX_LENGTH }))
  const slip = slipIn(text)
  if (slip) return problem(keyRecordProblem(slip))
  const tags = parseTags(text)
  if (!tags.ok) return tags
  const value = (tag: string): string | undefined => tags.value.get(tag)
  const version = value('v')
  if (version !== undefined && version !== 'DKIM1') return problem(keyRecordProblem('version', { text: version }))
  // RFC 6376 §3.6.1
  if (version !== undefined && tags.value.keys().next().value !== 'v') return problem(keyRecordProblem('version_first'))
  const key = value('p')?.replace(/[ \t\r\n]/g, '')
  if (key === undefined) return problem(keyRecordProblem('no_key'))
  if (!BASE64.test(key)) return problem(keyRecordProblem('base64'))
  return parsed({
    keyType: (value('k') ?? 'rsa').toLowerCase(),
    publicKey: key,
    hashes: listOf(value('h')),
    services: value('s') === undefined ? ['*'] : listOf(value('s')),
    flags: listOf(value('t')),
  })
}

/**
 * Whether a TXT record was meant to be a DKIM key: by its version, or by a `p` tag. A record of another version is
 * ignored (RFC 6376 §3.6.1 v): a DMARC record has a `p` too.
 */
export const resemblesKey = (text: string): boolean => {
  const head = text.slice(0, 2_000)
  if (slipIn(text) !== undefined || unpasted(head, KEY_VERSION) !== head) return true
  if (/^\s{0,20}"?v\s{0,20}=\s{0,20}DKIM/i.test(head)) return true
  return !/^\s{0,20}v\s{0,20}=/i.test(head) && /(?:^|;)\s{0,20}p\s{0,20}=/.test(head)
}

export const KEY_VERSION = /v\s{0,20}=\s{0,20}DKIM1/i

/** What was published at a selector in place of a key record: the bare base64 of a key, or the target of an alias. */
export function slipIn(text: string): 'bare_key' | 'alias' | undefined {
  const body = text.replace(/["\s]/g, '')
  if (/^MI[A-Za-z0-9+/]{100,}={0,2}$/.test(body.slice(0, MAX_LENGTH))) return 'bare_key'
  const isName = body.length <= 254 && /^(?:[a-z0-9_-]{1,63}\.){2,}[a-z]{2,63}\.?$/i.test(body)
  return isName && (/(?:^|\.)_?(?:domainkey|dkim)\./i.test(body) || providerOfAlias(body)) ? 'alias' : undefined
}

/** Only folding white space (RFC 6376 §2.8): a pasted no-break space is part of the value, as it is for verifiers. */
const trimmed = (text: string): string => text.replace(/^[ \t\r\n]+/, '').replace(/(?<![ \t\r\n])[ \t\r\n]+$/, '')

const listOf = (value: string | undefined): string[] =>
  (value ?? '')
    .split(':', 20)
    .map((item) => item.replace(/\s/g, '').toLowerCase())
    .filter((item) => item !== '')

/**
 * The tag list of RFC 6376 §3.2: `tag=value` separated by ";"; white space around both is ignored, names are
 * case-sensitive.
 */
function parseTags(text: string): Parsed<ReadonlyMap<string, string>> {
  const tags = new Map<string, string>()
  let at = 0
  const items = text.split(';', MAX_TAGS + 1)
  if (items.length > MAX_TAGS) return problem(keyRecordProblem('too_many', { max: MAX_TAGS }))
  for (const [i, item] of items.entries()) {
    const start = at + (item.length - item.replace(/^[ \t\r\n]+/, '').length)
    at += item.length + 1
    // Looser than RFC 6376 §3.2: a doubled ";" is common, and verifiers ignore it.
    if (trimmed(item) === '' && i > 0) continue
    const equals = item.indexOf('=')
    const name = equals < 0 ? '' : trimmed(item.slice(0, equals))
    if (!NAME.test(name)) return problem(keyRecordProblem('tag', { text: trimmed(item) }), start)
    if (tags.has(name)) return problem(keyRecordProblem('twice', { text: name }), start)
    tags.set(name, trimmed(item.slice(equals + 1)))
  }
  return parsed(tags)
}
