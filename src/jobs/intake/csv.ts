import { AppError } from '../../base/errors.ts'
import { CHAT_LINE } from '../../names/pasted.ts'
import { trimmed } from '../../names/pasted-steps.ts'
import { listError, type RowProblem, rowProblem } from '../problems.ts'
import { CsvReader, type CsvRecord } from './csv-reader.ts'
import { ENTRIES, headOf, SQL } from './octets.ts'
import {
  badRow,
  type Columns,
  type Counted,
  findColumns,
  type Held,
  type IntakeRow,
  isUndecodable,
  type Kind,
  looksLike,
  MAX_FIELD,
  MAX_RECORD,
  nameIndex,
  rowsOf,
  titleLines,
} from './row.ts'

/**
 * What is used to detect the header and the column: records, or cells or characters of them, whichever is reached
 * first.
 */
const SAMPLE = { records: 100, cells: 5_000, characters: 256 * 1024 }
/** Maximum size of a name in the header, octets. */
const MAX_NAME = 1_024
/** Maximum size of all names in the header, octets. */
const MAX_HEADER = 64 * 1024
/** Number of characters used to detect the delimiter. */
const DELIMITER_SAMPLE = 16_384
/** Those of East Asian and Arabic text, too. */
const DELIMITERS = [',', ';', '\t', '|', '，', '；', '،', '؛'] as const

/** The layout of a CSV list, detected in its first part and used for the following parts. */
export type CsvLayout = {
  readonly format: 'csv'
  readonly delimiter: string
  /** Each record is in quotes as a whole, with this delimiter behind it: a CSV that was one column of a spreadsheet. */
  readonly outer?: string
  /** Of a later table with other columns: the place that each of its cells has among the columns of the first one. */
  readonly places?: readonly number[]
} & Omit<Columns, 'titles'> &
  Counted

/**
 * The rows of a streamed CSV list (RFC 4180; any line end, any of eight delimiters, stray quotes are kept), those of a
 * piece together. `found` is called once, before the first row. With a `layout` the text continues an earlier part,
 * without a header. Throws AppError `bad_list` with the line.
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  about: { readonly kind: Kind; readonly column?: string; readonly layout?: CsvLayout; readonly firstLine: number },
  found: (layout: CsvLayout) => void,
  held: Held,
): AsyncIterable<readonly IntakeRow[]> {
  const { held: start, whole } = await headOf(text, DELIMITER_SAMPLE)
  const sample = start.join('').slice(0, 4 * DELIMITER_SAMPLE)
  const declared = about.layout ? null : DECLARATION.exec(sample)
  const wrapped = about.layout ? undefined : wrappedDelimiter(sample)
  // A program that writes another delimiter than it says is believed by what it writes.
  const isUsed = declared && sample.slice(declared[0].length).includes(declared[1]!)
  const usual = about.layout?.delimiter ?? (isUsed ? declared[1]! : delimiterOf(sample.slice(declared?.[0].length)))
  const [delimiter, outer] = wrapped === undefined ? [usual, about.layout?.outer] : [wrapped, usual]
  const split = declared
    ? csvRecords(without(whole, declared[0].length), outer ?? delimiter, about.firstLine + 1, held)
    : csvRecords(whole, outer ?? delimiter, about.firstLine, held)
  const records = outer === undefined ? split : unwrapped(split, delimiter)
  const read = about.layout ? { first: [], layout: about.layout } : await beginOf(records, delimiter, about)
  const { first, layout, fault } = read
  if (!layout) {
    if (fault) throw fault.error
    return
  }
  const begun = outer === undefined ? layout : { ...layout, outer }
  if (!about.layout) found(begun)
  const tables = tablesReader(about.kind, begun, found)
  if (first.length > 0) yield first.flatMap(tables.take)
  if (fault) throw fault.error
  for await (const some of records) yield some.flatMap(tables.take)
  yield tables.end()
}

/**
 * The rows of records, also of several tables one below the other: a record of names with an address in their column in
 * the next record begins another table. `found` is called with the layout from there on.
 */
function tablesReader(kind: Kind, first: CsvLayout, found: (layout: CsvLayout) => void) {
  let layout = first
  const columns = new Map((first.header ?? []).map((name, at) => [name.toLowerCase(), at]))
  /** A record that may be the header of another table, which the next one shows. */
  let names: CsvRecord | undefined
  const ended = (next?: CsvRecord): readonly IntakeRow[] => {
    if (!names) return []
    const { line, cells } = names
    const index = nameIndex(kind, cells)
    const isTable = next && looksLike(kind, next.cells[index] ?? '')
    const rows = isTable
      ? [badRow(line, rowProblem('header_again'), () => cells.join(layout.delimiter))]
      : rowsOfRecord(kind, names, layout)
    if (isTable) {
      layout = { ...layout, index, places: placesOf(cells, columns) }
      found(layout)
    }
    names = undefined
    return rows
  }
  return {
    take: (record: CsvRecord): readonly IntakeRow[] => {
      const before = names ? ended(record) : []
      if (isNames(kind, record, layout)) {
        names = record
        return before
      }
      const rows = rowsOfRecord(kind, record, layout)
      return before.length === 0 ? rows : [...before, ...rows]
    },
    end: (): readonly IntakeRow[] => ended(),
  }
}

/** Whether a record without an input may be the header of a table. */
function isNames(kind: Kind, { cells, isTooLong }: CsvRecord, { header, index }: CsvLayout): boolean {
  if (!header || isTooLong || cells.length > MAX_NAMES) return false
  if (cells.filter((cell) => trimmed(cell) !== '').length < 2) return false
  const input = cells[index] ?? ''
  if (kind === 'verify' ? input.includes('@') : looksLike(kind, input)) return false
  return (
    cells.every((cell) => cell.length <= MAX_NAME) &&
    nameIndex(kind, cells) >= 0 &&
    !cells.some((cell) => looksLike(kind, cell))
  )
}
/** Number of columns of a later table, of which the names are compared with those of the first one. */
const MAX_NAMES = 100

/** Where the cells of a later table stand among the columns of the first one: by name, else in free columns in order. */
function placesOf(names: readonly string[], columns: ReadonlyMap<string, number>): readonly number[] {
  const named = names.map((name) => columns.get(trimmed(name).toLowerCase()))
  const taken = new Set(named)
  const free = [...columns.values()].filter((at) => !taken.has(at)).values()
  return named.map((at) => at ?? free.next().value ?? columns.size - 1)
}

/** `sep=;` on the first line, by which spreadsheets are told the delimiter. */
const DECLARATION = /^"?sep=([,;\t|])"?[ \t]*(?:\r\n|\r|\n)/i

/** The text without its first characters. */
async function* without(text: AsyncIterable<string>, count: number): AsyncIterable<string> {
  let left = count
  for await (const piece of text) {
    if (piece.length > left) yield piece.slice(left)
    left = Math.max(0, left - piece.length)
  }
}

/**
 * The delimiter within records that are each in quotes as a whole; undefined where they are not. Each line has as many
 * of it, and at most one address: several in one cell stay together.
 */
function wrappedDelimiter(start: string): string | undefined {
  const lines = wholeLines(start.replace(DECLARATION, ''))
  if (lines.length < 2 || !lines.every((line) => WRAPPED.test(line) && line.split('@').length <= 2)) return undefined
  const inside = lines.map((line) => line.slice(1, line.lastIndexOf('"')).replaceAll('""', '"'))
  const delimiter = delimiterOf(inside.join('\n'))
  const counts = new Set(inside.map((line) => line.replace(/"[^"]*"/g, '').split(delimiter).length))
  return counts.size === 1 && !counts.has(1) ? delimiter : undefined
}
/** A line that is one quoted cell and empty ones, without an address in brackets behind its name. */
const WRAPPED = /^"(?:[^"<]|"")*"[,;\t|]*$/

/** The records in the first cells of records whose other cells are empty. */
function unwrapped(
  records: AsyncIterable<readonly CsvRecord[]>,
  delimiter: string,
): AsyncIterable<readonly CsvRecord[]> {
  const inside = (record: CsvRecord): CsvRecord => {
    const [one, ...others] = record.cells
    const cells = others.some((other) => other !== '')
      ? undefined
      : new CsvReader(delimiter, record.line).take(`${one}\n`)[0]?.cells
    return cells ? { ...record, cells } : record
  }
  async function* all(): AsyncIterable<readonly CsvRecord[]> {
    for await (const some of records) yield some.map(inside)
  }
  return resumable(all())
}

type Fault = { readonly error: unknown }
type Beginning = { readonly first: readonly CsvRecord[]; readonly layout?: CsvLayout; readonly fault?: Fault }

/**
 * The layout and the first rows. If the upload is interrupted among them, the received rows are kept, and the error
 * follows them.
 */
async function beginOf(
  records: AsyncIterable<readonly CsvRecord[]>,
  delimiter: string,
  { kind, column }: { readonly kind: Kind; readonly column?: string },
): Promise<Beginning> {
  let first: CsvRecord[] = []
  let fault: Fault | undefined
  try {
    for await (const some of records) {
      for (const record of some) if (!isRule(record.cells)) first.push(record)
      if (sampleOf(first).isFull) break // the caller continues the iterator
    }
  } catch (error) {
    if (error instanceof AppError) throw error // the list is refused as a whole
    fault = { error }
  }
  const rest = fault && { fault }
  if (first.length === 0) return { first, ...rest }
  const width = Math.max(...first.map(({ cells }) => cells.length))
  first = first.map((record) => ({ ...record, cells: insideOf(record.cells, delimiter, width) ?? record.cells }))
  const { titles, ...columns } = findColumns(kind, sampleOf(first).records, column)
  const layout: CsvLayout = { format: 'csv', delimiter, ...columns, ...(titles > 0 && { taken: { titles } }) }
  if (layout.header) refuseLongHeader(layout.header)
  return { first: first.slice(titles + (layout.header ? 1 : 0)), layout, ...rest }
}

/** The first records, and whether more are not needed. */
function sampleOf(records: readonly CsvRecord[]): {
  readonly records: readonly (readonly string[])[]
  readonly isFull: boolean
} {
  const sample: (readonly string[])[] = []
  let [cellCount, characters] = [0, 0]
  for (const { cells } of records) {
    if (sample.length === SAMPLE.records || cellCount >= SAMPLE.cells || characters >= SAMPLE.characters)
      return { records: sample, isFull: true }
    sample.push(cells)
    cellCount += cells.length
    for (const cell of cells) characters += cell.length
  }
  return { records: sample, isFull: false }
}

/** The header is kept with the job. Throws AppError `bad_list` with the number of the column. */
function refuseLongHeader(header: readonly string[]): void {
  let size = 0
  for (const [i, name] of header.entries()) {
    const octets = Buffer.byteLength(name)
    size += octets
    if (octets > MAX_NAME) throw listError('name_too_long', { column: i + 1, max: MAX_NAME })
    if (size > MAX_HEADER) throw listError('header_too_long', { column: i + 1, max: MAX_HEADER })
  }
}

function rowsOfRecord(kind: Kind, { line, cells, isTooLong }: CsvRecord, layout: CsvLayout): readonly IntakeRow[] {
  const { header, index, places } = layout
  if (isRule(cells)) return []
  const bad = (reason: RowProblem): readonly IntakeRow[] => [
    badRow(line, reason, () => cells.map((cell) => cell.slice(0, 200)).join(layout.delimiter)),
  ]
  if (isTooLong) return bad(rowProblem('record_too_long', { max: MAX_RECORD }))
  if (cells.some((cell) => cell.length > MAX_FIELD)) return bad(rowProblem('field_too_long', { max: MAX_FIELD }))
  const width = places?.length ?? header?.length ?? cells.length
  const isUneven = cells.length !== width
  const even = isUneven ? evened(kind, cells, layout, width) : cells
  if (!even) return bad(rowProblem('column_count', { count: cells.length, header: width }))
  const columns = places ? placed(even, places, layout) : even
  const cell = inputOf(even, layout)
  if (trimmed(cell) === '') return bad(rowProblem('no_input'))
  if (cells.some(isUndecodable)) return bad(rowProblem('undecodable'))
  if (header && cell.trim() === header[index] && cells.every((one, i) => trimmed(one) === header[i]))
    return bad(rowProblem('header_again'))
  const rows = rowsOf(kind, { line, cell, columns })
  if (!isUneven && layout.domain === undefined) return rows
  const noted = [...(isUneven ? ['uneven' as const] : []), ...(layout.domain === undefined ? [] : ['joined' as const])]
  return rows.map((row) => ({ ...row, taken: [...(row.taken ?? []), ...noted] }))
}

/** The input of a record: a cell, or a user and a domain of two cells as an address. */
function inputOf(cells: readonly string[], { index, domain }: CsvLayout): string {
  const cell = cells[index] ?? ''
  if (domain === undefined || cell.includes('@')) return cell
  const host = trimmed(cells[domain] ?? '').replace(/^@/, '')
  return host === '' || trimmed(cell) === '' ? '' : `${trimmed(cell)}@${host}`
}

/** The cells of a record of a later table among the columns of the first one. */
function placed(cells: readonly string[], places: readonly number[], { header, delimiter }: CsvLayout) {
  const columns: string[] = (header ?? []).map(() => '')
  for (const [i, at] of places.entries())
    columns[at] = columns[at] === '' ? cells[i]! : `${columns[at]}${delimiter}${cells[i]}`
  return columns
}

/** The `width` cells in the one cell of a record that is in quotes as a whole; undefined where it has others. */
function insideOf(cells: readonly string[], delimiter: string, width: number): readonly string[] | undefined {
  if (cells.length !== 1 || !cells[0]!.includes(delimiter)) return undefined
  const inside = new CsvReader(delimiter, 1).take(`${cells[0]}\n`)[0]?.cells
  return inside?.length === width ? inside : undefined
}

const isRule = (cells: readonly string[]): boolean =>
  cells.every((cell) => isDrawn(cell) || trimmed(cell) === '') && cells.some((cell) => isDrawn(cell))

/**
 * The cells of a record with another number of them than the header, as many as that. A missing cell is empty; surplus
 * cells are joined: those in front of an address that they moved, otherwise those at the end. Undefined where the column
 * has no input.
 */
function evened(
  kind: Kind,
  cells: readonly string[],
  { index, delimiter }: CsvLayout,
  width: number,
): readonly string[] | undefined {
  const inside = insideOf(cells, delimiter, width)
  if (inside) return inside
  const surplus = cells.length - width
  if (looksLike(kind, cells[index] ?? '')) {
    if (surplus < 0) return Array.from({ length: width }, (_, i) => cells[i] ?? '')
    const rest = cells.slice(width - 1)
    while (rest.length > 1 && trimmed(rest.at(-1)!) === '') rest.pop()
    return [...cells.slice(0, width - 1), rest.join(delimiter)]
  }
  if (surplus < 0 || !looksLike(kind, cells[index + surplus] ?? '')) return undefined
  return [cells.slice(0, surplus + 1).join(delimiter), ...cells.slice(surplus + 1)]
}

/**
 * Records with the line on which each begins, those of a piece of text together. If the text fails, the records that
 * had ended are returned; then the error is thrown. An iterator that was left early can be resumed.
 */
function csvRecords(
  text: AsyncIterable<string>,
  delimiter: string,
  firstLine: number,
  held: Held,
): AsyncIterable<readonly CsvRecord[]> {
  const reader = new CsvReader(delimiter, firstLine)
  async function* records(): AsyncIterable<readonly CsvRecord[]> {
    for await (const piece of text) {
      const some = reader.take(piece)
      held(reader.held())
      if (some.length > 0) yield some
    }
    const last = reader.end()
    if (last.length > 0) yield last
  }
  return resumable(records())
}

/** Without `return`: `for await` would end an iterator that it leaves early, and this one is resumed. */
function resumable<T>(from: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = from[Symbol.asyncIterator]()
  return { [Symbol.asyncIterator]: () => ({ next: () => iterator.next() }) }
}

/**
 * Whether a text is a line between the rows of a table that is drawn with characters, around a block of code of Markdown,
 * or the number of rows below the answer of a database. Linear: a hostile one has as many dashes as a record may have.
 */
export const isDrawn = (text: string): boolean =>
  (/^[\s|+:=-]+$/.test(text) && text.includes('--')) ||
  /^\s{0,100}```\w{0,40}\s{0,100}$/.test(text) ||
  /^\s{0,100}\(?\d{1,12} (?:rows?|row\(s\)|records?)(?: in set| affected| selected)?[.)]?(?: \(\d[^()@]{0,40}\))?\s{0,100}$/.test(
    text,
  )

/**
 * Whether a text is a table: it has `sep=` on its first line, names of columns over addresses, or as many cells in each
 * record that has an address, which is always in the same one.
 */
function isTable(start: string): boolean {
  const declared = DECLARATION.exec(start)
  if (declared) return true
  if (CHAT_LINE.test(start.trimStart().slice(0, 100))) return false
  const records = firstRecords(start, delimiterOf(start)).filter((cells) => !isRule(cells))
  const inputs = records.map((cells) => cells.flatMap((cell, i) => (looksLike('verify', cell) ? [i] : [])))
  const isHeader = (cells: readonly string[], at: number): boolean => {
    if (inputs[at]!.length > 0 || cells.filter((cell) => trimmed(cell) !== '').length < 2) return false
    const index = nameIndex('verify', cells)
    return index >= 0 && inputs.slice(at + 1).some((found) => found.includes(index))
  }
  if (records.slice(0, 20).some(isHeader)) return true
  const rows = records.filter((cells, i) => cells.length > 1 && (i === 0 || inputs[i]!.length > 0))
  const places = new Set(inputs.filter(({ length }) => length > 0).map(String))
  const widths = rows.map(({ length }) => length)
  // Some programs end each line with a delimiter.
  const isEven = rows.length > 1 && Math.max(...widths) - Math.min(...widths) <= 1
  return isEven && places.size === 1 && !String([...places]).includes(',')
}

/** The first whole records of the beginning of a text. */
function firstRecords(start: string, delimiter: string): readonly (readonly string[])[] {
  const reader = new CsvReader(delimiter, 1)
  try {
    const records = reader.take(start)
    return (start.length < DELIMITER_SAMPLE ? [...records, ...reader.end()] : records).map(({ cells }) => cells)
  } catch {
    return [] // too many columns, or a quote that never ends
  }
}

/** The first 20 lines that are neither blank nor drawn. The last one of the sample may go on, and is left out. */
function wholeLines(start: string): readonly string[] {
  const all = start.split(/\r\n|\r|\n/)
  const whole = start.length < DELIMITER_SAMPLE ? all : all.slice(0, -1)
  return whole.filter((line) => line.trim() !== '' && !isDrawn(line)).slice(0, 20)
}

/** Whether a text is one line of addresses and nothing else: as a table it would be one address. */
function isOneLine(start: string): boolean {
  const [line = '', ...others] = wholeLines(start)
  const cells = line.split(/[,;]/).filter((cell) => cell.trim() !== '')
  return others.length === 0 && cells.length > 1 && cells.every((cell) => looksLike('verify', cell))
}

const JSON_LIST = /^\s*\{(?:[{:,\s]|"[^"\n]{0,200}"|[\w.+-]){1,1000}:\s*\[\s*["{]/
const JSON_ARRAY = /^\s*\[\s*["{]/
const JSON_LINES = /^\s*\{\s*"(?!items"\s*:)[^"\n]{0,200}"\s*:[^\n]*\}[ \t]*(?:\r?\n|$)/

/** The format of a text that is declared as a table or as one input a line, and the text again. */
export async function formatOfText(
  text: AsyncIterable<string>,
  kind: Kind,
  declared: 'csv' | 'text',
): Promise<{
  readonly format: 'csv' | 'text' | 'ndjson' | 'json' | 'entries' | 'sql'
  readonly titles: number
  readonly whole: AsyncIterable<string>
}> {
  const { held, whole } = await headOf(text, DELIMITER_SAMPLE)
  const start = held.join('').slice(0, DELIMITER_SAMPLE)
  const isList = JSON_LIST.test(start)
  if (JSON_LINES.test(start) && !(isList && isWrapper(start, kind))) return { format: 'ndjson', titles: 0, whole }
  if (isList || (JSON_ARRAY.test(start) && isJson(start))) return { format: 'json', titles: 0, whole }
  if (kind === 'verify' && ENTRIES.test(start)) return { format: 'entries', titles: 0, whole }
  if (kind === 'verify' && SQL.test(start)) return { format: 'sql', titles: 0, whole }
  const isCsv = declared === 'csv' && !(kind === 'verify' && isOneLine(start))
  if (isCsv || (kind === 'verify' && isTable(start))) return { format: 'csv', titles: 0, whole }
  return { format: 'text', titles: titleLines(kind, start.split(/\r\n|\r|\n/)), whole }
}

/** Whether a text is one object around a list: not one with an input of its own, and not several objects. */
function isWrapper(start: string, kind: Kind): boolean {
  if (/\}\s*[\r\n]\s*\{/.test(start)) return false
  try {
    const values: readonly unknown[] = Object.values(JSON.parse(start))
    return !values.some((value) => typeof value === 'string' && looksLike(kind, value))
  } catch {
    return true
  }
}

/** Whether a text is JSON, as far as its beginning shows it. */
function isJson(start: string): boolean {
  if (start.length === DELIMITER_SAMPLE) return true
  try {
    JSON.parse(start)
    return true
  } catch {
    return false
  }
}

/** The delimiter that splits the first lines into equal numbers of cells, and into the most; a comma if none does. */
export function delimiterOf(start: string): string {
  const lines = start
    .replace(/"(?:[^"]|"")*"|&(?:#\w{1,6}|[a-z]{2,6});/gi, '-')
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
    .slice(0, 20)
  const scores = DELIMITERS.map((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    const [usual, same] = usualOf(counts.filter((count) => count > 0))
    return { delimiter, score: usual === 0 ? 0 : (same / lines.length) * 1_000 + Math.min(999, usual) }
  })
  const best = scores.reduce((a, b) => (b.score > a.score ? b : a))
  return best.score > 0 ? best.delimiter : ','
}

/** The most frequent number, and how often it is there. */
function usualOf(numbers: readonly number[]): readonly [usual: number, times: number] {
  const groups = [...Map.groupBy(numbers, (one) => one)].map(([one, all]) => [one, all.length] as const)
  return groups.reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])
}
