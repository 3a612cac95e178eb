import { type Parsed, parsed } from '../base/parsed.ts'
import { type Domain, parseDomain } from './domain.ts'

/**
 * Domains that a key or an option names: `example.org` is the domain and the names below it, `*.example.net` only the
 * names below.
 */
export type DomainPattern = string & { readonly __brand: 'DomainPattern' }

/** Reads one pattern. */
export function parseDomainPattern(text: string): Parsed<DomainPattern> {
  const isBelow = text.startsWith('*.')
  const domain = parseDomain(isBelow ? text.slice(2) : text)
  return domain.ok ? parsed(`${isBelow ? '*.' : ''}${domain.value}` as DomainPattern) : domain
}

/** Whether a pattern names the domain. */
export const isNamed = (pattern: string, domain: Domain): boolean =>
  pattern.startsWith('*.') ? domain.endsWith(pattern.slice(1)) : domain === pattern || domain.endsWith(`.${pattern}`)
