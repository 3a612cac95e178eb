import { isPopular } from '../../names/popular.ts'
import { commonDomains, freeDomains } from './disposable.ts'

/**
 * Whether anyone can get a mailbox at this domain: by the shipped list of providers, and the country domains of the
 * large brands. Undefined if the list cannot be read. `domain` in lower case, as A-labels.
 */
export const isFree = (domain: string): boolean | undefined => isPopular(domain) || freeDomains()?.has(domain)

/** Whether a domain belongs to a well-known provider, as {@link isFree}: it is neither a typing error nor disposable. */
export const isKnownProvider = (domain: string): boolean | undefined =>
  isPopular(domain) || commonDomains()?.has(domain)
