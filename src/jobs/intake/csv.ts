import { CsvError, type Parser, parse } from 'csv-parse'
import { AppError } from '../../base/errors.ts'
import { type Columns, findColumns, type Kind } from './column.ts'
import { headOf } from './octets.ts'
import { badRow, type IntakeRow, isUndecodable, MAX_FIELD } from './row.ts'

/** Columns of a list at most. */
const MAX_COLUMNS = 1_000
/** Octets of one record at most: beyond it a quote was never closed. */
const MAX_RECORD = 16 * 1024 * 1024
/** Records from which the header and the column are told. */
const SAMPLE = 100
/** Characters from which the delimiter is told. */
const DELIMITER_SAMPLE = 16_384
const DELIMITERS = [',', ';', '\t', '|'] as const

/** How a CSV list is laid out: found in its first part, used for the parts that follow. */
export type CsvLayout = { readonly format: 'csv'; readonly delimiter: string } & Columns

type Parsed = { readonly line: number; readonly cells: readonly string[] }

/**
 * The rows of a CSV list as it comes (RFC 4180; any line end, any of four delimiters, stray quotes taken as they are). `found` is called once, before the first
 * row. With a `layout` the text goes on where an earlier part ended, without a header. Throws AppError `bad_list` with the line.
 */
export async function* csvRows(
  text: AsyncIterable<string>,
  about: { readonly kind: Kind; readonly column?: string; readonly layout?: CsvLayout; readonly firstLine: number },
  found: (layout: CsvLayout) => void,
): AsyncIterable<IntakeRow> {
  const { held, whole } = await headOf(text, DELIMITER_SAMPLE)
  const delimiter = about.layout?.delimiter ?? delimiterOf(held.join('').slice(0, 4 * DELIMITER_SAMPLE))
  const records = csvRecords(whole, delimiter, about.firstLine)
  if (about.layout) {
    for await (const record of records) yield rowOf(record, about.layout)
    return
  }
  const { sample, fault } = await sampleOf(records)
  if (sample.length === 0 && fault) throw fault.error
  if (sample.length === 0) return
  const layout: CsvLayout = {
    format: 'csv',
    delimiter,
    ...findColumns(
      about.kind,
      sample.map(({ cells }) => cells),
      about.column,
    ),
  }
  found(layout)
  for (const record of layout.header ? sample.slice(1) : sample) yield rowOf(record, layout)
  if (fault) throw fault.error
  for await (const record of records) yield rowOf(record, layout)
}

type Fault = { readonly error: unknown }

/** The first records. Where the upload breaks off among them, those that came are kept, and the fault is told behind them. */
async function sampleOf(
  records: AsyncIterable<Parsed>,
): Promise<{ readonly sample: readonly Parsed[]; readonly fault?: Fault }> {
  const sample: Parsed[] = []
  try {
    for await (const record of records) {
      sample.push(record)
      if (sample.length === SAMPLE) break // the iterator is gone on with by the caller
    }
    return { sample }
  } catch (error) {
    if (error instanceof AppError) throw error // the list is refused as a whole
    return { sample, fault: { error } }
  }
}

function rowOf({ line, cells }: Parsed, layout: CsvLayout): IntakeRow {
  const width = layout.header?.length
  const text = (): string => cells.map((cell) => cell.slice(0, 200)).join(layout.delimiter)
  if (cells.some((cell) => cell.length > MAX_FIELD))
    return badRow(line, `a field is longer than ${MAX_FIELD} octets`, text())
  if (width !== undefined && cells.length !== width)
    return badRow(line, `${cells.length} columns where the header has ${width}`, text())
  const input = (cells[layout.index] ?? '').trim()
  if (input === '') return badRow(line, 'no address in its column', text())
  if (cells.some(isUndecodable)) return badRow(line, 'octets that are no text in the encoding of the list', text())
  return { ok: true, line, input, columns: cells }
}

/** Records with the line on which each begins. An iterator that was left early can be gone on with. */
function csvRecords(text: AsyncIterable<string>, delimiter: string, firstLine: number): AsyncIterable<Parsed> {
  const progress = { lines: 0 } // records that were parsed and not yet read count too: an error drops them
  const parser = parse({
    delimiter,
    on_record: (record: string[], { lines }) => {
      progress.lines = lines
      return record
    },
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD,
  })
  const fed = feed(text, parser)
  return resumable(readRecords(parser, firstLine - 1, progress, fed))
}

/**
 * Writes a text into the parser, whole lines at a time. Where the text fails, the parser ends behind the last whole line, so that all records before it come;
 * gives the fault then.
 */
async function feed(text: AsyncIterable<string>, parser: Parser): Promise<Fault | undefined> {
  let tail = ''
  try {
    for await (const piece of text) {
      const all = tail + piece
      const end = Math.max(all.lastIndexOf('\n'), all.lastIndexOf('\r', all.length - 2)) + 1
      tail = all.slice(end)
      if (parser.destroyed) return undefined
      if (end > 0 && !parser.write(all.slice(0, end))) await writable(parser)
      if (tail.length > MAX_RECORD) throw new AppError('bad_list', `a line is longer than ${MAX_RECORD} characters`)
    }
    parser.end(tail)
    return undefined
  } catch (error) {
    parser.end()
    return { error }
  }
}

const writable = (parser: Parser): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      parser.off('drain', go).off('close', go)
      resolve()
    }
    parser.once('drain', go).once('close', go)
  })

async function* readRecords(
  parser: AsyncIterable<unknown>,
  before: number,
  progress: { readonly lines: number },
  fed: Promise<Fault | undefined>,
): AsyncIterable<Parsed> {
  let ended = before
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (record.length > MAX_COLUMNS)
        throw new AppError(
          'bad_list',
          `line ${ended + 1} has ${record.length} columns; at most ${MAX_COLUMNS} are taken`,
        )
      ended = before + info.lines
      yield { line: ended - record.reduce((sum, cell) => sum + lineEnds(cell), 0), cells: record }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const fault = await fed
    if (fault) throw fault.error // the quote is open because the upload broke off
    throw new AppError(
      'bad_list',
      `the quote that opens in the record of line ${before + progress.lines + 1} is never closed`,
      { cause: error },
    )
  }
  const fault = await fed
  if (fault) throw fault.error
}

const lineEnds = (cell: string): number => (/[\r\n]/.test(cell) ? (cell.match(/\r\n|\r|\n/g)?.length ?? 0) : 0)

/** `for await` ends an iterator that it leaves early; this one is left and taken up again. */
function resumable<T>(from: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = from[Symbol.asyncIterator]()
  return { [Symbol.asyncIterator]: () => ({ next: () => iterator.next() }) }
}

/** The delimiter that cuts the first lines into equally many cells, and into most; a comma when none does. */
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
