import { WEIGHTS } from '../../answers/weights.ts'
import { type Block, heading, type Inline, type Line, text } from '../block.ts'
import { CHECKS, LOSS_WORDS, ROW_WORDS, wordsFor } from '../words.ts'
import type { Answer } from './answer.ts'
import { isOpen, plain } from './verdict.ts'

/** Every point: the deductions with their reasons, the score, then the points lost to listings. */
export function ledgerBlocks(answer: Answer): readonly Block[] {
  const rows = answer.score_breakdown.map(({ component, finding, kind, points }): Line[] => [
    [component === 'total' ? 'Whole' : CHECKS[component].name],
    causeOf(answer, component, finding, kind),
    [signed(-points)],
  ])
  return [
    heading(2, 'How the score adds up', 'score'),
    text('The score starts at 100; each deduction has its own line.'),
    {
      kind: 'table',
      table: {
        caption: 'Check score',
        head: ['Part', 'Cause', 'Points'],
        rows: [[['Whole'], ['Full marks'], ['100']], ...rows],
        sum: [['Score'], [isOpen(answer) ? 'No grade' : `Grade ${answer.grade}`], [String(answer.score)]],
        numeric: [2],
      },
    },
    ...listingBlocks(answer),
  ]
}

function causeOf(answer: Answer, component: string, finding: string | null, kind: string): Line {
  const loss = kind === 'deduction' && finding === null ? wordsFor(LOSS_WORDS, component) : undefined
  const words = loss ?? wordsFor(ROW_WORDS, kind) ?? kind
  if (finding === null) return [words]
  const title = answer.findings.find(({ id }) => id === finding)?.title
  const told: Inline = { link: `#${finding.split('.')[0]}`, text: title ?? finding }
  return kind === 'deduction' ? [told] : [told, ` (${words.toLowerCase()})`]
}

function listingBlocks(answer: Answer): Block[] {
  if (answer.report_score === undefined || answer.report_score === answer.score) return []
  const { domain_blacklists: ofDomain } = answer
  const subjects = [
    ...(answer.blacklists ?? []).map(({ ip, results }) => ({ subject: ip, results })),
    ...(ofDomain ? [{ subject: ofDomain.domain, results: ofDomain.results }] : []),
  ]
  const listings = subjects.flatMap(({ subject, results }) =>
    results.filter(({ listed }) => listed).map(({ blacklist, tier }) => ({ subject, blacklist, tier })),
  )
  const taken = listings.reduce((sum, { tier }) => sum + WEIGHTS.listing[tier], 0)
  const lost = answer.score - answer.report_score
  const back: Line[][] =
    taken > lost
      ? [
          [
            ['Whole'],
            [
              taken > WEIGHTS.listing.at_most
                ? `Listings cost at most ${WEIGHTS.listing.at_most} points`
                : 'Not below 0',
            ],
            [signed(taken - lost)],
          ],
        ]
      : []
  return [
    {
      kind: 'table',
      table: {
        caption: 'Report score: the check and the blacklists',
        head: ['Address or domain', 'Listed on', 'Points'],
        rows: [
          [['Whole'], ['Check score'], [String(answer.score)]],
          ...listings.map(({ subject, blacklist, tier }): Line[] => [
            [{ code: subject }],
            [`${blacklist} (tier ${tier})`],
            [signed(-WEIGHTS.listing[tier])],
          ]),
          ...back,
        ],
        sum: [
          ['Report score'],
          [answer.report_grade === undefined ? '' : isOpen(answer) ? 'No grade' : `Grade ${answer.report_grade}`],
          [String(answer.report_score)],
        ],
        numeric: [2],
      },
    },
  ]
}

/** With a minus sign, as in print. */
const signed = (points: number): string => (points < 0 ? `−${plain(-points)}` : points > 0 ? `+${plain(points)}` : '0')
