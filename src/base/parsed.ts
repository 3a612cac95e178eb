import type { Problem } from './problem.ts'

/** The result of a parser: the value, or what was wrong with the text. Parsers never throw. */
export type Parsed<T, Why = Problem> =
  | { readonly ok: true; readonly value: T }
  /** `problem` says what was wrong; `at` is the zero-based index of the fault in the text, if it is known. */
  | { readonly ok: false; readonly problem: Why; readonly at?: number }

export const parsed = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value })

export const problem = <Why>(
  why: Why,
  at?: number,
): { readonly ok: false; readonly problem: Why; readonly at?: number } =>
  at === undefined ? { ok: false, problem: why } : { ok: false, problem: why, at }
