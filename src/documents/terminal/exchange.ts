import { columns } from '../../base/columns.ts'
import type { Attempts, Bar, Conversation, Progress } from '../block.ts'
import { SIGNS, STATUS_MARKS } from '../signs.ts'
import { STATUS_WORDS } from '../words.ts'
import { markSpan, span, spansOf } from './inline.ts'
import { barRow } from './pictures.ts'
import { behind, type Look, padded, plain, type Row, rightAligned, rowWidth, wrap } from './span.ts'

/** The progress of work, as a bar with its figures, then each outcome. */
export function progressRows({ label, done, total, parts }: Progress, width: number, look: Look): Row[] {
  const share = total === 0 ? 1 : done / total
  const words = `${done} of ${total} (${Math.floor(share * 100)}%)`
  const room = Math.min(40, width - columns(words) - 2)
  const bar = room < 5 ? [] : [...barRow(share, room, 'good', look), plain('  ')]
  const name = Math.max(0, ...parts.map((part) => columns(part.label))) + 4
  const count = Math.max(0, ...parts.map((part) => String(part.count).length))
  return [
    ...wrap([span(label, look, 'bold')], width),
    ...wrap([...bar, span(words, look)], width),
    ...parts.flatMap(({ label: part, count: number, mark }) => {
      const head = padded([span(`${SIGNS[mark]} ${part}`, look, mark)], name)
      if (name + count > width) return wrap([...head, span(String(number), look)], width)
      return [[...head, ...rightAligned([span(String(number), look)], count)]]
    }),
  ]
}

/** The sides in the notation of RFC 5321. */
const SIDES = { client: 'C:', server: 'S:', note: ' #' } as const

/** Both sides of an SMTP session, each line with its side. */
export function conversationRows({ label, lines }: Conversation, width: number, look: Look): Row[] {
  return [
    ...wrap([span(label, look, 'bold')], width),
    ...lines.flatMap(({ from, text }) => {
      const side = span(`${SIDES[from]} `, look, 'quiet')
      const style = from === 'note' ? 'quiet' : from === 'client' ? 'bold' : 'plain'
      return behind(wrap([span(text, look, style)], Math.max(8, width - columns(side.text))), side)
    }),
  ]
}

/** Attempts in their order. */
export function attemptRows({ label, attempts }: Attempts, width: number, look: Look): Row[] {
  return [
    ...wrap([span(label, look, 'bold')], width),
    ...attempts.flatMap(({ from, to, outcome, reply, notes }, i) => {
      const number = span(`${i + 1}. `, look, 'quiet')
      const inside = Math.max(8, width - columns(number.text))
      const rows = [
        ...wrap([span(from, look), span(' → ', look, 'quiet'), ...spansOf(to, look)], inside),
        ...wrap([markSpan(outcome, look)], inside),
        ...(reply === undefined
          ? []
          : behind(wrap([span(reply, look)], inside - 2), span('│ ', look, 'quiet'), span('│ ', look, 'quiet'))),
        ...notes.flatMap((note) => wrap(spansOf(note, look, 'quiet'), inside)),
      ]
      return behind(rows, number)
    }),
  ]
}

/** The parts of a score, one a line. */
export function barRows(bars: readonly Bar[], width: number, look: Look): Row[] {
  const name = Math.max(0, ...bars.map(({ label }) => columns(label))) + 2
  const figures = bars.map(({ kept, worth }) => (kept === undefined ? '–' : `${Number(kept.toFixed(1))} / ${worth}`))
  const figure = Math.max(0, ...figures.map((one) => columns(one)))
  return bars.flatMap(({ label, kept, worth, status }, i) => {
    const mark = STATUS_MARKS[status]
    const words = markSpan({ mark, text: STATUS_WORDS[status] }, look)
    const room = Math.min(20, width - name - figure - 4 - columns(words.text))
    const bar = room < 5 ? [] : [...barRow((kept ?? 0) / worth, room, mark, look), plain('  ')]
    const row = [...padded([span(label, look)], name), ...bar, ...rightAligned([span(figures[i]!, look)], figure)]
    if (rowWidth(row) + 2 + columns(words.text) <= width) return [[...row, plain('  '), words]]
    return [...wrap(row, width), ...wrap([plain('  '), words], width)] // a sign stays with its words
  })
}
