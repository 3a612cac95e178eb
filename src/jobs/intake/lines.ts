import { isJsonRecord, type Json } from '../../base/json.ts'
import type { Kind } from './column.ts'
import { listError, rowProblem } from './problems.ts'
import { badRow, type IntakeRow, isUndecodable, MAX_FIELD } from './row.ts'

/** Maximum number of characters of a line of NDJSON; each field has its own limit. */
const MAX_LINE = 1024 * 1024

/** The input field of an object. */
export const FIELD: Readonly<Record<Kind, string>> = { verify: 'email', check: 'domain', blacklist: 'ip' }

/** One input per line; blank lines are skipped. */
export async function* textRows(text: AsyncIterable<string>, firstLine: number): AsyncIterable<readonly IntakeRow[]> {
  for await (const lines of physicalLines(text, firstLine)) yield lines.map(textRow)
}

function textRow({ line, text }: Line): IntakeRow {
  const input = text.trim()
  if (input.length > MAX_FIELD) return badRow(line, rowProblem('line_too_long', { max: MAX_FIELD }), input)
  if (isUndecodable(input)) return badRow(line, rowProblem('encoding'), input)
  return { ok: true, line, input, columns: [] }
}

/** One JSON value per line: a string, or an object with the field of the kind; its other fields are the row's own columns. */
export async function* ndjsonRows(
  text: AsyncIterable<string>,
  kind: Kind,
  firstLine: number,
): AsyncIterable<readonly IntakeRow[]> {
  for await (const lines of physicalLines(text, firstLine))
    yield lines.map(({ line, text: item }) => rowOfJson(kind, line, item))
}

/** The row of one JSON text. */
export function rowOfJson(kind: Kind, line: number, text: string): IntakeRow {
  if (text.length > MAX_LINE) return badRow(line, rowProblem('item_too_long', { max: MAX_LINE }), text)
  let item: Json
  try {
    item = JSON.parse(text) as Json
  } catch (error) {
    return badRow(line, rowProblem('not_json', { reason: (error as Error).message }), text)
  }
  const field = FIELD[kind]
  const { [field]: asked, ...columns } = isJsonRecord(item) ? item : { [field]: item }
  if (typeof asked !== 'string') return badRow(line, rowProblem('no_text', { field }), text)
  if (asked.trim() === '') return badRow(line, rowProblem('no_address', { field }), text)
  if (
    Object.values(item ?? {}).some((value) => typeof value === 'string' && value.length > MAX_FIELD) ||
    asked.length > MAX_FIELD
  )
    return badRow(line, rowProblem('field_too_long', { max: MAX_FIELD }), text)
  if (isUndecodable(asked)) return badRow(line, rowProblem('encoding'), text)
  return { ok: true, line, input: asked.trim(), columns: columns as { readonly [name: string]: Json } }
}

type Line = { readonly line: number; readonly text: string }

/** The lines of a text that are not blank (ended by CR, LF or both), those of a piece together, numbered from `firstLine`. A line over 16 MiB is `bad_list`. */
async function* physicalLines(text: AsyncIterable<string>, firstLine: number): AsyncIterable<readonly Line[]> {
  let line = firstLine
  let rest = ''
  let hasEnd = false // a CR at the end of `rest`
  const numbered = (texts: readonly string[]): readonly Line[] =>
    texts.map((one) => ({ line: line++, text: one })).filter((one) => one.text.trim() !== '')
  for await (const piece of text) {
    // A long line is joined once, and not scanned again with each piece.
    if (hasEnd || /[\r\n]/.test(piece)) {
      const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/) // a CR at the end may be half of CR LF
      rest = lines.pop() ?? ''
      hasEnd = rest.endsWith('\r')
      const some = numbered(lines)
      if (some.length > 0) yield some
    } else rest += piece
    if (rest.length > 16 * MAX_LINE) throw listError('line_too_long', { line, max: 16 * MAX_LINE })
  }
  const last = numbered(rest.split('\r').filter((one) => one !== ''))
  if (last.length > 0) yield last
}
