import { canonicalName } from '../../names/domain.ts'

/**
 * Whether a certificate with these DNS names is valid for `host`: equal, or a `*` as the whole left-most label, which stands for one label (RFC 9525 §6.3).
 */
export function nameMatches(host: string, names: readonly string[]): boolean {
  const wanted = canonicalName(host)
  const above = wanted.slice(wanted.indexOf('.') + 1)
  return names.map(canonicalName).some((name) => name === wanted || (wanted.includes('.') && name === `*.${above}`))
}
