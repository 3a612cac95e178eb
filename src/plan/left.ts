import type { PlanAnswer } from '../answers/plan.ts'
import { printable } from '../base/text.ts'
import { presentFinding } from '../checks/present.ts'
import * as registry from '../checks/registry.ts'
import { CHECK_KEYS } from '../checks/run.ts'
import { isWithin } from '../names/domain.ts'
import type { Snapshot } from './snapshot.ts'
import { type Found, HARMFUL, NOT_ALONE, RANK, rankOf } from './trial.ts'

/** Maximum number of characters of a name that comes from outside. */
const MAX_SUBJECT = 255

type Ended = {
  readonly domain: string
  readonly end: Snapshot
  readonly steps: readonly { readonly findings: readonly string[] }[]
}

/**
 * The findings of severity low and above that remain at the end, those whose step is withheld (`objectionTo` says why),
 * and the checks that could not be made; the most severe first.
 */
export function leftOf(
  { domain, end, steps }: Ended,
  objectionTo: (found: Found) => string | undefined,
): PlanAnswer['left'] {
  const told = new Set(steps.flatMap(({ findings }) => findings))
  const ranked = CHECK_KEYS.flatMap((key) => {
    const outcome = end.outcomes[key]
    if (!outcome) return []
    const isOpen = outcome.status === 'unknown'
    const open = isOpen
      ? [{ rank: RANK.medium, finding: key as string, why: `Not known: ${outcome.reason.text}.` }]
      : []
    const rest = outcome.findings
      .map((finding) => ({ key, finding }))
      .filter((one) => !told.has(one.finding.id) && (rankOf(one) >= RANK.low || objectionTo(one) !== undefined))
      .map((one) => ({
        rank: rankOf(one),
        finding: one.finding.id,
        why: whyLeft(one, domain, end, objectionTo(one)),
      }))
    return [...open, ...new Map(rest.map((one) => [one.finding, one])).values()]
  })
  return ranked.toSorted((a, b) => b.rank - a.rank).map(({ finding, why }) => ({ finding, why }))
}

/** Why a finding has no step, with what its owner can do; `objection`: why a record that was tried is not offered. */
function whyLeft(
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
  if (objection?.startsWith(HARMFUL) && repair !== undefined) return `${about(finding, repair)} ${objection}`
  const why = objection === NOT_ALONE ? (repair ?? objection) : (objection ?? repair)
  return about(finding, why ?? `${title}: no record of this domain repairs it.`)
}

/** Names what a sentence is about, where it does not: the host, the term or the name of the finding. */
function about({ args = {} }: Found['finding'], sentence: string): string {
  const selector = args.parent === undefined && args.selector !== undefined ? `Selector ${args.selector}` : undefined
  const subject = [args.term, args.host, args.exchange, selector, args.name].find(
    (one) => typeof one === 'string' && one !== '',
  )
  return subject === undefined || sentence.includes(String(subject))
    ? sentence
    : `${printable(String(subject), MAX_SUBJECT)}: ${sentence}`
}
