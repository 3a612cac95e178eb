import { canonicalName } from '../../names/domain.ts'

/**
 * Whether an authenticated identifier is aligned with the author domain (RFC 9989 §4.4): strict is the same name,
 * relaxed the same organizational domain.
 */
export function aligned(
  author: { readonly domain: string; readonly organizationalDomain: string },
  identifier: { readonly domain: string; readonly organizationalDomain: string },
  mode: 'r' | 's',
): boolean {
  if (canonicalName(author.domain) === canonicalName(identifier.domain)) return true
  return mode === 'r' && canonicalName(author.organizationalDomain) === canonicalName(identifier.organizationalDomain)
}
