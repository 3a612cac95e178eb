import { printable } from '../../base/text.ts'
import type { Inline, Line, Marked } from '../block.ts'
import { isPart, safeLink } from '../links.ts'
import { SEVERITY_MARKS, SIGNS, STATUS_MARKS } from '../signs.ts'
import { inWords } from '../times.ts'
import { SEVERITY_WORDS, STATUS_WORDS, wordsFor } from '../words.ts'
import { type Look, plain, type Row, type Span, type Style } from './span.ts'

/** Maximum number of characters written of one text. */
const MAX_TEXT = 8_192

/** The replacement for a character on an ASCII terminal. */
const ASCII: Readonly<Record<string, string>> = {
  '✓': '+',
  '✕': 'x',
  '–': '-',
  '—': '-',
  '−': '-',
  '·': '-',
  '•': '*',
  '…': '...',
  '§': 'section ',
  '×': 'x',
  '⇄': '<->',
  '→': '->',
  '←': '<-',
  '“': '"',
  '”': '"',
  '‘': "'",
  '’': "'",
  '─': '-',
  '│': '|',
  '├': '|',
  '└': '`',
  '━': '=',
  '█': '#',
  '░': '.',
}
const hex = (character: string): string => `\\u{${character.codePointAt(0)!.toString(16)}}`

/** External text for a terminal: no control or bidirectional characters, and only ASCII if the terminal supports no more. */
export const shown = (text: string, { unicode }: Look): string => {
  const clean = printable(text, MAX_TEXT)
  return unicode ? clean : clean.replace(/[^\x20-\x7e]/gu, (one) => ASCII[one] ?? hex(one))
}

export const span = (text: string, look: Look, style: Style = 'plain'): Span => plain(shown(text, look), style)

/** A line as spans. `style`: that of its plain words. */
export const spansOf = (line: Line, look: Look, style: Style = 'plain'): Row =>
  line.flatMap((one) => spanOf(one, look, style))

export const markSpan = ({ mark, text }: Marked, look: Look): Span => span(`${SIGNS[mark]} ${text}`, look, mark)

function spanOf(one: Inline, look: Look, style: Style): Row {
  if (typeof one === 'string') return [span(one, look, style)]
  if ('code' in one) return [span(one.code === '' ? '(empty)' : one.code, look, style === 'plain' ? 'code' : style)]
  if ('strong' in one) return [span(one.strong, look, 'bold')]
  if ('link' in one) return linkSpans(one.link, one.text, one.named === true, look, style)
  if ('status' in one) return [markSpan({ mark: STATUS_MARKS[one.status], text: STATUS_WORDS[one.status] }, look)]
  if ('time' in one) return [span(inWords(one.time), look, style)]
  if ('severity' in one)
    return [
      span(
        wordsFor(SEVERITY_WORDS, one.severity) ?? one.severity,
        look,
        wordsFor(SEVERITY_MARKS, one.severity) ?? 'none',
      ),
    ]
  return [markSpan(one, look)]
}

/** A terminal cannot follow links, so the URL is written out unless the text is sufficient. */
function linkSpans(href: string, text: string, named: boolean, look: Look, style: Style): Row {
  const url = named || isPart(href) ? undefined : safeLink(href)
  if (url === undefined) return [span(text, look, style)]
  return [span(`${text}: `, look, style), span(url, look, style)]
}
