import type { core, z } from 'zod'
import { isJsonRecord } from '../base/json.ts'
import { type Parsed, type Problem, parsed, problem } from '../base/problem.ts'
import { problemOf } from '../base/schema-problems.ts'
import type { AnswerOf } from './answer.ts'
import { answerProblem } from './problems.ts'

/** Maximum number of reported faults of one answer. */
const SHOWN = 3

/**
 * The strict form: a value that was created here. Every declared field must be present and no other, except those with
 * the number of omitted items of a list. Used by tests and where a mismatch is a fault of ours.
 */
export function readStrict<S extends z.ZodType>(schema: S, value: unknown): Parsed<AnswerOf<S>> {
  const read = schema.safeParse(value)
  const faults = read.success ? [] : read.error.issues.filter((issue) => !isAboutCuts(issue))
  return faults.length === 0 ? parsed(value as AnswerOf<S>) : problem(problemOfAll(faults))
}

const isAboutCuts = (issue: core.$ZodIssue): boolean =>
  issue.code === 'unrecognized_keys' && issue.keys.every((key) => key.endsWith(LEFT_OUT))

/**
 * The open form: a value from another service, which may be newer. Declared fields must match the schema, others are
 * passed on unchanged. The problem names the first faults as text, without control characters.
 */
export function readOpen<S extends z.ZodType>(schema: S, value: unknown): Parsed<AnswerOf<S>> {
  const read = schema.safeParse(value)
  const faults = read.success ? [] : read.error.issues.filter(({ code }) => code !== 'unrecognized_keys')
  return faults.length === 0 ? parsed(value as AnswerOf<S>) : problem(problemOfAll(faults))
}

/**
 * {@link readOpen} for an answer that was created here: throws an Error if it does not match, which is a fault of ours.
 */
export function ownAnswer<S extends z.ZodType>(schema: S, value: unknown): AnswerOf<S> {
  const read = readOpen(schema, value)
  if (read.ok) return read.value
  throw new Error(read.problem.text)
}

/**
 * {@link readOpen} without undeclared fields: for answers of a service from which only the declared fields are
 * accepted.
 */
export function readKnown<S extends z.ZodType>(schema: S, value: unknown): Parsed<AnswerOf<S>> {
  const read = schema.safeParse(value)
  if (read.success) return parsed(value as AnswerOf<S>)
  const faults = read.error.issues.filter(({ code }) => code !== 'unrecognized_keys')
  if (faults.length > 0) return problem(problemOfAll(faults))
  const known: unknown = structuredClone(value)
  for (const issue of read.error.issues) if (issue.code === 'unrecognized_keys') leaveOut(known, issue)
  return parsed(known as AnswerOf<S>)
}

function leaveOut(value: unknown, { path, keys }: core.$ZodIssueUnrecognizedKeys): void {
  const holder = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)[key], value)
  for (const key of keys) Reflect.deleteProperty(holder as object, key)
}

function problemOfAll(issues: readonly core.$ZodIssue[]): Problem {
  const faults = issues
    .slice(0, SHOWN)
    .map((issue) => `${issue.path.map(String).join('.') || 'it'}: ${problemOf(issue).text}`)
  return answerProblem('faults', { faults, more: issues.length - faults.length })
}

/** Maximum size of one answer, bytes of JSON. Streams and results of jobs are not single answers. */
export const MAX_ANSWER = 1024 * 1024
/** Maximum size of one text in an answer, bytes of UTF-8. */
export const MAX_TEXT = 4_096
/** The suffix of the field with the number of omitted items: `findings_left_out` beside `findings`. */
const LEFT_OUT = '_left_out'

/**
 * Lengths to which lists are cut, one after the other until the answer fits. The lists of a blacklist answer have 29
 * items.
 */
const LENGTHS = [1_000, 300, 100, 50, 30, 10, 3, 1, 0] as const
/** What any value takes beside its text: null, true, false, the quotes of a text, the brackets and commas of a list. */
const VALUE_BYTES = 6
/** JSON of -1.2345678901234567e-100, less {@link VALUE_BYTES}. */
const NUMBER_BYTES = 20
/** Maximum nesting of objects and lists; deeper values are omitted when an answer is shortened. */
const MAX_DEPTH = 40

/**
 * The answer within {@link MAX_ANSWER} and {@link MAX_TEXT}: the same value if it fits, otherwise a copy in which long
 * texts end in "…" and long lists are cut, the longest first, with the number of omitted items beside them. `read`
 * validates the copy against the schema of the answer.
 */
export function boundAnswer<T>(answer: T, read: (copy: unknown) => Parsed<T>): T {
  if (fits(answer, longestText) || fits(answer, sizeOfText)) return answer
  for (const maxLength of [Number.POSITIVE_INFINITY, ...LENGTHS]) {
    const budget = { bytes: MAX_ANSWER }
    const copy = bounded(answer, maxLength, budget, 0)
    if (budget.bytes < 0) continue
    const cut = read(copy)
    if (cut.ok) return cut.value
    throw new Error(`a shortened answer does not match its schema: ${cut.problem.text}`)
  }
  throw new Error('the answer is too large even after shortening')
}

/** The most bytes of JSON that a text takes, without its quotes: six for each unit, as an escape. */
const longestText = (text: string): number => text.length * 6
/** The same, exact for a text without escapes. */
const sizeOfText = (text: string): number => (isPlain(text) ? text.length : text.length * 6)
const isPlain = (text: string): boolean => /^[ !#-[\]-~]*$/.test(text)

/** Whether the value is within both bounds, by an upper bound of its size; ends early if it is not. */
function fits(value: unknown, textSize: (text: string) => number): boolean {
  const left = { bytes: MAX_ANSWER, isLong: false }
  measure(value, left, textSize, 0)
  return left.bytes >= 0 && !left.isLong
}

type Left = { bytes: number; isLong: boolean }

function measure(value: unknown, left: Left, textSize: (text: string) => number, depth: number): void {
  if (left.bytes < 0 || left.isLong) return
  left.bytes -= VALUE_BYTES
  if (typeof value === 'string') {
    left.bytes -= textSize(value)
    left.isLong ||= value.length * 3 > MAX_TEXT && Buffer.byteLength(value) > MAX_TEXT
  } else if (typeof value === 'number') left.bytes -= NUMBER_BYTES
  else if (Array.isArray(value)) for (const item of value) measure(item, left, textSize, depth + 1)
  else if (isJsonRecord(value))
    for (const name of Object.keys(value)) {
      left.bytes -= textSize(name) + 4 // quotes, colon, comma
      measure(value[name], left, textSize, depth + 1)
    }
  if (depth > MAX_DEPTH) left.isLong = true
}

type Budget = { bytes: number }

/** A copy that subtracts its exact JSON size from the budget, and ends early once that is used up. */
function bounded(value: unknown, maxLength: number, budget: Budget, depth: number): unknown {
  if (budget.bytes < 0 || depth > MAX_DEPTH) return null
  if (typeof value === 'string') return boundedText(value, budget)
  if (Array.isArray(value)) return boundedList(value, maxLength, budget, depth)
  if (isJsonRecord(value)) return boundedRecord(value, maxLength, budget, depth)
  budget.bytes -= JSON.stringify(value)?.length ?? 4
  return value
}

function boundedText(text: string, budget: Budget): string {
  const cut = cutText(text)
  budget.bytes -= Buffer.byteLength(JSON.stringify(cut))
  return cut
}

function cutText(text: string): string {
  if (text.length * 3 <= MAX_TEXT || Buffer.byteLength(text) <= MAX_TEXT) return text
  const bytes = Buffer.from(text.slice(0, MAX_TEXT))
  let end = MAX_TEXT - 3 // room for "…"
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end-- // not within a character
  return `${bytes.subarray(0, end).toString()}…`
}

function boundedList(list: readonly unknown[], maxLength: number, budget: Budget, depth: number): unknown[] {
  const items: unknown[] = []
  budget.bytes -= 2
  for (const item of list) {
    if (items.length >= maxLength || budget.bytes < 0) break
    items.push(bounded(item, maxLength, budget, depth + 1))
    budget.bytes -= 1
  }
  return items
}

function boundedRecord(record: object, maxLength: number, budget: Budget, depth: number): Record<string, unknown> {
  const fields: [string, unknown][] = []
  budget.bytes -= 2
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue
    add(name, bounded(value, maxLength, budget, depth + 1))
    const cut = Array.isArray(value) ? value.length - Math.min(value.length, maxLength) : 0
    if (cut > 0) add(`${name}${LEFT_OUT}`, bounded(cut, maxLength, budget, depth))
    if (budget.bytes < 0) break
  }
  return Object.fromEntries(fields)

  function add(name: string, value: unknown): void {
    budget.bytes -= Buffer.byteLength(JSON.stringify(name)) + 2
    fields.push([name, value])
  }
}
