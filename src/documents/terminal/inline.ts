import { columns, printable, splitAt, withoutCommands } from '../../base/text.ts'
import type { Inline, Line, Mark, Marked } from '../block.ts'
import {
  inWords,
  isPart,
  SEVERITY_MARKS,
  SEVERITY_WORDS,
  SIGNS,
  STATUS_MARKS,
  STATUS_WORDS,
  safeLink,
  wordsFor,
} from '../words.ts'

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

/**
 * External text for a terminal: no control or bidirectional characters, and only ASCII if the terminal supports no
 * more.
 */
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

export type Look = {
  /** Columns, at least {@link LEAST_WIDTH}. */
  readonly width: number
  readonly colour: boolean
  /** Whether it has the 256 colours of xterm in addition to the 16 of its scheme. */
  readonly has256?: boolean
  /** Whether it shows characters beyond ASCII. */
  readonly unicode: boolean
}
export const LEAST_WIDTH = 20
/** Maximum number of columns of a sentence: longer lines are hard to read. */
export const MAX_PROSE = 100

export type Style = Mark | 'plain' | 'bold' | 'quiet' | 'code' | 'record'
/** Text of one style, without control characters. */
type Span = { readonly text: string; readonly style: Style }
export type Row = readonly Span[]

export const plain = (text: string, style: Style = 'plain'): Span => ({ text, style })

export const rowWidth = (row: Row): number => row.reduce((sum, { text }) => sum + columns(text), 0)

/** The row padded on the right to this many columns. */
export const padded = (row: Row, width: number): Row => {
  const missing = width - rowWidth(row)
  return missing > 0 ? [...row, plain(' '.repeat(missing))] : row
}

/** The row padded on the left to this many columns. */
export const rightAligned = (row: Row, width: number): Row => {
  const missing = width - rowWidth(row)
  return missing > 0 ? [plain(' '.repeat(missing)), ...row] : row
}

/** Rows with a prefix: `first` before the first one, `rest` before the others. */
export const behind = (rows: readonly Row[], first: Span, rest: Span = plain(' '.repeat(columns(first.text)))): Row[] =>
  rows.map((row, i) => [i === 0 ? first : rest, ...row])

type Piece = Span & { readonly width: number }

/** Breaks a row at spaces into rows of at most `width` columns; a longer word is broken at the end of the row. */
export function wrap(row: Row, width: number): Row[] {
  const rows: Span[][] = [[]]
  let used = 0
  let spaces: Piece[] = []
  const open = (): void => {
    rows.push([])
    used = 0
    spaces = []
  }
  const put = (piece: Piece): void => {
    rows.at(-1)!.push({ text: piece.text, style: piece.style })
    used += piece.width
  }
  for (const word of wordsOf(row)) {
    if (word.isSpace) {
      if (used > 0 || rows.length === 1) spaces.push(...word.pieces)
      continue
    }
    const gap = widthOf(spaces)
    if (used > 0 && used + gap + widthOf(word.pieces) > width) open()
    else if (gap > 0 && used + gap < width) {
      for (const space of spaces) put(space)
    }
    spaces = []
    for (const piece of word.pieces) {
      let rest: Piece = piece
      while (used + rest.width > width) {
        if (used >= width) open()
        const [taken, left] = splitWord(rest.text, width - used)
        if (used > 0 && columns(taken) > width - used) {
          open()
          continue
        }
        put({ text: taken, style: rest.style, width: columns(taken) })
        rest = { text: left, style: rest.style, width: columns(left) }
        if (left === '') break
        open()
      }
      if (rest.text !== '') put(rest)
    }
  }
  return rows.map(joined)
}

/**
 * A word that is longer than its line is broken after a dot, an @ or a hyphen if there is one in the second half, or if
 * the rest then fits on the next line.
 */
function splitWord(text: string, room: number): readonly [string, string] {
  const [taken, rest] = splitAt(text, room)
  const end = Math.max(...['.', '@', '-'].map((mark) => taken.lastIndexOf(mark))) + 1
  const next = taken.slice(end) + rest
  if (rest === '' || end === 0 || (end < taken.length / 2 && columns(next) > room)) return [taken, rest]
  return [taken.slice(0, end), next]
}

const widthOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { width }) => sum + width, 0)

type Word = { readonly isSpace: boolean; readonly pieces: Piece[] }

/** Words and the spaces between them; a word may have several styles. */
function wordsOf(row: Row): readonly Word[] {
  const words: Word[] = []
  for (const { text, style } of row) {
    for (const part of text.match(/ +|[^ ]+/g) ?? []) {
      const isSpace = part.startsWith(' ')
      const piece = { text: part, style, width: columns(part) }
      const last = words.at(-1)
      if (last?.isSpace === isSpace) last.pieces.push(piece)
      else words.push({ isSpace, pieces: [piece] })
    }
  }
  return words
}

/** Adjacent spans of one style as one span. */
function joined(row: Row): Row {
  const spans: Span[] = []
  for (const span of row) {
    const last = spans.at(-1)
    if (last?.style === span.style) spans[spans.length - 1] = { text: last.text + span.text, style: span.style }
    else spans.push(span)
  }
  return spans
}

/**
 * SGR parameters (ECMA-48 §8.3.117). Of the 16 colours, which the terminal defines, yellow and bright ones are
 * unreadable on white in most schemes.
 */
const SGR: Readonly<Record<Style, string>> = {
  plain: '',
  bold: '1',
  quiet: '2',
  code: '',
  record: '1',
  good: '32',
  warn: '35',
  bad: '31',
  open: '36',
  busy: '36',
  none: '2',
}
/** Of the 256, whose shades are the same everywhere, those that are readable on white and on black. */
export const SHADES = { good: 28, warn: 130, bad: 196, open: 30 } as const

const sgrOf = (style: Style, { colour, has256 }: Look): string => {
  if (!colour) return ''
  const shade = has256 ? Object.entries(SHADES).find(([name]) => name === style)?.[1] : undefined
  return shade === undefined ? SGR[style] : `38;5;${shade}`
}

/** A row as text, without spaces at its end. */
export function paint(row: Row, look: Look): string {
  const text = joined(row)
    .map(({ text, style }) => {
      const sgr = sgrOf(style, look)
      return sgr === '' ? text : `\u001b[${sgr}m${text}\u001b[0m`
    })
    .join('')
  return withoutCommands(text.trimEnd())
}
