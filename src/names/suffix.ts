import { LRUCache } from 'lru-cache'
import { parse } from 'tldts'
import { labelsOf } from './domain.ts'

/**
 * The registrable domain of a name by the public suffix list (its ICANN part and its private part), or undefined for a
 * suffix itself.
 */
export function registrableDomain(name: string): string | undefined {
  const known = REGISTRABLE.get(name)
  if (known !== undefined) return known || undefined
  const { domain } = parse(name, { allowPrivateDomains: true, validateHostname: false, extractHostname: false })
  if (name.length <= LONGEST_CACHED) REGISTRABLE.set(name, domain ?? '')
  return domain ?? undefined
}

/** Maximum number of names whose registrable domain is cached. */
const MAX_CACHED = 1_000
/** The results of the names used last, empty for a suffix: a check asks for the same few up to a hundred times. */
const REGISTRABLE = new LRUCache<string, string>({ max: MAX_CACHED })
/** Maximum length of a name whose registrable domain is cached, characters. */
const LONGEST_CACHED = 255

/** The public suffix of a name, such as `co.uk`. */
export const publicSuffix = (name: string): string | undefined =>
  parse(name, { allowPrivateDomains: true, validateHostname: false, extractHostname: false }).publicSuffix ?? undefined

/**
 * Whether a label is a top-level domain by the ICANN part of the list: it was in the root zone when the list was
 * shipped.
 */
export const isTopLevelDomain = (label: string): boolean => {
  const { isIcann, publicSuffix: suffix } = parse(label, { validateHostname: false, extractHostname: false })
  return isIcann === true && suffix === label
}

/** Whether the suffix of a name is in the list, so that names below it can be registered. */
export function hasKnownSuffix(name: string): boolean {
  const { isIcann, isPrivate } = parse(name, {
    allowPrivateDomains: true,
    validateHostname: false,
    extractHostname: false,
  })
  return isIcann === true || isPrivate === true
}

/**
 * The names at which the zone of `domain` can begin, closest first: the domain and those above it down to its
 * registrable domain. At most `limit`.
 */
export function zoneCandidates(domain: string, limit: number): string[] {
  const labels = labelsOf(domain)
  const registrable = registrableDomain(domain)
  const count = registrable === undefined ? 1 : labels.length - labelsOf(registrable).length + 1
  const names = labels.slice(0, count).map((_, i) => labels.slice(i).join('.'))
  // If there are too many, those nearest to the registrable domain are the likelier.
  return names.length <= limit ? names : [names[0]!, ...names.slice(-(limit - 1))]
}
