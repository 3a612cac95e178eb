import { escapeUnsafe, printable } from './text.ts'

/** The values of a sentence: data, so that the same sentence can be written in another language. */
type Value = string | number | boolean | undefined | readonly string[] | Problem
type Values = Readonly<Record<string, Value>>

/**
 * What was wrong, as data: the id of a sentence, its values, and the sentence in English. The sentence begins in lower
 * case and has no full stop, so that it can follow a colon.
 */
export type Problem = { readonly id: string; readonly values: Values; readonly text: string }

/** The sentence of a problem within another one. */
export type Say = (problem: Problem) => string

/**
 * A sentence as a pure function of its values. External text is in {@link quoted} or {@link shown}: it is bounded, and
 * cannot control a terminal.
 */
export type Sentence<V> = (values: V, say: Say) => string

/** The values of a sentence, omitted if it has none, and the options. */
export type Given<V, Options> = unknown extends V
  ? [values?: undefined, options?: Options]
  : [values: V, options?: Options]

/** The sentence that the problem already has. */
export const inEnglish: Say = ({ text }) => text

/** The values of a sentence without values. */
const NONE = {}

/** The problem with the sentence `tell`; its values are omitted if the sentence has none. */
export function problemWith<V>(id: string, tell: Sentence<V>, given: V | undefined): Problem {
  const values = (given ?? NONE) as V & Values // `Given` requires the values of every sentence that has some
  return { id, values, text: tell(values, inEnglish) }
}

/**
 * A table of sentences, one for each id of a subject. The returned function makes a problem from an id and the values
 * of its sentence: `lineProblem('too_long', { max: 80 })`. It has the table as a member, for lists of all sentences. A
 * language is one set of such tables: the content of a problem is enough to write it in another language.
 */
export const problemsOf = <V>(subject: string, table: { readonly [Id in keyof V]: Sentence<V[Id]> }) =>
  Object.assign(
    <Id extends keyof V & string>(id: Id, ...[values]: Given<V[Id], never>): Problem =>
      problemWith(`${subject}.${id}`, table[id], values),
    { subject, table },
  )

/** External text in quotes, as in JSON, cut at `max` characters. */
export const quoted = (text: string, max = 60): string =>
  escapeUnsafe(JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text))

/**
 * Text that no stranger controls, such as a path or the name of a parameter: without quotes, printable, cut at `max`
 * characters.
 */
export const shown = (text: string, max = 200): string => printable(text, max)

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

/** The value of a text that is known to be valid, such as a literal. Throws for another. */
export function certain<T>(read: Parsed<T>): T {
  if (!read.ok) throw new TypeError(read.problem.text)
  return read.value
}
