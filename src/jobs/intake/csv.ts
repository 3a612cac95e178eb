import { CsvError, Parser } from 'csv-parse'
import { AppError } from '../../base/errors.ts'
import type { Problem } from '../../base/problem.ts'
import { type Columns, findColumns, type Kind } from './column.ts'
import { headOf } from './octets.ts'
import { listError, rowProblem } from './problems.ts'
import { badRow, type IntakeRow, isUndecodable, MAX_FIELD } from './row.ts'

/** Maximum number of columns. */
const MAX_COLUMNS = 1_000
/** Maximum size of a record, octets; a longer one has a quote that is never closed. */
const MAX_RECORD = 16 * 1024 * 1024
/** Number of records used to detect the header and the column. */
const SAMPLE = 100
/** Number of characters used to detect the delimiter. */
const DELIMITER_SAMPLE = 16_384
const DELIMITERS = [',', ';', '\t', '|'] as const

/** The layout of a CSV list, detected in its first part and used for the following parts. */
export type CsvLayout = { readonly format: 'csv'; readonly delimiter: string } & Columns

type Parsed = { readonly line: number; readonly cells: readonly string[] }

/**
 * The rows of a streamed CSV list (RFC 4180; any line end, any of four delimiters, stray quotes are kept), those of a piece together. `found` is called once,
 * before the first row. With a `layout` the text continues an earlier part, without a header. Throws AppError `bad_list` with the line.
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  about: { readonly kind: Kind; readonly column?: string; readonly layout?: CsvLayout; readonly firstLine: number },
  found: (layout: CsvLayout) => void,
): AsyncIterable<readonly IntakeRow[]> {
  const { held, whole } = await headOf(text, DELIMITER_SAMPLE)
  const delimiter = about.layout?.delimiter ?? delimiterOf(held.join('').slice(0, 4 * DELIMITER_SAMPLE))
  const records = csvRecords(whole, delimiter, about.firstLine)
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
type Beginning = { readonly first: readonly Parsed[]; readonly layout?: CsvLayout; readonly fault?: Fault }

/** The layout and the first rows. If the upload is interrupted among them, the received rows are kept, and the error follows them. */
async function beginOf(
  records: AsyncIterable<readonly Parsed[]>,
  delimiter: string,
  { kind, column }: { readonly kind: Kind; readonly column?: string },
): Promise<Beginning> {
  const first: Parsed[] = []
  let fault: Fault | undefined
  try {
    for await (const some of records) {
      first.push(...some)
      if (first.length >= SAMPLE) break // the caller continues the iterator
    }
  } catch (error) {
    if (error instanceof AppError) throw error // the list is refused as a whole
    fault = { error }
  }
  const rest = fault && { fault }
  if (first.length === 0) return { first, ...rest }
  const sample = first.slice(0, SAMPLE).map(({ cells }) => cells)
  const layout: CsvLayout = { format: 'csv', delimiter, ...findColumns(kind, sample, column) }
  return { first: layout.header ? first.slice(1) : first, layout, ...rest }
}

function rowOf({ line, cells }: Parsed, layout: CsvLayout): IntakeRow {
  const width = layout.header?.length
  const bad = (reason: Problem): IntakeRow =>
    badRow(line, reason, cells.map((cell) => cell.slice(0, 200)).join(layout.delimiter))
  if (cells.some((cell) => cell.length > MAX_FIELD)) return bad(rowProblem('field_too_long', { max: MAX_FIELD }))
  if (width !== undefined && cells.length !== width)
    return bad(rowProblem('columns', { count: cells.length, header: width }))
  const input = (cells[layout.index] ?? '').trim()
  if (input === '') return bad(rowProblem('no_input'))
  if (cells.some(isUndecodable)) return bad(rowProblem('encoding'))
  return { ok: true, line, input, columns: cells }
}

/**
 * Records with the line on which each begins, those of a piece of text together. The parser gets whole lines: if the text fails, the input ends after the last whole line, so
 * that all records before it are returned; then the error is thrown. An iterator that was left early can be resumed.
 */
function csvRecords(
  text: AsyncIterable<string>,
  delimiter: string,
  firstLine: number,
): AsyncIterable<readonly Parsed[]> {
  const parser = recordParser(delimiter, firstLine - 1)
  async function* records(): AsyncIterable<readonly Parsed[]> {
    let tail = '' // an unfinished line: joined once, and not scanned again with each piece
    let cr = '' // a CR at the end, which may be the first half of CR LF
    let fault: Fault | undefined
    const pieces = text[Symbol.asyncIterator]()
    const next = async (): Promise<string | undefined> => {
      try {
        const { done, value } = await pieces.next()
        return done === true ? undefined : value
      } catch (error) {
        fault = { error }
        return undefined
      }
    }
    try {
      for (let piece = await next(); piece !== undefined; piece = await next()) {
        const all = cr + piece
        cr = all.endsWith('\r') ? '\r' : ''
        const body = all.slice(0, all.length - cr.length)
        const end = Math.max(body.lastIndexOf('\n'), body.lastIndexOf('\r')) + 1
        const lines = end > 0 ? tail + body.slice(0, end) : ''
        tail = end > 0 ? body.slice(end) : tail + body
        if (tail.length > MAX_RECORD) throw listError('record_too_long', { max: MAX_RECORD })
        const some = end > 0 ? await parser.take(lines) : []
        if (some.length > 0) yield some
      }
      const last = await parser.end(fault ? '' : tail + cr)
      if (last.length > 0) yield last
    } catch (error) {
      if (!(error instanceof CsvError)) throw error
      if (fault) throw fault.error // the quote is open because the upload was interrupted
      throw listError('open_quote', { line: parser.line() }, { cause: error })
    } finally {
      await pieces.return?.()
    }
    if (fault) throw fault.error
  }
  return resumable(records())
}

type RecordParser = {
  /** The records that are complete with this text. Rejects with CsvError. */
  readonly take: (text: string) => Promise<readonly Parsed[]>
  readonly end: (text: string) => Promise<readonly Parsed[]>
  /** The line after the last record. */
  readonly line: () => number
}

/** Takes the records from the parser directly, because a stream of objects costs several times as much. `before`: number of lines before. */
function recordParser(delimiter: string, before: number): RecordParser {
  let found: Parsed[] = []
  let ended = before
  let wide: AppError | undefined
  class Records extends Parser {
    override push(cells: string[] | null): boolean {
      if (cells === null) return super.push(null)
      const begun = ended
      ended = before + this.info.lines
      if (cells.length > MAX_COLUMNS)
        wide ??= listError('columns', { line: begun + 1, count: cells.length, max: MAX_COLUMNS })
      // The cells of a single-line record contain no line end.
      const inside = ended - begun === 1 ? 0 : cells.reduce((sum, cell) => sum + lineEnds(cell), 0)
      found.push({ line: ended - inside, cells })
      return true
    }
  }
  const parser = new Records({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD,
  })
  parser.on('error', () => {}) // the callbacks report it
  const taken = (give: (done: (error?: Error | null) => void) => void): Promise<readonly Parsed[]> =>
    new Promise((resolve, reject) => {
      give((error) => {
        const fault = wide ?? error
        if (fault) return reject(fault)
        const all = found
        found = []
        resolve(all)
      })
    })
  return {
    take: (text) => taken((done) => parser.write(text, done)),
    end: (text) => taken((done) => parser.end(text, done)),
    line: () => ended + 1,
  }
}

const lineEnds = (cell: string): number => (/[\r\n]/.test(cell) ? (cell.match(/\r\n|\r|\n/g)?.length ?? 0) : 0)

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
