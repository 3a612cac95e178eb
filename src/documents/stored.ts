import type { Change, ChangesAnswer, HistoryAnswer, StoredEntry } from '../answers/stored.ts'
import { counted } from '../base/text.ts'
import { bullets, code, conclude, type Document, facts, heading, type Line, type Mark, quiet, table } from './block.ts'
import { listDocument } from './list.ts'
import { markOfStatus } from './monitors.ts'
import { documentOf } from './words.ts'

const statusLine = ({ status, score }: StoredEntry): Line => [
  { mark: markOfStatus(status), text: status.replaceAll('_', ' ') },
  ...(score === null ? [] : [`, score ${score}`]),
]

/** The stored answers about one name, newest first. */
export const historyDocument = (list: HistoryAnswer, version: string): Document =>
  listDocument(
    { title: 'Stored answers', one: 'answer' },
    list,
    version,
    table(
      'Newest first',
      list.data,
      ['Stored', (one) => ({ time: one.saved_at })],
      ['Kind', ({ kind }) => kind],
      ['About', ({ subject }) => code(subject)],
      ['Status', statusLine],
      ['Path', ({ url }) => code(url)],
      ['Expires', (one) => ({ time: one.expires_at })],
    ),
  )

const EFFECTS: Readonly<Record<Change['effect'], Mark>> = { better: 'good', worse: 'bad', neutral: 'none' }

/** The differences between two stored answers, and what could not be compared. */
export function changesDocument({ from, to, changes, unknown }: ChangesAnswer, version: string): Document {
  const worse = changes.filter(({ effect }) => effect === 'worse').length
  const better = changes.filter(({ effect }) => effect === 'better').length
  const words =
    changes.length === 0
      ? 'Nothing that both answers know has changed.'
      : `${worse} for the worse, ${better} for the better.`
  return documentOf(
    `Changes: ${to.subject}`,
    version,
    conclude(to.subject, worse > 0 ? 'bad' : better > 0 ? 'good' : 'none', counted(changes.length, 'change'), words),
    facts(
      ['Before', [{ time: from.saved_at }, ': ', ...statusLine(from)]],
      ['After', [{ time: to.saved_at }, ': ', ...statusLine(to)]],
    ),
    changes.length > 0 && heading(2, 'What changed'),
    bullets(
      changes.map(({ area, effect, text }) => [
        { mark: EFFECTS[effect], text: effect === 'neutral' ? 'changed' : effect },
        ` ${area}: ${text}`,
      ]),
    ),
    unknown.length > 0 && quiet(`Not compared, because it is unknown in one of the answers: ${unknown.join(', ')}.`),
  )
}
