/** What a parser gives: the value, or what was wrong with the text. Parsers never throw. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `problem` is a sentence for the reader; `at` the zero-based index of the fault in the text, where one is known. */
  | { readonly ok: false; readonly problem: string; readonly at?: number }

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value })

export const problem = <T = never>(text: string, at?: number): Parsed<T> =>
  at === undefined ? { ok: false, problem: text } : { ok: false, problem: text, at }
