import type { ScoreRow } from '../../answers/check.ts'
import type { FindingAnswer, Severity } from '../../answers/finding.ts'
import { type Tier, WEIGHTS } from '../../answers/weights.ts'

/** One thing to do, with everything needed to do it. */
export type Thing = {
  /** The finding; a listing has none. */
  readonly id?: string
  readonly severity: Severity
  /** The points of the score that it costs. */
  readonly points: number
  readonly title: string
  readonly detail: string
  readonly evidence?: string | undefined
  readonly repair?: string | undefined
  readonly fix?: FindingAnswer['fix']
  readonly reference?: string
  /** Where to request removal. */
  readonly links: readonly { readonly text: string; readonly url: string }[]
  /** Other faults that the same work repairs: of the same record, or the same fault elsewhere. */
  readonly also: readonly string[]
}

/** The facts about a listing that the choice needs. */
export type Listing = {
  readonly address: string
  readonly list: string
  readonly tier: Tier
  readonly delistUrl: string
}

/** How many are shown first: people do not start on a longer list. */
export const FIRST = 3
const RANK: Record<Severity, number> = { critical: 0, high: 1, medium: 2, low: 3, info: 4 }
/** The severity of a listing; D is policy or information and needs no action. */
const GRAVITY: Readonly<Record<Exclude<Tier, 'D'>, Severity>> = { A: 'high', B: 'medium', C: 'low' }

/**
 * The things to do first, at most {@link FIRST}: the most severe first; of equal severity the one that costs more points; then one with a record to publish;
 * then the order of the answer. Findings of severity info are excluded. Findings about the same record are one item, represented by the first of them, so
 * that only one record per name is proposed; what follows from another finding is named with it, and its points are added; the listings of one address are
 * one item too.
 */
export function firstThings(
  findings: readonly FindingAnswer[],
  breakdown: readonly ScoreRow[],
  listings: readonly Listing[],
): readonly Thing[] {
  const costs = costsOf(breakdown)
  const weighty = findings.filter(({ severity }) => severity !== 'info')
  const faults = weighty
    .filter(({ follows }) => !weighty.some(({ id }) => id === follows))
    .map((finding) => {
      const more = new Map(weighty.flatMap((one) => (one.follows === finding.id ? [[one.id, one]] : [])))
      const thing = thingOf(finding, costs.get(finding.id) ?? 0)
      return {
        key: keyOf(finding),
        thing: [...more.values()].reduce((one, { id, title }) => withMore(one, title, costs.get(id)), thing),
      }
    })
  const ranked = [...faults, ...listed(listings)].sort((a, b) => byWeight(a.thing, b.thing)) // stable: otherwise the order of the answer
  return together(ranked).slice(0, FIRST)
}

/** Points by finding. A cap counts for the finding that sets it; unknown parts cost points too, but no fix regains them. */
function costsOf(breakdown: readonly ScoreRow[]): ReadonlyMap<string, number> {
  const costs = new Map<string, number>()
  for (const { finding, kind, points } of breakdown)
    if (finding !== null && (kind === 'deduction' || kind === 'cap'))
      costs.set(finding, (costs.get(finding) ?? 0) + points)
  return costs
}

/** The subject of a finding: the record to publish, otherwise the fault itself wherever it occurs. */
const keyOf = ({ id, fix }: FindingAnswer): string => (fix ? `${fix.name.toLowerCase()} ${fix.rtype}` : id)

const thingOf = (finding: FindingAnswer, points: number): Thing => ({
  ...finding,
  points,
  links: [],
  also: [],
})

/** A fault with one that follows from it. */
const withMore = (thing: Thing, title: string, points = 0): Thing => ({
  ...thing,
  points: thing.points + points,
  also: thing.also.includes(title) ? thing.also : [...thing.also, title],
})

function listed(listings: readonly Listing[]): { key: string; thing: Thing }[] {
  const addresses = [...new Set(listings.map(({ address }) => address))]
  const things = addresses.flatMap((address) => {
    const own = listings.filter((one) => one.address === address)
    const acted = own.filter(({ tier }) => tier !== 'D')
    const others = own.filter(({ tier }) => tier === 'D')
    const worst = (['A', 'B', 'C'] as const).find((tier) => acted.some((one) => one.tier === tier))
    if (worst === undefined) return []
    return [{ key: `listed ${address}`, thing: listedThing(address, { acted, others }, GRAVITY[worst]) }]
  })
  // Together they cost no more than the score allows: the worst address first.
  let left: number = WEIGHTS.listing.at_most
  return things
    .sort((a, b) => byWeight(a.thing, b.thing))
    .map(({ key, thing }) => {
      const points = Math.min(thing.points, left)
      left -= points
      return { key, thing: { ...thing, points } }
    })
}

type Listings = {
  /** Those that receivers act on. */
  readonly acted: readonly Listing[]
  /** Those of policy or information. */
  readonly others: readonly Listing[]
}

const namesOf = (listings: readonly Listing[], word: string): string => {
  const names = listings.map(({ list }) => list)
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`
}

const isIpText = (subject: string): boolean => /^[\d.]+$|:/.test(subject)

const listedThing = (address: string, { acted, others }: Listings, severity: Severity): Thing => ({
  severity,
  points: acted.reduce((sum, { tier }) => sum + WEIGHTS.listing[tier], 0),
  title: `${address} is on ${acted.length + others.length === 1 ? 'a blacklist' : `${acted.length + others.length} blacklists`}`,
  detail: `Receivers that use ${namesOf(acted, 'or')} refuse or distrust mail from ${isIpText(address) ? 'this address' : 'this domain, or with links to it'}.${
    others.length === 0
      ? ''
      : ` It is also on ${namesOf(others, 'and')}, for policy or information, which does not count.`
  }`,
  repair:
    'Find and stop the source of the mail that caused the listing, then request removal; otherwise the listing returns.',
  links: acted.map(({ list, delistUrl }) => ({ text: `Removal from ${list}`, url: delistUrl })),
  also: [],
})

const byWeight = (a: Thing, b: Thing): number =>
  RANK[a.severity] - RANK[b.severity] ||
  b.points - a.points ||
  Number(b.fix !== undefined) - Number(a.fix !== undefined)

function together(ranked: readonly { readonly key: string; readonly thing: Thing }[]): Thing[] {
  const first = new Map<string, Thing>()
  for (const { key, thing } of ranked) {
    const known = first.get(key)
    const also = thing.title === known?.title ? (thing.evidence ?? thing.title) : thing.title
    if (!known) first.set(key, thing)
    else if (!known.also.includes(also)) first.set(key, { ...known, also: [...known.also, also] })
  }
  return [...first.values()]
}
