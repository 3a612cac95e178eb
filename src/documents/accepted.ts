import type { AcceptedAnswer } from '../answers/accepted.ts'
import { code, conclude, type Document, facts, type Marked, table } from './block.ts'
import { type List, listDocument } from './list.ts'
import { documentOf } from './words.ts'

const STATES: Readonly<Record<AcceptedAnswer['state'], Marked>> = {
  active: { mark: 'none', text: 'Accepted' },
  ended: { mark: 'open', text: 'Ended' },
}
const subjectOf = ({ domain, label }: AcceptedAnswer): string => domain ?? `label ${label}`

/** An accepted finding: for which domain or label, why, by whom and until when. */
export function acceptedDocument(one: AcceptedAnswer, version: string): Document {
  const { mark, text } = STATES[one.state]
  const words =
    one.state === 'active' ? 'It makes nothing bad and sends no message; the score counts it.' : 'It counts again.'
  return documentOf(
    `Accepted: ${one.finding}`,
    version,
    conclude(`${one.finding} · ${subjectOf(one)}`, mark, text, words),
    facts(
      ['Until', { time: one.until }],
      ['Reason', one.reason],
      ['By', one.by],
      ['Since', { time: one.created_at }],
      ['Severity', one.severity],
      ['Id', code(one.id)],
    ),
  )
}

/** Accepted findings, newest first. */
export const acceptedListDocument = (list: List<AcceptedAnswer>, version: string): Document =>
  listDocument(
    { title: 'Accepted findings', one: 'accepted finding' },
    list,
    version,
    table(
      'Newest first',
      list.data,
      ['Finding', ({ finding }) => code(finding)],
      ['Domain or label', (one) => subjectOf(one)],
      ['State', ({ state }) => STATES[state]],
      ['Until', ({ until }) => until.slice(0, 10)],
      ['Reason', ({ reason }) => reason],
      ['By', ({ by }) => by],
      ['Id', ({ id }) => code(id)],
    ),
  )
