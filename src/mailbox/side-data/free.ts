import { publicSuffix, registrableDomain } from '../../names/suffix.ts'
import { commonDomains, freeDomains } from './disposable.ts'
import { BRAND_FAMILIES, POPULAR_DOMAINS } from './popular.ts'

const POPULAR = new Set(POPULAR_DOMAINS)

/**
 * Whether anyone can get a mailbox at this domain: by the shipped list of providers, and the country domains of the
 * large brands. `domain` in lower case, as A-labels.
 */
export const isFree = (domain: string): boolean =>
  freeDomains().has(domain) || POPULAR.has(domain) || isBrandDomain(domain)

/** Whether a domain belongs to a well-known provider: it is neither a typing error nor disposable. */
export const isKnownProvider = (domain: string): boolean =>
  POPULAR.has(domain) || commonDomains().has(domain) || isBrandDomain(domain)

function isBrandDomain(domain: string): boolean {
  const [brand = '', ...rest] = domain.split('.')
  return BRAND_FAMILIES.includes(brand) &&
    registrableDomain(domain) === domain &&
    publicSuffix(domain) === rest.join('.')
    ? isCountrySuffix(rest)
    : false
}

/** `fr`, `co.uk`, `com.br`, `com`: suffixes that brands use, not `shop` or `xyz`. */
const isCountrySuffix = (labels: readonly string[]): boolean =>
  labels.join('.') === 'com' || (labels.at(-1)!.length === 2 && labels.every((label) => label.length <= 3))
