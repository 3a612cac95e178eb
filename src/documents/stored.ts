import type { Change, ChangesAnswer, HistoryAnswer, StoredEntry } from '../answers/stored.ts'
import { counted } from '../base/text.ts'
import { code, type Document, heading, type Line, type Mark, quiet } from './block.ts'
import { listConclusion, moreBlocks } from './list.ts'
import { markOfStatus } from './monitors.ts'
import { footerOf } from './words.ts'

const statusLine = ({ status, score }: StoredEntry): Line => [
  { mark: markOfStatus(status), text: status.replaceAll('_', ' ') },
  ...(score === null ? [] : [`, score ${score}`]),
]

/** The stored answers about one name, newest first. */
export const historyDocument = ({ data, has_more, next_cursor }: HistoryAnswer, version: string): Document => ({
  title: 'Stored answers',
  blocks: [
    listConclusion('Stored answers', data.length, 'answer', has_more),
    ...(data.length === 0
      ? []
      : [
          {
            kind: 'table',
            table: {
              caption: 'Newest first',
              head: ['Stored', 'Kind', 'About', 'Status', 'Path', 'Expires'],
              rows: data.map((entry): Line[] => [
                [{ time: entry.saved_at }],
                [entry.kind],
                [code(entry.subject)],
                statusLine(entry),
                [code(entry.url)],
                [{ time: entry.expires_at }],
              ]),
            },
          } as const,
        ]),
    ...moreBlocks(next_cursor),
  ],
  footer: footerOf(version),
})

const EFFECTS: Readonly<Record<Change['effect'], Mark>> = { better: 'good', worse: 'bad', neutral: 'none' }

/** The differences between two stored answers, and what could not be compared. */
export function changesDocument({ from, to, changes, unknown }: ChangesAnswer, version: string): Document {
  const worse = changes.filter(({ effect }) => effect === 'worse').length
  const better = changes.filter(({ effect }) => effect === 'better').length
  return {
    title: `Changes: ${to.subject}`,
    blocks: [
      {
        kind: 'conclusion',
        conclusion: {
          subject: to.subject,
          mark: worse > 0 ? 'bad' : better > 0 ? 'good' : 'none',
          badge: counted(changes.length, 'change'),
          words:
            changes.length === 0
              ? 'Nothing that both answers know has changed.'
              : `${worse} for the worse, ${better} for the better.`,
          notes: [],
        },
      },
      {
        kind: 'facts',
        rows: [
          ['Before', [{ time: from.saved_at }, ': ', ...statusLine(from)]],
          ['After', [{ time: to.saved_at }, ': ', ...statusLine(to)]],
        ],
      },
      ...(changes.length === 0
        ? []
        : [
            heading(2, 'What changed'),
            {
              kind: 'list',
              items: changes.map(
                ({ area, effect, text }): Line => [
                  { mark: EFFECTS[effect], text: effect === 'neutral' ? 'changed' : effect },
                  ` ${area}: ${text}`,
                ],
              ),
            } as const,
          ]),
      ...(unknown.length === 0
        ? []
        : [quiet(`Not compared, because it is unknown in one of the answers: ${unknown.join(', ')}.`)]),
    ],
    footer: footerOf(version),
  }
}
