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
/** Maximum number of them in front of a sentence. */
const MAX_SUBJECTS = 5

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
    const byId = [...Map.groupBy(rest, ({ finding }) => finding.id)].map(([finding, some]) => ({
      rank: Math.max(...some.map(rankOf)),
      finding,
      why: about(some, whyLeft(some[0]!, domain, end, objectionTo(some[0]!))),
    }))
    return [...open, ...byId]
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
  if (objection?.startsWith(HARMFUL) && repair !== undefined) return `${repair} ${objection}`
  const why = objection === NOT_ALONE ? (repair ?? objection) : (objection ?? repair)
  return why ?? `${title}: no record of this domain repairs it.`
}

/** Names what a sentence is about, where it does not: the hosts, terms or names of the findings. */
function about(some: readonly Found[], sentence: string): string {
  const subjects = [...new Set(some.flatMap(subjectOf))].filter((one) => !sentence.includes(one))
  return subjects.length === 0 ? sentence : `${subjects.slice(0, MAX_SUBJECTS).join(', ')}: ${sentence}`
}

function subjectOf({ finding: { args = {} } }: Found): readonly string[] {
  const selector =
    args.parent === undefined && args.selector !== undefined ? selectorWords(String(args.selector)) : undefined
  const subject = [args.term, args.host, args.exchange, selector, args.name].find(
    (one) => typeof one === 'string' && one !== '',
  )
  return subject === undefined ? [] : [printable(String(subject), MAX_SUBJECT)]
}

const selectorWords = (selectors: string): string =>
  selectors.includes(',') ? `Selectors ${selectors.replace(/,\s*/g, ', ')}` : `Selector ${selectors}`
