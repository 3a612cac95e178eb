import { messageOf } from '../../base/errors.ts'
import { isJsonRecord, type Json } from '../../base/json.ts'
import { trimmed } from '../../names/pasted-steps.ts'
import { listError, type RowProblem, rowProblem } from '../problems.ts'
import { isDrawn } from './csv.ts'
import { MAX_COLUMNS } from './csv-reader.ts'
import {
  badRow,
  type Held,
  type IntakeRow,
  isUndecodable,
  type Kind,
  looksLike,
  MAX_FIELD,
  MAX_RECORD,
  MOST_WHOLE,
  nameIndex,
  normalize,
  OF_OTHERS,
  rowsOf,
} from './row.ts'

/** Maximum depth of the JSON of a row: databases and other readers have limits of their own. */
const MAX_DEPTH = 64
/** Characters kept of a line that is too long. */
const KEPT = 1_024

/** The input field of an object. */
export const FIELD: Readonly<Record<Kind, string>> = { verify: 'email', check: 'domain', blacklist: 'ip' }

/**
 * One input per line behind `titles` lines; blank and drawn lines are skipped, of a dump of a database all without an
 * `@`.
 */
export async function* textRows(
  text: AsyncIterable<string>,
  kind: Kind,
  firstLine: number,
  titles: number,
  held: Held,
  isDump: boolean,
): AsyncIterable<readonly IntakeRow[]> {
  for await (const lines of physicalLines(text, firstLine, held))
    yield lines.flatMap((one) =>
      one.line < firstLine + titles || isDrawn(one.text) || (isDump && !one.text.includes('@'))
        ? []
        : textRow(kind, one),
    )
}

function textRow(kind: Kind, { line, text, isTooLong }: Line): readonly IntakeRow[] {
  const bad = (problem: RowProblem): readonly IntakeRow[] => [badRow(line, problem, () => text)]
  if (isTooLong) return bad(rowProblem('record_too_long', { max: MAX_RECORD }))
  if (text.length > MAX_FIELD) return bad(rowProblem('field_too_long', { max: MAX_FIELD }))
  if (isUndecodable(text)) return bad(rowProblem('undecodable'))
  if (trimmed(text) === '') return bad(rowProblem('no_input'))
  const rows = rowsOf(kind, { line, cell: text, columns: [] })
  return rows.map((row) => (row.taken && rows.length <= MOST_WHOLE ? { ...row, columns: [text.trim()] } : row))
}

/** A property that has an address: of LDIF by the usual schemas and Thunderbird, EMAIL of vCard. */
const ADDRESS_PROPERTY =
  /^(?:[\w-]{1,40}\.)?(?:e?mail|rfc822mailbox|email-?address|mozillasecondemail)((?:;[^:]{0,500})?)(::?) *(.*)$/is

/**
 * One input per property with an address of LDIF or vCard entries, on the line where it begins; lines that begin with a
 * blank continue it. Entries without one are passed over.
 */
export async function* entryRows(
  text: AsyncIterable<string>,
  kind: Kind,
  firstLine: number,
  held: Held,
): AsyncIterable<readonly IntakeRow[]> {
  let open: Line | undefined
  const ended = (): readonly IntakeRow[] => {
    const line = open
    open = undefined
    return line ? rowsOfProperty(kind, line) : []
  }
  for await (const lines of physicalLines(text, firstLine, held)) {
    const rows: IntakeRow[] = []
    for (const line of lines) {
      if (!/^[ \t]/.test(line.text)) {
        rows.push(...ended())
        if (ADDRESS_PROPERTY.test(line.text)) open = line
      } else if (open && open.text.length <= MAX_FIELD) open = { ...open, text: open.text + line.text.slice(1) }
    }
    yield rows
  }
  yield ended()
}

function rowsOfProperty(kind: Kind, { text, ...line }: Line): readonly IntakeRow[] {
  const [, parameters = '', colons, written = ''] = ADDRESS_PROPERTY.exec(text) ?? []
  const isBase64 = colons === '::' || /;ENCODING=B(?:ASE64)?\b/i.test(parameters)
  const isQuoted = /QUOTED-PRINTABLE/i.test(parameters)
  const unquoted = isQuoted
    ? written.replace(/=([\dA-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : written
  const value = isBase64 ? Buffer.from(written, 'base64').toString('utf8') : unquoted
  return trimmed(value) === '' ? [] : textRow(kind, { ...line, text: value })
}

/**
 * One JSON value per line: a string, or an object with the field of the kind; its other fields are the row's own
 * columns.
 */
export async function* ndjsonRows(
  text: AsyncIterable<string>,
  kind: Kind,
  firstLine: number,
  held: Held,
): AsyncIterable<readonly IntakeRow[]> {
  for await (const lines of physicalLines(text, firstLine, held)) yield lines.flatMap((line) => rowsOfJson(kind, line))
}

function rowsOfJson(kind: Kind, { line, text, isTooLong }: Line): readonly IntakeRow[] {
  const bad = (problem: RowProblem): readonly IntakeRow[] => [badRow(line, problem, () => text)]
  if (isTooLong) return bad(rowProblem('record_too_long', { max: MAX_RECORD }))
  let item: Json
  try {
    item = JSON.parse(text) as Json
  } catch (error) {
    return bad(rowProblem('not_json', { reason: messageOf(error) }))
  }
  const field = (isJsonRecord(item) && fieldOf(kind, item)) || FIELD[kind]
  const { [field]: own, ...columns } = isJsonRecord(item) ? item : { [field]: item }
  const asked = typeof own === 'string' || !isJsonRecord(item) ? own : nestedInput(kind, item)
  if (typeof asked !== 'string') return bad(rowProblem('no_text', { field }))
  if (trimmed(asked) === '') return bad(rowProblem('no_address', { field }))
  const fields = Object.entries(columns)
  if (fields.length >= MAX_COLUMNS) return bad(rowProblem('too_many_fields', { max: MAX_COLUMNS }))
  const isLong = (value: Json | undefined): boolean => typeof value === 'string' && value.length > MAX_FIELD
  if (isLong(asked) || fields.some(([name, value]) => isLong(name) || isLong(value)))
    return bad(rowProblem('field_too_long', { max: MAX_FIELD }))
  if (isDeeper(columns, MAX_DEPTH) || isDeeper(own, MAX_DEPTH)) return bad(rowProblem('too_deep', { max: MAX_DEPTH }))
  if (isUndecodable(asked)) return bad(rowProblem('undecodable'))
  const others = columns as { readonly [name: string]: Json }
  const kept = own === undefined ? {} : { [field]: own }
  const rows = rowsOf(kind, { line, cell: asked, columns: others })
  return rows.map((row) => {
    if ((!row.taken && asked === own) || rows.length > MOST_WHOLE) return row
    return { ...row, columns: row.taken?.includes('shortened') ? kept : { ...kept, ...others } }
  })
}

/**
 * The inputs of an object that has none of its own: in an object within it (`{"properties": {"email": …}}`), or in a list
 * with a usual name (`{"emails": [{"value": …}]}`), joined with commas.
 */
function nestedInput(kind: Kind, item: { readonly [name: string]: Json | undefined }, levels = 2): string | undefined {
  for (const [name, value] of Object.entries(item)) {
    if (OF_OTHERS.test(normalize(name))) continue
    const isNamed = nameIndex(kind, [name]) >= 0
    const found = (Array.isArray(value) && isNamed ? (value as readonly Json[]) : [value]).flatMap((one) => {
      if (typeof one === 'string') return value === one || !looksLike(kind, one) ? [] : [one]
      if (!isJsonRecord(one)) return []
      const field = fieldOf(kind, one) ?? (isNamed ? inputNames(kind, one)[0] : undefined)
      const inner = field === undefined ? (levels > 1 ? nestedInput(kind, one, levels - 1) : undefined) : one[field]
      return typeof inner === 'string' ? [inner] : []
    })
    if (found.length > 0) return found.join(', ')
  }
  return undefined
}

/** The field with the input: that of the kind, or else one with an input and a name of such columns. */
function fieldOf(kind: Kind, item: { readonly [name: string]: Json | undefined }): string | undefined {
  if (item[FIELD[kind]] !== undefined) return FIELD[kind]
  const names = inputNames(kind, item)
  return names[nameIndex(kind, names)]
}

function inputNames(kind: Kind, item: { readonly [name: string]: Json | undefined }): readonly string[] {
  const isInput = (value: Json | undefined): boolean => typeof value === 'string' && looksLike(kind, value)
  return Object.keys(item).filter((name) => isInput(item[name]))
}

/** Whether a value has more than `levels` objects and arrays inside each other; looks no deeper. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

/**
 * A line, or the item of a JSON list. `isTooLong`: it has more than {@link MAX_RECORD} characters, and `text` is its
 * beginning.
 */
type Line = { readonly line: number; readonly text: string; readonly isTooLong: boolean }

/**
 * The lines of a text that are not blank (ended by CR, LF or both), those of a piece together, numbered from
 * `firstLine`.
 */
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

/** Characters that may stand before the first item, and after the last one. */
const [MAX_BEFORE, MAX_AFTER] = [4_096, 16_384]
/** The list alone, or the first list in an object of other values (`{"total": 2, "contacts": [`). */
const LIST_BEGINS = /^\s*(?:\{(?:[{:,\s]|"(?:[^"\\]|\\.)*"|[\w.+-])*:\s*)?\[$/

/**
 * The rows of a streamed `{"items": [...]}`, of the first list in another object without addresses beside it, or of the
 * list alone, those of a piece together. The items are extracted
 * from the stream and parsed one by one, so that a list of any size needs the memory of its largest item. Rows are
 * identified by line: of several items that begin on one line, each after the first counts as a line of its own. Throws
 * AppError `bad_list`, with the line, for text of another form or text that ends early.
 */
export async function* jsonRows(
  text: AsyncIterable<string>,
  kind: Kind,
  firstLine: number,
  held: Held,
): AsyncIterable<readonly IntakeRow[]> {
  const cutter = itemCutter(firstLine)
  for await (const piece of text) {
    const items = cutter.take(piece)
    held(cutter.held())
    if (items.length > 0) yield items.flatMap((item) => rowsOfJson(kind, item))
  }
  cutter.end()
}

/** Extracts the items of the list from pieces of text. */
function itemCutter(firstLine: number) {
  let state: 'before' | 'between' | 'inside' | 'after' = 'before'
  let line = firstLine
  /** What ends the text behind the list: the list may be the text itself, or be one of other values in an object. */
  let ending = /^\s*\}\s*$/
  /** What stands before the items, or after them. */
  let around = ''
  let item = ''
  let length = 0
  let itemLine = firstLine - 1
  let depth = 0
  let inText = false
  let isEscaped = false

  /** Whether the item ended before this character. */
  function isEnd(c: string): boolean {
    if (inText) {
      if (isEscaped) isEscaped = false
      else if (c === '\\') isEscaped = true
      else if (c === '"') inText = false
    } else if (c === '"') inText = true
    else if (c === '{' || c === '[') depth++
    else if ((c === '}' || c === ']') && depth > 0) depth--
    else if (depth === 0 && (c === ',' || c === ']')) return true
    return false
  }
  /**
   * Adds a part of a piece to the item: parts are few, since a text that grew by single characters would be a chain in
   * memory.
   */
  function add(part: string): void {
    length += part.length
    item = length > MAX_RECORD ? (item + part).slice(0, KEPT) : item + part
  }
  function before(c: string): void {
    around += c
    if (around.length > MAX_BEFORE) throw listError('no_items')
    if (c !== '[' || !LIST_BEGINS.test(around)) return
    if (!around.includes('{')) ending = /^\s*$/
    else if (!/^\s*\{\s*"items"/.test(around)) ending = /^[^@]*\}\s*$/
    state = 'between'
    around = ''
  }
  function begin(): void {
    state = 'inside'
    item = ''
    length = 0
    itemLine = Math.max(line, itemLine + 1)
    depth = 0
  }

  function take(piece: string): readonly Line[] {
    const items: Line[] = []
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const c = piece[at]!
      if (state === 'before') before(c)
      else if (state === 'after') {
        around += c
        if (around.length > MAX_AFTER) throw listError('after_items', { line })
      } else if (state === 'between') {
        if (c === ']') state = 'after'
        else if (!/[\s,]/.test(c)) {
          begin()
          from = at
        }
      }
      if (state === 'inside' && isEnd(c)) {
        add(piece.slice(from, at))
        items.push({ line: itemLine, text: item, isTooLong: length > MAX_RECORD })
        item = ''
        state = c === ']' ? 'after' : 'between'
      }
      if (c === '\n') line++
    }
    if (state === 'inside') add(piece.slice(from))
    return items
  }
  function end(): void {
    if (state === 'before' && around.trim() === '') return
    if (state !== 'after') throw listError('items_end', { line })
    if (!ending.test(around)) throw listError('after_items', { line })
  }
  return {
    take,
    end,
    /** Characters of the item that has not ended. */
    held: () => item.length,
  }
}
