import { isIP } from 'node:net'
import { certain, type Parsed, parsed, problem } from '../base/problem.ts'
import { once } from '../base/share-work.ts'
import { isNetworkOrRange } from './ip.ts'
import { domainProblem } from './problems.ts'
import { loadTables } from './tables.ts'

/**
 * A host name of two labels or more as requested by a caller: lower-case A-labels, no final dot, at most 253 octets.
 * Only {@link parseDomain} creates it.
 */
export type Domain = string & { readonly __brand: 'Domain' }

const UNDERSCORED = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** Its tables are large: they are loaded with the first domain, and not for a question about an address. */
const uts46 = once(() => loadTables<typeof import('tr46')>('tr46'))
/**
 * A name that UTS 46 changes only in case: letters, digits and hyphens, and a letter at the start of the last label.
 */
const PLAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const isPlain = (name: string): boolean => name.length <= 253 && PLAIN.test(name) && !name.includes('xn--')
const IDNA = { useSTD3ASCIIRules: true, checkBidi: true, checkJoiners: true, checkHyphens: false } as const

/**
 * Reads a domain written in Unicode or A-labels, in any case, with at most one final dot (RFC 5890, UTS 46 strict,
 * RFC 1123 §2.1). IP addresses, ports, URLs, single labels and names with an all-numeric last label are refused. Throws
 * AppError if a name needs tables that this program has lost.
 */
export function parseDomain(text: string): Parsed<Domain> {
  const bare = text.endsWith('.') ? text.slice(0, -1) : text
  const lower = bare.toLowerCase()
  if (isPlain(lower)) return parsed(lower as Domain)
  if (bare === '') return problem(domainProblem('empty'))
  if (text.length > 1_000) return problem(domainProblem('too_long', { text }))
  if (isIP(bare.replace(/^\[|\]$/g, '')) !== 0) return problem(domainProblem('address', { text }))
  if (isNetworkOrRange(bare)) return problem(domainProblem('network', { text }))
  const ascii = uts46().toASCII(bare, IDNA)
  if (ascii === null || ascii === '') return problem(domainProblem('invalid', { text }))
  if (ascii.length > 253) return problem(domainProblem('too_long', { text }))
  const labels = ascii.split('.')
  const wrong = labels.find((label) => !LABEL.test(label))
  if (wrong === '') return problem(domainProblem('empty_label', { text }))
  if (wrong !== undefined) return problem(domainProblem('label', { text, label: wrong }))
  if (labels.length < 2) return problem(domainProblem('single_label', { text }))
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!)) return problem(domainProblem('number', { text }))
  return parsed(ascii as Domain)
}

/**
 * Reads the domain of a signature or of an author in a message. Unlike {@link parseDomain} it accepts underscores,
 * which DNS names may have and some senders use.
 */
export function parseMailDomain(text: string): Parsed<Domain> {
  const name = canonicalName(text)
  const labels = name.split('.')
  const isName = labels.length > 1 && name.length <= 253 && labels.every((label) => UNDERSCORED.test(label))
  return isName && name.includes('_') ? parsed(name as Domain) : parseDomain(text)
}

/** A parsed domain, for literals that are known to be valid. Throws for invalid text. */
export const domain = (text: string): Domain => certain(parseDomain(text))

/** The Unicode form of a domain (UTS 46), or the domain itself if there is none. */
export const unicodeOf = (name: string): string => {
  if (isPlain(name)) return name
  try {
    const result = uts46().toUnicode(name, IDNA)
    return result.error ? name : result.domain
  } catch {
    return name // without the tables; only how it is shown depends on them
  }
}

/** A name from the DNS in the form for comparison: lower case, no final dot (RFC 4343). */
export const canonicalName = (name: string): string =>
  (name.endsWith('.') && name !== '.' ? name.slice(0, -1) : name).toLowerCase()

/** Whether a name is a domain or below it; both in lower case, without a final dot. */
export const isWithin = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)

/**
 * The labels of a name in presentation format, left to right; a dot escaped by a backslash does not separate
 * (RFC 4343 §2.1).
 */
export function labelsOf(name: string): string[] {
  if (name === '' || name === '.') return []
  const bare = name.endsWith('.') ? name.slice(0, -1) : name
  return bare.includes('\\') ? bare.split(/(?<!\\)\./) : bare.split('.')
}

/**
 * Domains that a key or an option names: `example.org` is the domain and the names below it, `*.example.net` only the
 * names below.
 */
type DomainPattern = string & { readonly __brand: 'DomainPattern' }

export function parseDomainPattern(text: string): Parsed<DomainPattern> {
  const isBelow = text.startsWith('*.')
  const domain = parseDomain(isBelow ? text.slice(2) : text)
  return domain.ok ? parsed(`${isBelow ? '*.' : ''}${domain.value}` as DomainPattern) : domain
}

export const isNamed = (pattern: string, domain: Domain): boolean =>
  pattern.startsWith('*.') ? domain.endsWith(pattern.slice(1)) : domain === pattern || domain.endsWith(`.${pattern}`)
