import type { Json } from '../../base/json.ts'
import type { Problem } from '../../base/problem.ts'

/** One record of a list: the input, and the row's own columns (by position in CSV, by name in NDJSON and JSON). */
export type GoodRow = {
  readonly ok: true
  /** The physical line on which the record begins; 1 is the first line of the file. */
  readonly line: number
  readonly input: string
  readonly columns: readonly string[] | { readonly [name: string]: Json }
}
/** A record that gets no result, with the reason. */
export type BadRow = { readonly ok: false; readonly line: number; readonly reason: string; readonly text: string }
export type IntakeRow = GoodRow | BadRow

/** Maximum size of a field, octets; a longer one makes its row bad. */
export const MAX_FIELD = 64 * 1024
/** Maximum number of characters kept of a bad row. */
const KEPT_TEXT = 1_024

export const badRow = (line: number, reason: Problem, text: string): BadRow => ({
  ok: false,
  line,
  reason: reason.text,
  text: text.slice(0, KEPT_TEXT),
})

/** Whether a text contains the replacement character of a decoder. */
export const isUndecodable = (text: string): boolean => text.includes('\uFFFD')
