import type { Status } from '../../answers/finding.ts'
import { counted } from '../../base/text.ts'
import { type Block, code, type Document, heading, type Line, quiet, text } from '../block.ts'
import { footerOf } from '../footer.ts'
import { STATUS_MARKS } from '../signs.ts'
import { STATUS_WORDS } from '../words.ts'
import type { Answer } from './answer.ts'
import { hasWay, nothingBlocks, wayBlocks } from './path.ts'
import { isUnused, sentenceOf } from './sentences.ts'
import { sectionsOf } from './status.ts'
import { isAllOpen, isGone, leftThings, verdictBlock } from './verdict.ts'

/** The first screen of a check or a report: the verdict, the way up, and one line a check. `version` is the program's. */
export function briefDocument(answer: Answer, version: string): Document {
  const way = wayBlocks(answer)
  const left = leftThings(answer)
  return {
    title: `${answer.blacklists ? 'Mail report' : 'Mail check'}: ${answer.domain}`,
    blocks: [
      verdictBlock(answer),
      ...(way.length === 0 && left.length === 0 ? nothingBlocks(!isAllOpen(answer)) : way),
      ...(left.length === 0
        ? []
        : [
            heading(2, hasWay(answer) ? 'Also to repair' : 'To repair', 'first'),
            {
              kind: 'list',
              items: left.map(({ title, repair }): Line => [{ strong: title }, repair ? `: ${repair}` : '']),
            } as const,
          ]),
      ...(isGone(answer) ? [] : checkRows(answer)),
      ...listingsRow(answer),
      ...nextBlocks(answer),
    ],
    footer: footerOf(version, answer.observed_at, `score version ${answer.score_version}`),
  }
}

const checkRows = (answer: Answer): Block[] => [
  heading(2, 'Checks', 'checks'),
  { kind: 'facts', rows: sectionsOf(answer).map(({ key, name, status }) => rowOf(answer, key, name, status)) },
]

type Row = readonly [string, Line]

const rowOf = (answer: Answer, key: string, name: string, status: Status): Row => {
  if (isUnused(answer, key)) return [name, [{ mark: 'none', text: 'not used' }]]
  const sentence = sentenceOf(answer, key)
  return [name, [{ mark: STATUS_MARKS[status], text: sentence === '' ? STATUS_WORDS[status] : sentence }]]
}

function listingsRow({ blacklist_summary: summary, domain_blacklists: domain }: Answer): Block[] {
  if (summary === undefined) return []
  const { listings, listed_addresses: listed, addresses } = summary
  const line: Line =
    addresses === 0
      ? ['no address of a mail server is known']
      : listings === 0
        ? [{ mark: 'good', text: 'no listing' }]
        : [
            {
              mark: 'bad',
              text: `${counted(listings, 'listing')} of ${listed} of ${counted(addresses, 'address', 'addresses')}`,
            },
          ]
  const ofDomain: Line[] =
    domain && domain.verdict === 'listed'
      ? [[{ mark: 'bad', text: `the domain is on ${counted(domain.listed, 'list of domains', 'lists of domains')}` }]]
      : []
  return [{ kind: 'facts', rows: [line, ...ofDomain].map((one) => ['Blacklists', one]) }]
}

/** Where the evidence and the records are. */
function nextBlocks(answer: Answer): Block[] {
  const command = answer.blacklists ? 'report' : 'check'
  return [
    ...(answer.plan && answer.plan.steps.length > 0
      ? [text('Records to publish: ', code(`mailsonde plan ${answer.domain}`))]
      : []),
    quiet('Everything: ', code(`mailsonde ${command} ${answer.domain} --all`)),
  ]
}
