import type { DmarcFacts, Policy } from '../checks/dmarc/index.ts'
import { CHECK_KEYS } from '../checks/run.ts'
import type { Draft } from './draft.ts'
import { strengthOf } from './ladder.ts'
import type { Snapshot } from './snapshot.ts'
import { RANK, rankOf } from './trial.ts'

/** Whether `sp` and `np` of a record at the name count: it is the organizational domain (RFC 9989 §4.7). */
export function governs(domain: string, { facts: { dmarc }, context }: Snapshot): boolean {
  if (dmarc instanceof Error) return false
  const { organizationalDomain } = dmarc.walk
  return organizationalDomain === undefined ? context.above === undefined : organizationalDomain === domain
}

/** Whether receivers of either standard would do more by over one level. */
export function isSteep({ facts: { dmarc: was } }: Snapshot, { facts: { dmarc: is } }: Snapshot): boolean {
  if (was instanceof Error || is instanceof Error) return false
  const before = strengthOf(was)
  return strengthOf(is).some((strength, i) => strength - before[i]! > 1)
}

/** Whether an SPF record that passes fewer has to wait, because a DMARC policy is enforced. */
export function waitsForSpf({ facts: { spf, dmarc } }: Snapshot, after: Snapshot): boolean {
  if (dmarc instanceof Error || spf instanceof Error || after.facts.spf instanceof Error) return false
  if (strengthOf(dmarc).every((strength) => strength === 0)) return false
  const [was, is] = [spf.reading?.extent, after.facts.spf.reading?.extent]
  return was !== undefined && is !== undefined && (is.ipv4 < was.ipv4 || is.ipv6Prefixes < was.ipv6Prefixes)
}

/** The findings of severity low and more that a step resolves; where there are none, those that it was made for. */
export function resolved(
  before: Snapshot,
  { after, findings }: Pick<Draft, 'findings'> & { readonly after: Snapshot },
  start: Snapshot,
): readonly string[] {
  const idsIn = ({ outcomes }: Snapshot, least: number): readonly string[] =>
    CHECK_KEYS.flatMap((key) =>
      (outcomes[key]?.findings ?? []).flatMap((finding) => (rankOf({ key, finding }) >= least ? [finding.id] : [])),
    )
  // A domain that turns out to have no mail misses its DMARC record by another name.
  const isRenamed = idsIn(start, RANK.low).includes('dmarc.no_record')
  const told = (id: string): string => (isRenamed && id === 'dmarc.no_record_parked' ? 'dmarc.no_record' : id)
  const still = new Set(idsIn(after, RANK.info).map(told))
  const gone = [...new Set(idsIn(before, RANK.low).map(told))].filter((id) => !still.has(id))
  return gone.length > 0 ? gone : findings
}

/**
 * The policy of a record of its own for a name below an organization: not less than what applies to it, by either
 * reading, and more by one level at most; `reject` for one that sends nothing. Undefined: there is none.
 */
export function ownLevel(dmarc: DmarcFacts, isSilent: boolean): 'quarantine' | 'reject' | undefined {
  const today = strengthOf(dmarc)
  if (isSilent) return today.some((strength) => strength < 2) ? 'reject' : undefined
  const fits = (level: number): boolean =>
    today.every((strength) => strength <= level && level - strength <= 1) && today.some((strength) => strength < level)
  return fits(1) ? 'quarantine' : fits(2) ? 'reject' : undefined
}

/** Whether the record of an organization above applies to the name. */
export const isInherited = ({ facts: { dmarc } }: Snapshot): boolean =>
  !(dmarc instanceof Error) && dmarc.applied?.inherited === true

/** The policy (`p`) of the name's own DMARC record, if it is applied. */
export const ownPolicyOf = ({ facts: { dmarc } }: Snapshot): Policy | undefined =>
  dmarc instanceof Error || dmarc.applied?.inherited ? undefined : dmarc.applied?.policies?.p
