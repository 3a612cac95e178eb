import { columns } from '../../base/text.ts'
import type { Line, Table } from '../block.ts'
import { type Look, MAX_PROSE, padded, plain, type Row, rightAligned, rowWidth, span, spansOf, wrap } from './inline.ts'

/** Columns between two cells. */
const GAP = 2
/**
 * How the cells of a table that does not fit as it is are folded, in the order in which they are tried: words up to
 * this many columns stay whole, with a gap of this many. Identifiers have up to 26 columns, and host names about as
 * many.
 */
const WAYS = [
  [32, GAP],
  [32, 1],
  [20, GAP],
  [20, 1],
] as const

/** A table in at most `width` columns: side by side if its columns fit, otherwise one cell per line. */
export function tableRows({ caption, head, rows, sum, numeric = [] }: Table, width: number, look: Look): Row[] {
  const all = [...rows, ...(sum ? [sum] : [])]
  const title = wrap([span(caption, look, 'bold')], width)
  if (all.length === 0) return title
  const cells = all.map((row) => head.map((_, i) => spansOf(row[i] ?? [], look)))
  const columnsOf = (measure: (row: Row) => number): readonly number[] =>
    head.map((text, i) => Math.max(measure([span(text, look)]), ...cells.map((row) => measure(row[i]!))))
  const words = columnsOf(longestWord)
  const wanted = columnsOf(rowWidth).map((one, i) => Math.min(one, Math.max(MAX_PROSE, words[i]!)))
  const gap = [GAP, 1].find((one) => total(wanted) + one * (head.length - 1) <= width)
  const fit = gap
    ? { widths: wanted, gap }
    : WAYS.map(([whole, gap]) => widthsOf(wanted, words, { width, whole, gap })).find((one) => one)
  if (!fit) return [...title, ...stacked(head, all, width, look)]
  const laid = (row: readonly Row[]): Row[] => side(row, fit, numeric)
  const rule = fit.widths.map((one) => [span('─'.repeat(one), look, 'quiet')])
  return [
    ...title,
    ...laid(head.map((text) => [span(text, look, 'quiet')])),
    ...laid(rule),
    ...cells.slice(0, rows.length).flatMap(laid),
    ...(sum ? [...laid(rule), ...laid(cells.at(-1)!)] : []),
  ]
}

type Fit = { readonly widths: readonly number[]; readonly gap: number }
type Room = { readonly width: number; readonly whole: number; readonly gap: number }

/**
 * Widths of the columns within `width`: each has room for its longest word, or for `whole` columns of it. The rest
 * makes columns whole, those that need the least first; those that cannot be whole share it. Undefined if it does not
 * fit.
 */
function widthsOf(wanted: readonly number[], words: readonly number[], { width, whole, gap }: Room): Fit | undefined {
  const room = width - gap * (wanted.length - 1)
  const widths = wanted.map((one, i) => Math.min(one, words[i]!, whole))
  if (total(widths) > room) return undefined
  let left = room - total(widths)
  const missing = (i: number): number => wanted[i]! - widths[i]!
  const hungry = [...widths.keys()].filter((i) => missing(i) > 0).sort((a, b) => missing(a) - missing(b))
  while (hungry.length > 0 && missing(hungry[0]!) <= left) {
    const i = hungry.shift()!
    left -= missing(i)
    widths[i] = wanted[i]!
  }
  for (const [n, i] of hungry.entries()) {
    const share = Math.floor(left / (hungry.length - n))
    widths[i]! += share
    left -= share
  }
  return { widths, gap }
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

/** Columns of the longest word; a sign belongs to the word after it. */
const longestWord = (row: Row): number => {
  const words =
    row
      .map(({ text }) => text)
      .join('')
      .match(/(?:^| )[^\p{L}\p{N}] \S+|\S+/gu) ?? []
  return Math.max(0, ...words.map((word) => columns(word.trim())))
}

/** Cells side by side, each wrapped within its column. */
function side(row: readonly Row[], { widths, gap }: Fit, numeric: readonly number[]): Row[] {
  const cells = row.map((cell, i) => wrap(cell, widths[i]!))
  const height = Math.max(...cells.map((cell) => cell.length))
  return [...Array(height).keys()].map((y) =>
    cells.flatMap((cell, i) => {
      const align = numeric.includes(i) ? rightAligned : padded
      return [...(i === 0 ? [] : [plain(' '.repeat(gap))]), ...align(cell[y] ?? [], widths[i]!)]
    }),
  )
}

/** Each row as a list of its cells, by name. */
function stacked(head: readonly string[], rows: readonly (readonly Line[])[], width: number, look: Look): Row[] {
  return rows.flatMap((row, y) => [
    ...(y === 0 ? [] : [[]]),
    ...head.flatMap((name, i) =>
      wrap([...(name === '' ? [] : [span(`${name}: `, look, 'quiet')]), ...spansOf(row[i] ?? [], look)], width),
    ),
  ])
}

/** Names and their values, with the names in a column of their own if there is room. */
export function factRows(rows: readonly (readonly [label: string, line: Line])[], width: number, look: Look): Row[] {
  const labels = rows.map(([label]) => span(label, look, 'quiet'))
  const beside = Math.max(0, ...labels.map(({ text }) => columns(text))) + GAP
  if (beside > width / 2)
    return rows.flatMap(([label, line]) => wrap([span(`${label}: `, look, 'quiet'), ...spansOf(line, look)], width))
  return rows.flatMap(([, line], i) => {
    const spans = spansOf(line, look)
    const room = Math.min(width - beside, Math.max(MAX_PROSE, longestWord(spans)))
    return wrap(spans, room).map((row, y) => [...padded(y === 0 ? [labels[i]!] : [], beside), ...row])
  })
}
