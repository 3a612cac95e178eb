import { canonicalName } from '../names/domain.ts'
import { withoutComments } from './mime.ts'

/** One result that a host claims (RFC 8601 §2.2). */
export type Claim = {
  readonly method: string
  readonly result: string
  /** The domain that the result is about, empty if none is named. */
  readonly domain: string
  /** The envelope sender of SPF, or its domain, as written. */
  readonly mailFrom?: string
}

export type Claims = {
  /** The authserv-id; empty if the field has none, as those of Microsoft 365. */
  readonly host: string
  readonly claims: readonly Claim[]
}

const MAX_CLAIMS = 50
/** Maximum number of characters of a field that are read. */
const MAX_LENGTH = 10_000
/** The properties that name the domain of a method, best first. */
const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  spf: ['smtp.mailfrom', 'smtp.mfrom', 'smtp.mail', 'envelope-from', 'smtp.helo', 'smtp.ehlo'],
  dkim: ['header.d', 'header.i', 'header.from'],
  dmarc: ['header.from', 'policy.published-domain-policy'],
  arc: ['header.oldest-pass', 'smtp.remote-ip'],
}

/**
 * Reads the value of an Authentication-Results field (RFC 8601 §2.2); what cannot be read is left out. Never throws.
 */
export function parseAuthenticationResults(value: string): Claims {
  const items = splitList(withoutComments(value.slice(0, MAX_LENGTH)))
  const first = items[0]?.trim() ?? ''
  // Yahoo Japan writes `from=` behind its name.
  const hasHost = !/^[^\s=]*\s*=/.test(first)
  const host = hasHost ? unquoted(first.split(/\s+/)[0] ?? '') : ''
  const claims = items.slice(hasHost ? 1 : 0).flatMap((item) => claimOf(item) ?? [])
  return { host: canonicalName(host).slice(0, 255), claims: claims.slice(0, MAX_CLAIMS) }
}

function claimOf(item: string): Claim | undefined {
  const found =
    /^\s*(?<method>[A-Za-z0-9_-]{1,40})(?:\s*\/\s*\d+)?\s*=\s*(?<result>[A-Za-z0-9_-]{1,40})(?<rest>.*)$/s.exec(item)
  const { method = '', result = '', rest = '' } = found?.groups ?? {}
  if (method === '') return undefined
  const properties = new Map<string, string>()
  const pattern =
    /([A-Za-z0-9_-]{1,40}(?:\s*\.\s*[A-Za-z0-9_-]{1,40})?)\s*=\s*(?:"((?:[^"\\]|\\.){0,1000})"|([^\s;]{0,1000}))/gs
  for (const [, name = '', quoted, bare] of rest.matchAll(pattern))
    properties.set(name.replace(/\s/g, '').toLowerCase(), quoted ?? bare ?? '')
  const known = (PROPERTIES[method.toLowerCase()] ?? []).find((name) => properties.has(name))
  const value = known === undefined ? '' : properties.get(known)!
  const domain = canonicalName(value.slice(value.lastIndexOf('@') + 1).replace(/[<>]/g, '')).slice(0, 253)
  const mailFrom = ['smtp.mailfrom', 'smtp.mfrom', 'smtp.mail', 'envelope-from']
    .map((name) => properties.get(name))
    .find((value) => value !== undefined)
    ?.replace(/[<>]/g, '')
  return {
    method: method.toLowerCase(),
    result: result.toLowerCase(),
    domain,
    ...(method.toLowerCase() === 'spf' && mailFrom !== undefined && { mailFrom }),
  }
}

/** The items between semicolons that are not within a quoted string. */
function splitList(text: string): string[] {
  const items: string[] = []
  let from = 0
  let isQuoted = false
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') isQuoted = !isQuoted
    else if (text[i] === ';' && !isQuoted) {
      items.push(text.slice(from, i))
      from = i + 1
    }
  }
  items.push(text.slice(from))
  return items
}

const unquoted = (text: string): string => text.replace(/^"|"$/g, '')
