import type { BlacklistAnswer, BlacklistBulkAnswer } from '../answers/blacklist.ts'
import { counted } from '../base/text.ts'
import { type Block, type Conclusion, code, type Document, heading, type Line, type Mark } from './block.ts'
import { footerOf } from './footer.ts'
import { combinedGrid, isNotPublic, listingBlocks, NOT_PUBLIC } from './listings.ts'
import { vantageBlocks } from './vantage.ts'

/** The answers of 29 lists about one address: the verdict, each listing with its meaning and where to request removal, and an overview of all lists. */
export const blacklistDocument = (answer: BlacklistAnswer, version: string): Document => ({
  title: `Blacklists: ${answer.ip}`,
  blocks: [
    { kind: 'conclusion', conclusion: conclusionOf(answer) },
    ...combinedGrid(`${answer.total} lists`, [answer]),
    ...vantageBlocks(answer),
    ...(answer.listed === 0 ? [] : [heading(2, 'Where it is listed, and what to do', 'listings')]),
    ...(isNotPublic(answer) ? [] : listingBlocks(answer, 3)),
  ],
  footer: footerOf(version, answer.observed_at, `blacklists ${answer.list_version}`),
})

type Verdict = Pick<Conclusion, 'mark' | 'badge' | 'words'>

/** The verdict on an address. A listing of tier D alone is policy or information, not evidence of spam. */
function verdictOf(answer: BlacklistAnswer): Verdict {
  const { listed, answered, total, verdict } = answer
  if (verdict === 'listed')
    return {
      mark: 'bad',
      badge: 'Listed',
      words: `${counted(listed, 'list')} of ${answered} that answered ${listed === 1 ? 'contains' : 'contain'} this address.`,
    }
  if (listed > 0)
    return {
      mark: 'warn',
      badge: 'Not listed for spam',
      words: `Only policy or informational lists contain this address (${listed} of ${answered} that answered); that is not evidence of spam.`,
    }
  if (isNotPublic(answer)) return { mark: 'open', badge: 'Not a public address', words: NOT_PUBLIC }
  if (answered === 0)
    return {
      mark: 'open',
      badge: 'Unknown',
      words: 'No list answered, so it is not known whether the address is listed.',
    }
  if (verdict === 'clean')
    return { mark: 'good', badge: 'Not listed', words: `None of the ${total} lists contains this address.` }
  return {
    mark: answered * 2 < total ? 'open' : 'good',
    badge: 'Not listed',
    words: `None of the ${answered} lists that answered contains this address; ${total - answered} did not answer.`,
  }
}

const conclusionOf = (answer: BlacklistAnswer): Conclusion => ({
  subject: answer.ip,
  ...verdictOf(answer),
  notes: answer.worst_tier === null ? [] : [[`The most serious listing is of tier ${answer.worst_tier}.`]],
})

/** Maximum number of addresses whose listings are shown individually. */
const MAX_TOLD = 20
const RANK: Readonly<Record<Mark, number>> = { bad: 0, warn: 1, open: 2, busy: 2, none: 3, good: 4 }

/** The answers of the lists about many addresses: how many are listed, each address in one line, then the listings. */
export function blacklistBulkDocument({ data }: BlacklistBulkAnswer, version: string): Document {
  const rows = data.map((answer) => ({ answer, ...verdictOf(answer) })).toSorted((a, b) => RANK[a.mark] - RANK[b.mark])
  const listed = rows.filter(({ mark }) => mark === 'bad')
  const open = rows.filter(({ mark }) => mark === 'open')
  const told = rows.filter(({ answer }) => answer.listed > 0)
  const worst: Mark = listed.length > 0 ? 'bad' : open.length > 0 ? 'open' : 'good'
  const words =
    listed.length === 0 ? 'None is listed' : `${listed.length} of them ${listed.length === 1 ? 'is' : 'are'} listed`
  return {
    title: 'Blacklists',
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: counted(data.length, 'address', 'addresses'),
          mark: worst,
          badge: { bad: 'Listed', open: 'Unknown', good: 'Not listed', warn: '', none: '' }[worst],
          words: open.length === 0 ? `${words}.` : `${words}; for ${open.length} it is not known.`,
          notes: [],
        },
      },
      {
        kind: 'table',
        table: {
          caption: 'Addresses, listed ones first',
          head: ['Address', 'Verdict', 'Listed on', 'Answered'],
          rows: rows.map(({ answer, mark, badge }): Line[] => [
            [code(answer.ip)],
            [{ mark, text: badge }],
            [String(answer.listed)],
            [`${answer.answered} of ${answer.total}`],
          ]),
          numeric: [2],
        },
      },
      ...told.slice(0, MAX_TOLD).map(
        ({ answer, mark, badge }): Block => ({
          kind: 'group',
          look: 'check',
          blocks: [
            { kind: 'heading', level: 2, line: [code(answer.ip), ' ', { mark, text: badge }] },
            ...listingBlocks(answer, 3),
          ],
        }),
      ),
      ...(told.length > MAX_TOLD
        ? [{ kind: 'text', line: [`${told.length - MAX_TOLD} more listed addresses are in the JSON.`] } as const]
        : []),
    ],
    footer: footerOf(version, data[0]?.observed_at, ...(data[0] ? [`blacklists ${data[0].list_version}`] : [])),
  }
}
