import type { ScoreRow } from '../../answers/check.ts'
import type { FindingAnswer, Severity, Status } from '../../answers/finding.ts'
import { COMPONENTS, type Component, type Tier, WEIGHTS } from '../../answers/weights.ts'
import { keysOf } from '../../base/json.ts'
import { applies, ROLE_WORDS } from '../../checks/context.ts'
import { type Block, heading, type Inline, type Line, quiet, text } from '../block.ts'
import { BUT_BROKEN, CHECKS, GRADE_WORDS, UNDELIVERABLE, wordsFor } from '../words.ts'
import { type Answer, statusOf } from './answer.ts'
import { findingReference, repairBlocks, type Step } from './findings.ts'
import { hasWay, plannedIn, stepFor } from './path.ts'
import { sendersNote } from './who-may-send.ts'

/** The verdict on the domain. */
export const verdictBlock = (answer: Answer): Block => ({
  kind: 'verdict',
  verdict: {
    subject: answer.domain,
    ...(answer.unicode_domain === undefined ? {} : { unicode: answer.unicode_domain }),
    score: answer.report_score ?? answer.score,
    ...rangeOf(answer),
    ...gradeIn(answer),
    ...(isBroken(answer) ? { isBroken: true } : {}),
    words: wordsOf(answer),
    notes: notesOf(answer),
  },
})

/** The points of each scored check; nothing where there is no grade. */
export const barBlocks = (answer: Answer): readonly Block[] =>
  isOpen(answer) ? [] : [{ kind: 'bars', bars: SCORED.map((component) => barOf(answer, component)) }]

/** The checks that the score is made of. */
const SCORED = ['spf', 'dkim', 'dmarc', 'mx', 'ptr'] as const satisfies readonly Component[]

const ALL_OPEN =
  'The DNS did not answer for this domain, so almost nothing is known about it. The score is not meaningful. "mailsonde doctor" tells whether the resolver works.'
const GONE = 'The domain does not exist, so no mail can reach it.'
const OPEN_ONLY = 'Good as far as it could be determined.'
const MOSTLY_OPEN = 'More than half of the points could not be determined, so there is no grade.'

/** There is no grade: more than half of the points could not be determined. */
export const isOpen = ({ grade }: Answer): boolean => grade === null

/** None of the scored checks has an answer. */
export const isAllOpen = (answer: Answer): boolean =>
  SCORED.every((component) => statusOf(answer, component) === 'unknown')

const gradeIn = ({ report_grade: reported, grade }: Answer): { readonly grade?: string } => {
  const shown = reported ?? grade
  return shown === null ? {} : { grade: shown }
}

/** Whether there is a finding of severity high or critical. */
const isBroken = ({ findings }: Answer): boolean =>
  findings.some(({ severity }) => severity === 'critical' || severity === 'high')

/** No mail to the domain can arrive. */
const isUndeliverable = ({ findings }: Answer): boolean =>
  findings.some(({ id, severity }) => id.startsWith('mx.') && severity === 'critical')

function wordsOf(answer: Answer): string {
  const { grade } = gradeIn(answer)
  if (isGone(answer)) return GONE
  if (grade === undefined) return isAllOpen(answer) ? ALL_OPEN : MOSTLY_OPEN
  if (isUndeliverable(answer)) return UNDELIVERABLE
  if (isOpenOnly(answer)) return OPEN_ONLY
  return isBroken(answer) && /^[AB]/.test(grade) ? BUT_BROKEN : (wordsFor(GRADE_WORDS, grade) ?? '')
}

/** Points are missing only because something could not be determined, and nothing needs repair. */
function isOpenOnly({ complete, score_breakdown: rows, findings }: Answer): boolean {
  const isFault = (severity: Severity): boolean => severity !== 'info' && severity !== 'low'
  const missing = rows.filter(({ points, component }) => points > 0 && component !== 'total')
  return (
    !complete &&
    missing.length > 0 &&
    missing.every(({ kind }) => kind === 'unknown') &&
    !findings.some(({ severity }) => isFault(severity))
  )
}

/** The range of the check's score, minus the deductions for listings. */
function rangeOf({ score, score_min: least = score, score_max: most = score, report_score: reported = score }: Answer) {
  const less = (value: number): number => Math.max(0, value - (score - reported))
  return least === most ? {} : { range: [less(least), less(most)] as const }
}

function notesOf(answer: Answer): Line[] {
  return [...roleNote(answer), ...sendersNote(answer), ...lossNote(answer), ...scoreNotes(answer)]
}

/** Where the points are lost, the most first, each with a link to its check. */
function lossNote(answer: Answer): Line[] {
  if (isOpen(answer) || isGone(answer)) return []
  const lost = SCORED.map((component) => ({ component, points: lostBy(answer, component) }))
    .filter(({ points }) => points > 0)
    .toSorted((a, b) => b.points - a.points)
  if (lost.length === 0) return []
  const named = lost.map(({ component, points }): Inline[] => [
    { link: `#${component}`, text: CHECKS[component].name },
    ` −${plain(points)}${isOpenPart(answer, component) ? ' (not determined: half)' : ''}`,
  ])
  return [['Points lost: ', ...named.flatMap((one, i) => (i === 0 ? one : [', ', ...one])), '.']]
}

/** The name does not exist, so that no check has a subject. */
export const isGone = ({ domain_role: role }: Answer): boolean => role?.name === 'no_such_domain'

const lostBy = ({ score_breakdown: rows }: Answer, component: Component): number =>
  rows.filter((row) => row.component === component).reduce((sum, { points }) => sum + points, 0)

/** All points that the component lost are those of what could not be determined. */
const isOpenPart = ({ score_breakdown: rows }: Answer, component: Component): boolean =>
  rows.every((row) => row.component !== component || row.points === 0 || row.kind === 'unknown')

/** The role in which the domain was judged, if the answer has it. */
function roleNote({ domain_role: role }: Answer): Line[] {
  const words = role && wordsFor<string>(ROLE_WORDS, role.name)
  return words === undefined ? [] : [[`Judged as ${words}: ${role?.because}.`]]
}

function scoreNotes(answer: Answer): Line[] {
  const { score, score_min: least = score, score_max: most = score, complete, report_score: reported } = answer
  const notes: Line[] = []
  if (reported !== undefined && reported !== score)
    notes.push([
      `The check alone gives ${score}; listings on blacklists cost ${score - reported} ${score - reported === 1 ? 'point' : 'points'}.`,
    ])
  if (complete) return [...notes, ['Complete: every query that affects the score was answered.']]
  if (least !== most)
    notes.push([
      `Not complete: the check score is between ${least} and ${most}, `,
      { link: '#unknowns', text: 'see what could not be determined' },
      '.',
    ])
  else
    notes.push([
      'Not every query was answered, but the score of the check does not depend on it: ',
      { link: '#unknowns', text: 'see what could not be determined' },
      '.',
    ])
  return notes
}

const barOf = (answer: Answer, component: Component) => {
  const lost = lostBy(answer, component)
  const worth = COMPONENTS[component]
  const status = barStatus(answer, component, lost / worth)
  const kept = isLeftOut(answer, component) ? {} : { kept: worth - lost }
  return { label: CHECKS[component].name, href: `#${component}`, ...kept, worth, status }
}

/**
 * The status of the component's check; what the role leaves out does not apply, and a component that lost a third of
 * its points because of another check (mail that does not arrive) needs repair.
 */
function barStatus(answer: Answer, component: Component, lostShare: number): Status {
  const status = statusOf(answer, component)
  if (isLeftOut(answer, component)) return 'not_applicable'
  return status === 'pass' && lostShare > 1 / 3 ? 'fail' : status
}

/** The role of the domain does not need the component: it has no points. */
function isLeftOut({ domain_role }: Answer, component: Component): boolean {
  const role = ROLES.find((one) => one === domain_role?.name)
  return role !== undefined && role !== 'no_such_domain' && !applies(component, { role })
}
const ROLES = keysOf(ROLE_WORDS)

/**
 * What no step of the plan repairs: findings of severity medium and more, and listings; without a plan, what to do
 * first.
 */
export function leftThings(answer: Answer): readonly Thing[] {
  const planned = plannedIn(answer)
  const findings = answer.findings.filter(({ id, follows }) => !planned.has(id) && !(follows && planned.has(follows)))
  return firstThings(findings, answer.score_breakdown, listingsOf(answer)).filter(
    ({ severity, points, links }) => severity !== 'low' || links.length > 0 || (points > 0 && !answer.plan),
  )
}

/** {@link leftThings}, each with its repair. */
export function thingBlocks(answer: Answer): Block[] {
  const things = leftThings(answer)
  if (things.length === 0) return []
  const title = hasWay(answer) ? 'Also to repair' : things.length === 1 ? 'To fix' : 'To fix first'
  return [
    heading(2, title, 'first'),
    ...things.map(
      (thing, i) =>
        ({
          kind: 'group',
          look: 'thing',
          blocks: thingParts(thing, i + 1, whyLeft(answer, thing), stepFor(answer, thing)),
        }) as const,
    ),
  ]
}

/** Why the plan has no step for it, where that is known. */
const whyLeft = ({ plan }: Answer, { id }: Thing): string | undefined =>
  plan?.left.find(({ finding }) => finding === id)?.why

function thingParts(thing: Thing, number: number, why: string | undefined, step: Step | undefined): Block[] {
  const points: Inline =
    thing.points === 0 ? 'outside the score' : `costs ${plain(thing.points)} ${thing.points === 1 ? 'point' : 'points'}`
  return [
    { kind: 'heading', level: 3, line: [`${number}. ${thing.title}`] },
    quiet({ severity: thing.severity }, ' · ', points),
    text(thing.detail),
    ...(why === undefined || why === thing.repair ? [] : [text({ strong: 'Why it is no step: ' }, why)]),
    ...repairBlocks(thing.repair, step),
    ...(thing.fix && !step ? [{ kind: 'publish', record: thing.fix } as const] : []),
    ...(thing.links.length === 0
      ? []
      : [{ kind: 'list', items: thing.links.map(({ url, text: words }) => [{ link: url, text: words }]) } as const]),
    ...(thing.also.length === 0 ? [] : [quiet('Also about this: ', ...joined(thing.also), '.')]),
    ...(thing.reference === undefined ? [] : [quiet(...findingReference(thing.reference))]),
  ]
}

const joined = (texts: readonly string[]): Inline[] => texts.flatMap((one, i) => (i === 0 ? [one] : ['; ', one]))

/** Points for display: at most one decimal, as halves have. */
export const plain = (points: number): string => String(Number(points.toFixed(1)))

const listingsOf = ({ blacklists = [], domain_blacklists: ofDomain }: Answer): Listing[] =>
  [
    ...blacklists.map(({ ip, results }) => ({ subject: ip, results })),
    ...(ofDomain ? [{ subject: ofDomain.domain, results: ofDomain.results }] : []),
  ].flatMap(({ subject, results }) =>
    results
      .filter(({ listed }) => listed)
      .map(({ blacklist, tier, delist_url }) => ({
        address: subject,
        list: blacklist,
        tier,
        delistUrl: delist_url,
      })),
  )

/** One thing to do, with everything needed to do it. */
type Thing = {
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
const FIRST = 3
const RANK: Record<Severity, number> = { critical: 0, high: 1, medium: 2, low: 3, info: 4 }
/** The severity of a listing; D is policy or information and needs no action. */
const GRAVITY: Readonly<Record<Exclude<Tier, 'D'>, Severity>> = { A: 'high', B: 'medium', C: 'low' }

/**
 * The things to do first, at most {@link FIRST}: the most severe first; of equal severity the one that costs more
 * points; then one with a record to publish; then the order of the answer. Findings of severity info are excluded.
 * Findings about the same record are one item, represented by the first of them, so that only one record per name is
 * proposed; what follows from another finding is named with it, and its points are added; the listings of one address
 * are one item too.
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
  // stable: otherwise the order of the answer
  const ranked = [...faults, ...listed(listings)].sort((a, b) => byWeight(a.thing, b.thing))
  return together(ranked).slice(0, FIRST)
}

/**
 * Points by finding. A cap counts for the finding that sets it; unknown parts cost points too, but no fix regains them.
 */
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
    // The same fault elsewhere: what tells it apart.
    const also = thing.title === known?.title ? (thing.evidence ?? thing.detail.replace(/\.$/, '')) : thing.title
    if (!known) first.set(key, thing)
    else if (!known.also.includes(also)) first.set(key, { ...known, also: [...known.also, also] })
  }
  return [...first.values()]
}
