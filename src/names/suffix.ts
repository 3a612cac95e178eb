import { parse } from 'tldts'

/**
 * The registrable domain of a name by the public suffix list (its ICANN part and its private part), or undefined for a
 * suffix itself.
 */
export const registrableDomain = (name: string): string | undefined =>
  parse(name, { allowPrivateDomains: true, validateHostname: false, extractHostname: false }).domain ?? undefined

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
