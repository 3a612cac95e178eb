import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import { isWithin } from './lender.ts'
import type { Snapshot } from './snapshot.ts'
import { type Found, NOT_ALONE } from './trial.ts'

/** Why a finding has no step, with what its owner can do; `objection`: why a record that was tried is not offered. */
export function whyLeft(
  { key, finding }: Found,
  domain: string,
  { facts: { dmarc } }: Pick<Snapshot, 'facts'>,
  objection: string | undefined,
): string {
  const { fix, ...rest } = finding
  const governor = dmarc instanceof Error || !dmarc.applied?.inherited ? undefined : dmarc.applied.domain
  if (key === 'dmarc' && governor !== undefined && !fix && objection === undefined)
    return `The DMARC record of ${governor} governs the name: make the plan of that domain.`
  if (fix?.name.includes('._report._dmarc.'))
    return `Ask whoever takes the reports to publish ${fix.rtype} ${fix.value} at ${fix.name}, or use an address of another receiver.`
  if (fix && !isWithin(fix.name, domain) && fix.rtype !== 'PTR')
    return `The record belongs to another domain (${fix.name}): make the plan of that domain.`
  // In the words for a finding without a record.
  const { repair, title } = presentFinding(registry[key].table, rest)
  const why = objection === NOT_ALONE ? (repair ?? objection) : (objection ?? repair)
  return why ?? `${title}: no record of this domain repairs it.`
}
