import type { BadRowReason } from '../../answers/jobs.ts'
import type { Json } from '../../base/json.ts'
import type { RowProblem } from './problems.ts'

/** One record of a list: the input, and the row's own columns (by position in CSV, by name in NDJSON and JSON). */
export type GoodRow = {
  readonly ok: true
  /** The physical line on which the record begins; 1 is the first line of the file. */
  readonly line: number
  readonly input: string
  readonly columns: readonly string[] | { readonly [name: string]: Json }
}
/** A record that gets no result: the code of the reason ({@link rowProblem}), its sentence, and the beginning of the record. */
export type BadRow = {
  readonly ok: false
  readonly line: number
  readonly reason: BadRowReason
  readonly detail: string
  readonly text: string
}
export type IntakeRow = GoodRow | BadRow

/** Maximum size of a field, octets; a longer one makes its row bad. */
export const MAX_FIELD = 64 * 1024
/** Maximum size of a record in any format, characters; a longer one is a bad row. */
export const MAX_RECORD = 1024 * 1024
/** Maximum number of characters kept of a bad row. */
const KEPT_TEXT = 1_024

export const badRow = (line: number, problem: RowProblem, text: () => string): BadRow => ({
  ok: false,
  line,
  reason: problem.reason,
  detail: problem.text,
  text: text().slice(0, KEPT_TEXT),
})

/** Called with the number of characters that the reader holds of a record that has not ended. */
export type Held = (characters: number) => void

/** Whether a text contains the replacement character of a decoder. */
export const isUndecodable = (text: string): boolean => text.includes('\uFFFD')
