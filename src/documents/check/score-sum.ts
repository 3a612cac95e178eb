import type { Component } from '../../answers/weights.ts'
import { COMPONENTS, WEIGHTS } from '../../answers/weights.ts'
import { keysOf } from '../../base/json.ts'
import { counted } from '../../base/text.ts'
import { applies, ROLE_WORDS } from '../../checks/context.ts'
import { type Block, blocksOf, type Inline, type Line, text } from '../block.ts'
import { CHECKS, LOSS_WORDS, ROW_WORDS, wordsFor } from '../words.ts'
import { type Answer, isGone, isOpen, isReverse, SCORED, statusOf } from './answer.ts'
import { checkLabel, type Label, marked } from './labels.ts'

/** How the score adds up: the points of each check, then every deduction with its reason, then the listings. */
export function sumBlocks(answer: Answer): readonly Block[] {
  if (isGone(answer)) return []
  const { score, report_score: reported = score, complete, score_min: least, score_max: most } = answer
  const cost = score - reported
  return blocksOf([
    roleNote(answer).map((line) => text(...line)),
    !isOpen(answer) && { kind: 'bars', bars: SCORED.map((component) => barOf(answer, component)) },
    checkLedger(answer),
    listingsLedger(answer),
    cost !== 0 && text(`The check alone gives ${score}; listings on blacklists cost ${counted(cost, 'point')}.`),
    complete && text('Complete: every query that affects the score was answered.'),
    !complete &&
      least === most &&
      text('Not every query was answered, but the score of the check does not depend on it.'),
  ])
}

type Entry = readonly [part: Inline, cause: Line, points: string]
/** Every point as a row: the whole first, the score as the sum. */
const ledger = (caption: string, heads: readonly [string, string], rows: readonly Entry[], sum: Entry): Block => ({
  kind: 'table',
  table: {
    ...{ caption, head: [...heads, 'Points'], numeric: [2] },
    rows: rows.map(([part, cause, points]) => [[part], cause, [points]]),
    sum: [[sum[0]], sum[1], [sum[2]]],
  },
})

const gradeWords = (answer: Answer, grade: string | null): Line => [isOpen(answer) ? 'No grade' : `Grade ${grade}`]

/** The deductions with their reasons. */
function checkLedger(answer: Answer): Block {
  const rows = answer.score_breakdown.map(({ component, finding, kind, points }): Entry => {
    const part = component === 'total' ? 'Whole' : CHECKS[component].name
    return [part, causeOf(answer, component, finding, kind), signed(-points)]
  })
  const sum: Entry = ['Score', gradeWords(answer, answer.grade), String(answer.score)]
  return ledger('Check score', ['Part', 'Cause'], [['Whole', ['Full marks'], '100'], ...rows], sum)
}

function causeOf(answer: Answer, component: string, finding: string | null, kind: string): Line {
  const loss = kind === 'deduction' && finding === null ? wordsFor(LOSS_WORDS, component) : undefined
  const words = loss ?? wordsFor(ROW_WORDS, kind) ?? kind
  if (finding === null) return [words]
  const title = answer.findings.find(({ id }) => id === finding)?.title
  const told: Inline = { link: `#${finding.split('.')[0]}`, text: title ?? finding }
  return kind === 'deduction' ? [told] : [told, ` (${words.toLowerCase()})`]
}

function listingsLedger(answer: Answer): Block | undefined {
  const { score, report_score: reported = score, report_grade: grade, domain_blacklists: ofDomain } = answer
  if (reported === score) return undefined
  const subjects = [
    ...(answer.blacklists ?? []).map(({ ip, results }) => ({ subject: ip, results })),
    ...(ofDomain ? [{ subject: ofDomain.domain, results: ofDomain.results }] : []),
  ]
  const listings = subjects.flatMap(({ subject, results }) =>
    results.filter(({ listed }) => listed).map(({ blacklist, tier }) => ({ subject, blacklist, tier })),
  )
  const taken = listings.reduce((sum, { tier }) => sum + WEIGHTS.listing[tier], 0)
  const most = WEIGHTS.listing.at_most
  const why = taken > most ? `Listings cost at most ${most} points` : 'Not below 0'
  const rows: Entry[] = [
    ['Whole', ['Check score'], String(score)],
    ...listings.map(({ subject, blacklist, tier }): Entry => {
      return [{ code: subject }, [`${blacklist} (tier ${tier})`], signed(-WEIGHTS.listing[tier])]
    }),
    ...(taken > score - reported ? [['Whole', [why], signed(taken - score + reported)] as const] : []),
  ]
  const sum: Entry = ['Report score', grade === undefined ? [''] : gradeWords(answer, grade), String(reported)]
  return ledger('Report score: the check and the blacklists', ['Address or domain', 'Listed on'], rows, sum)
}

/** Points with at most one decimal, as halves have. */
const plain = (points: number): string => String(Number(points.toFixed(1)))

/** With a minus sign, as in print. */
const signed = (points: number): string => (points < 0 ? `−${plain(-points)}` : points > 0 ? `+${plain(points)}` : '0')

const lostBy = ({ score_breakdown: rows }: Answer, component: Component): number =>
  rows.filter((row) => row.component === component).reduce((sum, { points }) => sum + points, 0)

const barOf = (answer: Answer, component: (typeof SCORED)[number]) => {
  const lost = lostBy(answer, component)
  const worth = COMPONENTS[component]
  const isOut = isLeftOut(answer, component)
  const state = marked(stateOf(answer, component, { isOut, lostShare: lost / worth }))
  return {
    label: CHECKS[component].name,
    href: `#${component}`,
    ...(isOut ? {} : { kept: worth - lost }),
    worth,
    state,
  }
}

/**
 * The label of the component's check; what the role leaves out does not apply, and a component that lost a third of its
 * points because of another check (mail that does not arrive) is broken.
 */
function stateOf(
  answer: Answer,
  key: (typeof SCORED)[number],
  { isOut, lostShare }: { readonly isOut: boolean; readonly lostShare: number },
): Label {
  if (isOut) return 'left_out'
  const label = checkLabel(answer, { key, status: statusOf(answer, key) })
  return statusOf(answer, key) === 'pass' && lostShare > 1 / 3 ? 'broken' : label
}

/** The role of the domain does not need the component: it has no points. A reverse zone needs none, not even DMARC. */
function isLeftOut(answer: Answer, component: Component): boolean {
  const role = ROLES.find((one) => one === answer.domain_role?.name)
  if (role === undefined || role === 'no_such_domain') return false
  return isReverse(answer) || !applies(component, { role })
}
const ROLES = keysOf(ROLE_WORDS)

/** The role in which the domain was judged, if the answer has it. */
export function roleNote({ domain_role: role }: Answer): Line[] {
  const words = role && wordsFor<string>(ROLE_WORDS, role.name)
  return words === undefined ? [] : [[`Judged as ${words}: ${role?.because}.`]]
}
