import { labelsOf } from './domain.ts'
import { registrableDomain } from './suffix.ts'

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
