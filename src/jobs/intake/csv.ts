import { AppError } from '../../base/errors.ts'
import { type Columns, findColumns, type Kind } from './column.ts'
import { type CsvRecord, csvReader } from './csv-records.ts'
import { headOf } from './octets.ts'
import { listError, type RowProblem, rowProblem } from './problems.ts'
import { badRow, type Held, type IntakeRow, isUndecodable, MAX_FIELD, MAX_RECORD } from './row.ts'

/** What is used to detect the header and the column: records, or cells or characters of them, whichever is reached first. */
const SAMPLE = { records: 100, cells: 5_000, characters: 256 * 1024 }
/** Maximum size of a name in the header, octets. */
const MAX_NAME = 1_024
/** Maximum size of all names in the header, octets. */
const MAX_HEADER = 64 * 1024
/** Number of characters used to detect the delimiter. */
const DELIMITER_SAMPLE = 16_384
const DELIMITERS = [',', ';', '\t', '|'] as const

/** The layout of a CSV list, detected in its first part and used for the following parts. */
export type CsvLayout = { readonly format: 'csv'; readonly delimiter: string } & Columns

/**
 * The rows of a streamed CSV list (RFC 4180; any line end, any of four delimiters, stray quotes are kept), those of a piece together. `found` is called once,
 * before the first row. With a `layout` the text continues an earlier part, without a header. Throws AppError `bad_list` with the line.
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  about: { readonly kind: Kind; readonly column?: string; readonly layout?: CsvLayout; readonly firstLine: number },
  found: (layout: CsvLayout) => void,
  held: Held,
): AsyncIterable<readonly IntakeRow[]> {
  const { held: start, whole } = await headOf(text, DELIMITER_SAMPLE)
  const delimiter = about.layout?.delimiter ?? delimiterOf(start.join('').slice(0, 4 * DELIMITER_SAMPLE))
  const records = csvRecords(whole, delimiter, about.firstLine, held)
  const read = about.layout ? { first: [], layout: about.layout } : await beginOf(records, delimiter, about)
  const { first, layout, fault } = read
  if (!layout) {
    if (fault) throw fault.error
    return
  }
  if (!about.layout) found(layout)
  if (first.length > 0) yield first.map((record) => rowOf(record, layout))
  if (fault) throw fault.error
  for await (const some of records) yield some.map((record) => rowOf(record, layout))
}

type Fault = { readonly error: unknown }
type Beginning = { readonly first: readonly CsvRecord[]; readonly layout?: CsvLayout; readonly fault?: Fault }

/** The layout and the first rows. If the upload is interrupted among them, the received rows are kept, and the error follows them. */
async function beginOf(
  records: AsyncIterable<readonly CsvRecord[]>,
  delimiter: string,
  { kind, column }: { readonly kind: Kind; readonly column?: string },
): Promise<Beginning> {
  const first: CsvRecord[] = []
  let fault: Fault | undefined
  try {
    for await (const some of records) {
      for (const record of some) first.push(record)
      if (sampleOf(first).isFull) break // the caller continues the iterator
    }
  } catch (error) {
    if (error instanceof AppError) throw error // the list is refused as a whole
    fault = { error }
  }
  const rest = fault && { fault }
  if (first.length === 0) return { first, ...rest }
  const layout: CsvLayout = { format: 'csv', delimiter, ...findColumns(kind, sampleOf(first).records, column) }
  if (layout.header) refuseLongHeader(layout.header)
  return { first: layout.header ? first.slice(1) : first, layout, ...rest }
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

function rowOf({ line, cells, isTooLong }: CsvRecord, layout: CsvLayout): IntakeRow {
  const width = layout.header?.length
  const bad = (reason: RowProblem): IntakeRow =>
    badRow(line, reason, () => cells.map((cell) => cell.slice(0, 200)).join(layout.delimiter))
  if (isTooLong) return bad(rowProblem('record_too_long', { max: MAX_RECORD }))
  if (cells.some((cell) => cell.length > MAX_FIELD)) return bad(rowProblem('field_too_long', { max: MAX_FIELD }))
  if (width !== undefined && cells.length !== width)
    return bad(rowProblem('column_count', { count: cells.length, header: width }))
  const input = (cells[layout.index] ?? '').trim()
  if (input === '') return bad(rowProblem('no_input'))
  if (cells.some(isUndecodable)) return bad(rowProblem('undecodable'))
  return { ok: true, line, input, columns: cells }
}

/**
 * Records with the line on which each begins, those of a piece of text together. If the text fails, the records that had ended are returned; then the error is thrown. An iterator
 * that was left early can be resumed.
 */
function csvRecords(
  text: AsyncIterable<string>,
  delimiter: string,
  firstLine: number,
  held: Held,
): AsyncIterable<readonly CsvRecord[]> {
  const reader = csvReader(delimiter, firstLine)
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

/** The delimiter that splits the first lines into equal numbers of cells, and into the most; a comma if none does. */
export function delimiterOf(start: string): string {
  const lines = start
    .replace(/"(?:[^"]|"")*"/g, '')
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
    .slice(0, 20)
  const scores = DELIMITERS.map((delimiter) => {
    const counts = lines.map((line) => line.split(delimiter).length - 1)
    const same = counts.filter((count) => count === counts[0]).length / Math.max(1, counts.length)
    return { delimiter, score: (counts[0] ?? 0) === 0 ? 0 : same * 1_000 + Math.min(999, counts[0]!) }
  })
  const best = scores.reduce((a, b) => (b.score > a.score ? b : a))
  return best.score > 0 ? best.delimiter : ','
}
