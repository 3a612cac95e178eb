import { bytesOf, familyOf, type Ip } from '../../names/ip.ts'
import type { MacroPart, MacroString } from './terms.ts'

/**
 * The values of the macro letters (RFC 7208 §7.2). Undefined values are not known, and terms that use them cannot be
 * expanded.
 */
export type MacroValues = {
  readonly ip?: Ip
  /** Local part and domain of the sender; `postmaster` if there was no local part (§4.3). */
  readonly local?: string
  readonly senderDomain?: string
  readonly domain: string
  readonly helo?: string
  /** The validated domain name of the address (§5.5), or `unknown`. */
  readonly validated?: string
  readonly receiver?: string
  readonly unixSeconds?: number
}

const MAX_EXPLANATION = 2_000
/** Maximum number of characters kept of an expanded name, from the right. */
const MAX_NAME_TAIL = 1_024

export const usesLetter = (text: MacroString, letters: string): boolean =>
  text.some((part) => part.kind === 'macro' && letters.includes(part.letter))

/**
 * Expands a domain-spec to a name without its final dot (RFC 7208 §7.3); undefined if a value is not known or cannot
 * occur in a name. A result over 253 characters loses labels from the left.
 */
export function expandName(text: MacroString, values: MacroValues): string | undefined {
  let name = ''
  for (let i = text.length - 1; i >= 0 && name.length < MAX_NAME_TAIL; i--) {
    const part = expandPart(text[i]!, values)
    if (part === undefined) return undefined
    name = part + name
  }
  // RFC 8616 §4: terms that would put a non-ASCII local part into a name match nothing.
  if (/[^\x00-\x7f]/.test(name)) return undefined
  if (name.endsWith('.')) name = name.slice(0, -1)
  return shortened(name)
}

/** Expands an explanation string (RFC 7208 §6.2), cut at 2,000 characters. An unknown value becomes `unknown`. */
export function expandText(text: MacroString, values: MacroValues): string {
  let result = ''
  for (const part of text) {
    result += expandPart(part, values) ?? 'unknown'
    if (result.length > MAX_EXPLANATION) return result.slice(0, MAX_EXPLANATION)
  }
  return result
}

/** RFC 7208 §7.3: "truncated to fit, by removing successive domain labels (and their following dots) from the left". */
function shortened(name: string): string {
  let rest = name
  while (rest.length > 253) {
    const dot = rest.indexOf('.')
    if (dot < 0) return rest
    rest = rest.slice(dot + 1)
  }
  return rest
}

function expandPart(part: MacroPart, values: MacroValues): string | undefined {
  if (part.kind === 'literal') return part.text
  if (part.kind === 'escape') return part.char === '%' ? '%' : part.char === '_' ? ' ' : '%20'
  const value = letterValue(part.letter, values)
  if (value === undefined) return undefined
  const transformed = transform(value, part)
  return part.urlEscape ? urlEscaped(transformed) : transformed
}

function letterValue(letter: string, values: MacroValues): string | undefined {
  const { ip, local, senderDomain } = values
  switch (letter) {
    case 's':
      return local === undefined || senderDomain === undefined ? undefined : `${local}@${senderDomain}`
    case 'l':
      return local
    case 'o':
      return senderDomain
    case 'd':
      return values.domain
    case 'i':
      return ip === undefined ? undefined : familyOf(ip) === 4 ? ip : nibbles(ip)
    case 'p':
      return values.validated
    case 'v':
      return ip === undefined ? undefined : familyOf(ip) === 4 ? 'in-addr' : 'ip6'
    case 'h':
      return values.helo
    case 'c':
      return ip
    case 'r':
      return values.receiver ?? 'unknown'
    case 't':
      return values.unixSeconds === undefined ? undefined : String(values.unixSeconds)
    default:
      return undefined
  }
}

/**
 * Dot-separated nibbles (RFC 7208 §7.3), in upper case as in the published suite; the DNS does not distinguish them.
 */
const nibbles = (ip: Ip): string => [...Buffer.from(bytesOf(ip)).toString('hex').toUpperCase()].join('.')

function transform(value: string, part: Extract<MacroPart, { kind: 'macro' }>): string {
  if (part.digits === undefined && !part.reverse && part.delimiters === '') return value
  const delimiters = part.delimiters === '' ? '.' : part.delimiters
  const pieces: string[] = ['']
  for (const char of value) {
    if (delimiters.includes(char)) pieces.push('')
    else pieces[pieces.length - 1] += char
  }
  if (part.reverse) pieces.reverse()
  return (part.digits === undefined ? pieces : pieces.slice(-part.digits)).join('.')
}

/** Escapes everything except the unreserved set, octet by octet in UTF-8 (RFC 7208 §7.3, RFC 3986 §2.3). */
const urlEscaped = (value: string): string =>
  [...Buffer.from(value, 'utf8')]
    .map((byte) => {
      const char = String.fromCharCode(byte)
      return /[A-Za-z0-9\-._~]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
