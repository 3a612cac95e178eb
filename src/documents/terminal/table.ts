import type { Line, Table } from '../block.ts'
import { span, spansOf } from './inline.ts'
import { type Look, padded, plain, type Row, rightAligned, rowWidth, wrap } from './span.ts'
import { columns } from './width.ts'

/** Columns between two cells. */
const GAP = 2
/** Columns that a cell keeps at least, where it has that many. */
const LEAST = 9

/** A table in at most `width` columns: side by side where its columns find room, else one cell a line. */
export function tableRows({ caption, head, rows, sum, numeric = [] }: Table, width: number, look: Look): Row[] {
  const all = [...rows, ...(sum ? [sum] : [])]
  const title = wrap([span(caption, look, 'bold')], width)
  if (all.length === 0) return title
  const cells = all.map((row) => head.map((_, i) => spansOf(row[i] ?? [], look)))
  const widths = widthsOf(
    head.map((text, i) => Math.max(columns(span(text, look).text), ...cells.map((row) => rowWidth(row[i]!)))),
    width,
  )
  if (!widths) return [...title, ...stacked(head, all, width, look)]
  const laid = (row: readonly Row[]): Row[] => side(row, widths, numeric)
  const rule = widths.map((one) => [span('─'.repeat(one), look, 'quiet')])
  return [
    ...title,
    ...laid(head.map((text) => [span(text, look, 'quiet')])),
    ...laid(rule),
    ...cells.slice(0, rows.length).flatMap(laid),
    ...(sum ? [...laid(rule), ...laid(cells.at(-1)!)] : []),
  ]
}

/** Widths of the columns within `width`: those that need little have it, the others share the rest; undefined where a column would be too narrow to read. */
function widthsOf(wanted: readonly number[], width: number): readonly number[] | undefined {
  const room = width - GAP * (wanted.length - 1)
  if (wanted.reduce((sum, one) => sum + one, 0) <= room) return wanted
  if (wanted.reduce((sum, one) => sum + Math.min(one, LEAST), 0) > room) return undefined
  const widths = wanted.map((one) => Math.min(one, LEAST))
  for (let left = room - widths.reduce((sum, one) => sum + one, 0); left > 0; ) {
    const hungry = widths.flatMap((one, i) => (one < wanted[i]! ? [i] : []))
    if (hungry.length === 0) break
    const share = Math.max(1, Math.floor(left / hungry.length))
    for (const i of hungry) {
      const more = Math.min(share, wanted[i]! - widths[i]!, left)
      widths[i]! += more
      left -= more
    }
  }
  return widths
}

/** Cells beside each other, each wrapped within its column. */
function side(row: readonly Row[], widths: readonly number[], numeric: readonly number[]): Row[] {
  const cells = row.map((cell, i) => wrap(cell, widths[i]!))
  const height = Math.max(...cells.map((cell) => cell.length))
  return [...Array(height).keys()].map((y) =>
    cells.flatMap((cell, i) => {
      const align = numeric.includes(i) ? rightAligned : padded
      return [...(i === 0 ? [] : [plain(' '.repeat(GAP))]), ...align(cell[y] ?? [], widths[i]!)]
    }),
  )
}

/** Each row as its cells below each other, by name. */
function stacked(head: readonly string[], rows: readonly (readonly Line[])[], width: number, look: Look): Row[] {
  return rows.flatMap((row, y) => [
    ...(y === 0 ? [] : [[]]),
    ...head.flatMap((name, i) =>
      wrap([...(name === '' ? [] : [span(`${name}: `, look, 'quiet')]), ...spansOf(row[i] ?? [], look)], width),
    ),
  ])
}

/** Names and what is said of each, the names in a column of their own where there is room. */
export function factRows(rows: readonly (readonly [label: string, line: Line])[], width: number, look: Look): Row[] {
  const labels = rows.map(([label]) => span(label, look, 'quiet'))
  const beside = Math.max(0, ...labels.map(({ text }) => columns(text))) + GAP
  if (beside > width / 2)
    return rows.flatMap(([label, line]) => wrap([span(`${label}: `, look, 'quiet'), ...spansOf(line, look)], width))
  return rows.flatMap(([, line], i) =>
    wrap(spansOf(line, look), width - beside).map((row, y) => [...padded(y === 0 ? [labels[i]!] : [], beside), ...row]),
  )
}
