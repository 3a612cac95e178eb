import { isPopular } from '../../names/popular.ts'
import { commonDomains, freeDomains } from './disposable.ts'

/**
 * Whether anyone can get a mailbox at this domain: by the shipped list of providers, and the country domains of the
 * large brands. `domain` in lower case, as A-labels.
 */
export const isFree = (domain: string): boolean => freeDomains().has(domain) || isPopular(domain)

/** Whether a domain belongs to a well-known provider: it is neither a typing error nor disposable. */
export const isKnownProvider = (domain: string): boolean => commonDomains().has(domain) || isPopular(domain)
