import { listError } from './problems.ts'
import { MAX_FIELD, MAX_RECORD } from './row.ts'

/** Maximum number of columns. */
export const MAX_COLUMNS = 1_000

/** A record of a CSV list. `isTooLong`: it has more than {@link MAX_RECORD} characters, and `cells` are only its first ones. */
export type CsvRecord = { readonly line: number; readonly cells: readonly string[]; readonly isTooLong: boolean }

export type CsvReader = {
  /** The records that end in this text. Throws AppError `bad_list` for a record of more than {@link MAX_COLUMNS} columns. */
  readonly take: (text: string) => CsvRecord[]
  /** The last record, which no line end follows. Throws AppError `bad_list` if a quote is still open. */
  readonly end: () => CsvRecord[]
  /** Characters of the record that has not ended. */
  readonly held: () => number
}

/** Characters kept of a cell as it stands in the list, where each quote may be doubled. */
const KEPT_RAW = 2 * (MAX_FIELD + 1)
const [QUOTE, CR, LF] = [0x22, 0x0d, 0x0a]

/**
 * Reads CSV (RFC 4180 §2) piece by piece: CR, LF or both end a record, blank lines are skipped. As spreadsheets do, a quote inside an unquoted cell is a character, and a quoted cell
 * that continues behind its closing quote keeps both quotes. Each character is read once. Of a cell at most {@link MAX_FIELD} characters and one more are
 * kept, and of a record no more than {@link MAX_RECORD}. `firstLine` is the number of the first physical line.
 */
export function csvReader(delimiter: string, firstLine: number): CsvReader {
  const separator = delimiter.charCodeAt(0)
  let found: CsvRecord[] = []
  /** A CR at the end of a piece, which may be the first half of CR LF. */
  let cr = ''
  let line = firstLine
  let begunAt = firstLine
  let cells: string[] = []
  let cell = ''
  /** `quote`: a quote inside a quoted part, which the next character makes the end or half of a doubled one. */
  let state: 'start' | 'plain' | 'quoted' | 'quote' | 'closed' = 'start'
  let isDoubled = false
  let size = 0

  function add(text: string): void {
    size += text.length
    if (size <= MAX_RECORD && cell.length < KEPT_RAW) cell += text.length > KEPT_RAW ? text.slice(0, KEPT_RAW) : text
  }
  /** The text of the cell so far, whose doubled quotes are single ones from here on. */
  function plainCell(): string {
    const text = isDoubled ? cell.replaceAll('""', '"') : cell
    isDoubled = false
    return text.length > MAX_FIELD + 1 ? text.slice(0, MAX_FIELD + 1) : text
  }
  function endCell(): void {
    if (size <= MAX_RECORD || cells.length === 0) cells.push(plainCell())
    size++
    cell = ''
    isDoubled = false
    state = 'start'
    if (cells.length > MAX_COLUMNS) throw listError('columns', { line: begunAt, max: MAX_COLUMNS })
  }
  function endRecord(): void {
    const isBlank = state === 'start' && cells.length === 0
    if (!isBlank) {
      endCell()
      found.push({ line: begunAt, cells, isTooLong: size - 1 > MAX_RECORD })
    }
    cells = []
    state = 'start'
    size = 0
  }

  /** Reads from `at` up to and including the next quote that is not doubled, in one part: many small ones would be a chain in memory. */
  function quoted(text: string, at: number): number {
    let quote = text.indexOf('"', at)
    while (quote >= 0 && text.charCodeAt(quote + 1) === QUOTE) {
      isDoubled = true
      quote = text.indexOf('"', quote + 2)
    }
    const end = quote < 0 ? text.length : quote
    if (end > at) {
      const part = text.slice(at, end)
      line += lineEnds(part)
      add(part)
    }
    if (quote < 0) return end
    state = 'quote'
    return quote + 1
  }

  /** Judges the quote before `at`. */
  function afterQuote(text: string, at: number): number {
    const next = text.charCodeAt(at)
    if (next === QUOTE) {
      add('""') // split between two pieces
      isDoubled = true
      state = 'quoted'
      return at + 1
    }
    if (next === separator || next === CR || next === LF) state = 'closed'
    else {
      cell = `"${plainCell()}`
      add('"')
      state = 'plain'
    }
    return at
  }

  /** Reads from `at` to the end of an unquoted cell, and the delimiter or line end that follows it. */
  function plain(text: string, at: number): number {
    let end = at
    let code = text.charCodeAt(end)
    while (end < text.length && code !== separator && code !== LF && code !== CR) code = text.charCodeAt(++end)
    if (end > at) {
      add(text.slice(at, end))
      state = 'plain'
    }
    if (end === text.length) return end
    if (code === separator) {
      endCell()
      return end + 1
    }
    endRecord()
    line++
    begunAt = line
    return code === CR && text.charCodeAt(end + 1) === LF ? end + 2 : end + 1
  }

  function read(text: string): CsvRecord[] {
    for (let at = 0; at < text.length; ) {
      if (state === 'quoted') at = quoted(text, at)
      else if (state === 'quote') at = afterQuote(text, at)
      else if (state === 'start' && text.charCodeAt(at) === QUOTE) {
        state = 'quoted'
        at++
      } else at = plain(text, at)
    }
    const records = found
    found = []
    return records
  }

  return {
    take: (piece) => {
      const text = cr + piece
      cr = text.endsWith('\r') ? '\r' : ''
      return read(cr === '' ? text : text.slice(0, -1))
    },
    end: () => {
      const records = read(cr)
      if (state === 'quoted') throw listError('open_quote', { line: begunAt })
      endRecord()
      records.push(...found)
      return records
    },
    held: () => Math.min(size, MAX_RECORD),
  }
}

/** CR, LF and CR LF in a text, each counted once. */
function lineEnds(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === LF || (code === CR && text.charCodeAt(at + 1) !== LF)) count++
  }
  return count
}
