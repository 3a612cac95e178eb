import type { core, z } from 'zod'
import { type Parsed, parsed, problem } from '../base/parsed.ts'
import type { Problem } from '../base/problem.ts'
import { problemOf } from '../base/schema-issue.ts'
import type { AnswerOf } from './answer.ts'
import { LEFT_OUT } from './bound-answer.ts'
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
