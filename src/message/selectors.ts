import { LRUCache } from 'lru-cache'

/** Selectors whose signatures verified, by domain: the check of that domain asks for their keys first. */
export type VerifiedSelectors = {
  readonly remember: (domain: string, selector: string) => void
  /** Newest first; at most {@link MAX_SELECTORS}. */
  readonly of: (domain: string) => readonly string[]
}

const MAX_DOMAINS = 10_000
/** Maximum number of selectors of a domain. */
const MAX_SELECTORS = 5

/** Creates the memory of a process. */
export function verifiedSelectors(): VerifiedSelectors {
  const known = new LRUCache<string, readonly string[]>({ max: MAX_DOMAINS })
  const of = (domain: string): readonly string[] => known.get(domain) ?? []
  return {
    of,
    remember: (domain, selector) =>
      void known.set(domain, [selector, ...of(domain).filter((one) => one !== selector)].slice(0, MAX_SELECTORS)),
  }
}
