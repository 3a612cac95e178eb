import { isJsonRecord, type Json } from '../../base/json.ts'
import type { Kind } from './column.ts'
import { MAX_COLUMNS } from './csv-records.ts'
import { rowProblem } from './problems.ts'
import { badRow, type Held, type IntakeRow, isUndecodable, MAX_FIELD, MAX_RECORD } from './row.ts'

/** Maximum depth of the JSON of a row: databases and other readers have limits of their own. */
const MAX_DEPTH = 64
/** Characters kept of a line that is too long. */
const KEPT = 1_024

/** The input field of an object. */
export const FIELD: Readonly<Record<Kind, string>> = { verify: 'email', check: 'domain', blacklist: 'ip' }

/** One input per line; blank lines are skipped. */
export async function* textRows(
  text: AsyncIterable<string>,
  firstLine: number,
  held: Held,
): AsyncIterable<readonly IntakeRow[]> {
  for await (const lines of physicalLines(text, firstLine, held)) yield lines.map(textRow)
}

function textRow({ line, text, isTooLong }: Line): IntakeRow {
  const input = text.trim()
  if (isTooLong) return badRow(line, rowProblem('record_too_long', { max: MAX_RECORD }), () => input)
  if (input.length > MAX_FIELD) return badRow(line, rowProblem('field_too_long', { max: MAX_FIELD }), () => input)
  if (isUndecodable(input)) return badRow(line, rowProblem('undecodable'), () => input)
  return { ok: true, line, input, columns: [] }
}

/** One JSON value per line: a string, or an object with the field of the kind; its other fields are the row's own columns. */
export async function* ndjsonRows(
  text: AsyncIterable<string>,
  kind: Kind,
  firstLine: number,
  held: Held,
): AsyncIterable<readonly IntakeRow[]> {
  for await (const lines of physicalLines(text, firstLine, held)) yield lines.map((line) => rowOfJson(kind, line))
}

/** The row of one JSON text. */
export function rowOfJson(kind: Kind, { line, text, isTooLong }: Line): IntakeRow {
  const bad = (problem: Parameters<typeof badRow>[1]): IntakeRow => badRow(line, problem, () => text)
  if (isTooLong) return bad(rowProblem('record_too_long', { max: MAX_RECORD }))
  let item: Json
  try {
    item = JSON.parse(text) as Json
  } catch (error) {
    return bad(rowProblem('not_json', { reason: (error as Error).message }))
  }
  const field = FIELD[kind]
  const { [field]: asked, ...columns } = isJsonRecord(item) ? item : { [field]: item }
  if (typeof asked !== 'string') return bad(rowProblem('no_text', { field }))
  if (asked.trim() === '') return bad(rowProblem('no_address', { field }))
  const others = Object.entries(columns)
  if (others.length >= MAX_COLUMNS) return bad(rowProblem('too_many_fields', { max: MAX_COLUMNS }))
  const isLong = (value: Json | undefined): boolean => typeof value === 'string' && value.length > MAX_FIELD
  if (isLong(asked) || others.some(([name, value]) => isLong(name) || isLong(value)))
    return bad(rowProblem('field_too_long', { max: MAX_FIELD }))
  if (isDeeper(columns, MAX_DEPTH)) return bad(rowProblem('too_deep', { max: MAX_DEPTH }))
  if (isUndecodable(asked)) return bad(rowProblem('undecodable'))
  return { ok: true, line, input: asked.trim(), columns: columns as { readonly [name: string]: Json } }
}

/** Whether a value has more than `levels` objects and arrays inside each other; looks no deeper. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

/** A line, or the item of a JSON list. `isTooLong`: it has more than {@link MAX_RECORD} characters, and `text` is its beginning. */
export type Line = { readonly line: number; readonly text: string; readonly isTooLong: boolean }

/** The lines of a text that are not blank (ended by CR, LF or both), those of a piece together, numbered from `firstLine`. */
async function* physicalLines(
  text: AsyncIterable<string>,
  firstLine: number,
  held: Held,
): AsyncIterable<readonly Line[]> {
  let line = firstLine
  let rest = ''
  let length = 0
  /** A CR at the end of a piece, which may be the first half of CR LF. */
  let cr = ''
  const ended = (part: string): readonly Line[] => {
    const isTooLong = length + part.length > MAX_RECORD
    const one = { line: line++, text: isTooLong ? (rest + part).slice(0, KEPT) : rest + part, isTooLong }
    rest = ''
    length = 0
    return one.text.trim() === '' ? [] : [one]
  }
  for await (const piece of text) {
    const all = cr + piece
    cr = all.endsWith('\r') ? '\r' : ''
    const parts = (cr === '' ? all : all.slice(0, -1)).split(/\r\n|\n|\r/)
    const last = parts.pop()!
    const lines = parts.flatMap(ended)
    length += last.length
    rest = length > MAX_RECORD ? (rest + last).slice(0, KEPT) : rest + last
    held(rest.length)
    if (lines.length > 0) yield lines
  }
  const lines = ended('')
  if (lines.length > 0) yield lines
}
