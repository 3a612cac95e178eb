import { listError } from '../problems.ts'
import { MAX_FIELD, MAX_RECORD } from './row.ts'

/** Maximum number of columns. */
export const MAX_COLUMNS = 1_000

/**
 * A record of a CSV list. `isTooLong`: it has more than {@link MAX_RECORD} characters, and `cells` are only its first
 * ones.
 */
export type CsvRecord = { readonly line: number; readonly cells: readonly string[]; readonly isTooLong: boolean }

/** Characters kept of a cell as it stands in the list, where each quote may be doubled. */
const KEPT_RAW = 2 * (MAX_FIELD + 1)
const [QUOTE, CR, LF] = [0x22, 0x0d, 0x0a]

/**
 * Reads CSV (RFC 4180 §2) piece by piece: CR, LF or both end a record, blank lines are skipped. As spreadsheets do, a
 * quote inside an unquoted cell is a character, and a quoted cell that continues behind its closing quote keeps both
 * quotes. Each character is read once. Of a cell at most {@link MAX_FIELD} characters and one more are kept, and of a
 * record no more than {@link MAX_RECORD}. `firstLine` is the number of the first physical line.
 */
export class CsvReader {
  readonly #delimiter: number
  #found: CsvRecord[] = []
  /** A CR at the end of a piece, which may be the first half of CR LF. */
  #cr = ''
  #line: number
  #begunAt: number
  #cells: string[] = []
  #cell = ''
  /** `quote`: a quote inside a quoted part, which the next character makes the end or half of a doubled one. */
  #state: 'start' | 'plain' | 'quoted' | 'quote' | 'closed' = 'start'
  #isDoubled = false
  #size = 0

  constructor(delimiter: string, firstLine: number) {
    this.#delimiter = delimiter.charCodeAt(0)
    this.#line = firstLine
    this.#begunAt = firstLine
  }

  /**
   * The records that end in this text. Throws AppError `bad_list` for a record of more than {@link MAX_COLUMNS} columns.
   */
  take(piece: string): CsvRecord[] {
    const text = this.#cr + piece
    this.#cr = text.endsWith('\r') ? '\r' : ''
    this.#read(this.#cr === '' ? text : text.slice(0, -1))
    return this.#taken()
  }

  /** The last record, which no line end follows. Throws AppError `bad_list` if a quote is still open. */
  end(): CsvRecord[] {
    this.#read(this.#cr)
    if (this.#state === 'quoted') throw listError('open_quote', { line: this.#begunAt })
    this.#endRecord()
    return this.#taken()
  }

  /** Characters of the record that has not ended. */
  held(): number {
    return Math.min(this.#size, MAX_RECORD)
  }

  #taken(): CsvRecord[] {
    const records = this.#found
    this.#found = []
    return records
  }

  #read(text: string): void {
    for (let at = 0; at < text.length; ) {
      if (this.#state === 'quoted') at = this.#quoted(text, at)
      else if (this.#state === 'quote') at = this.#afterQuote(text, at)
      else if (this.#state === 'start' && text.charCodeAt(at) === QUOTE) {
        this.#state = 'quoted'
        at++
      } else at = this.#plain(text, at)
    }
  }

  /** Reads from `at` to the end of an unquoted cell, and the delimiter or line end that follows it. */
  #plain(text: string, at: number): number {
    let end = at
    let code = text.charCodeAt(end)
    while (end < text.length && code !== this.#delimiter && code !== LF && code !== CR) code = text.charCodeAt(++end)
    if (end > at) {
      this.#add(text.slice(at, end))
      this.#state = 'plain'
    }
    if (end === text.length) return end
    if (code === this.#delimiter) {
      this.#endCell()
      return end + 1
    }
    this.#endRecord()
    this.#line++
    this.#begunAt = this.#line
    return code === CR && text.charCodeAt(end + 1) === LF ? end + 2 : end + 1
  }

  /**
   * Reads from `at` up to and including the next quote that is not doubled, in one part: many small ones would be a
   * chain in memory.
   */
  #quoted(text: string, at: number): number {
    let quote = text.indexOf('"', at)
    while (quote >= 0 && text.charCodeAt(quote + 1) === QUOTE) {
      this.#isDoubled = true
      quote = text.indexOf('"', quote + 2)
    }
    const end = quote < 0 ? text.length : quote
    if (end > at) {
      const part = text.slice(at, end)
      this.#line += lineEnds(part)
      this.#add(part)
    }
    if (quote < 0) return end
    this.#state = 'quote'
    return quote + 1
  }

  /** Judges the quote before `at`. */
  #afterQuote(text: string, at: number): number {
    const next = text.charCodeAt(at)
    if (next === QUOTE) {
      this.#add('""') // split between two pieces
      this.#isDoubled = true
      this.#state = 'quoted'
      return at + 1
    }
    if (next === this.#delimiter || next === CR || next === LF) this.#state = 'closed'
    else if (this.#isUnclosed()) {
      this.#reread()
      this.#state = 'quoted'
    } else {
      this.#cell = `"${this.#plainCell()}`
      this.#add('"')
      this.#state = 'plain'
    }
    return at
  }

  /**
   * Whether the quoted part is the rows behind a quote that nobody closed: it has a line end, and the quote behind it,
   * at the begin of a cell, opens that cell.
   */
  #isUnclosed(): boolean {
    const last = this.#cell.charCodeAt(this.#cell.length - 1)
    const isBegin = last === this.#delimiter || last === CR || last === LF
    return isBegin && this.#cell.length < KEPT_RAW && lineEnds(this.#cell) > 0
  }

  /** Reads the rows behind a quote that nobody closed, which is a character then. */
  #reread(): void {
    const rows = this.#cell
    this.#line -= lineEnds(rows)
    this.#size -= rows.length
    this.#cell = ''
    this.#add('"')
    this.#state = 'plain'
    this.#isDoubled = false
    this.#read(rows)
  }

  #add(text: string): void {
    this.#size += text.length
    if (this.#size <= MAX_RECORD && this.#cell.length < KEPT_RAW)
      this.#cell += text.length > KEPT_RAW ? text.slice(0, KEPT_RAW) : text
  }

  /** The text of the cell so far, whose doubled quotes are single ones from here on. */
  #plainCell(): string {
    const text = this.#isDoubled ? this.#cell.replaceAll('""', '"') : this.#cell
    this.#isDoubled = false
    return text.length > MAX_FIELD + 1 ? text.slice(0, MAX_FIELD + 1) : text
  }

  #endCell(): void {
    if (this.#size <= MAX_RECORD || this.#cells.length === 0) this.#cells.push(this.#plainCell())
    this.#size++
    this.#cell = ''
    this.#isDoubled = false
    this.#state = 'start'
    if (this.#cells.length > MAX_COLUMNS) throw listError('columns', { line: this.#begunAt, max: MAX_COLUMNS })
  }

  #endRecord(): void {
    const isBlank = this.#state === 'start' && this.#cells.length === 0
    if (!isBlank) {
      this.#endCell()
      this.#found.push({ line: this.#begunAt, cells: this.#cells, isTooLong: this.#size - 1 > MAX_RECORD })
    }
    this.#cells = []
    this.#state = 'start'
    this.#size = 0
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
