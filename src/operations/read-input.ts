import { z } from 'zod'
import { AppError, ERRORS, type ErrorCode } from '../base/errors.ts'
import { nearest } from '../base/nearest.ts'
import type { Problem } from '../base/problem.ts'
import { problemOf } from '../base/schema-issue.ts'
import type { InputOf, Params, ShapeOf } from './param.ts'
import { inputError } from './problems.ts'

/** The schema of the whole input. */
export const schemaOf = <P extends Params>(params: P): z.ZodObject<ShapeOf<P>> => {
  const shape = Object.entries(params).map(([name, { schema }]) => [name, schema])
  return z.object(Object.fromEntries(shape) as ShapeOf<P>) // one schema for each name of P
}

/** Maximum number of problems that an error names. */
const MAX_PROBLEMS = 20

/**
 * Reads the input of an adapter as the input of an operation. Throws {@link AppError} for parameters that are missing, unknown, given twice or invalid: the first one, with all of them
 * if there are several. Unknown ones and those given twice come first, in the order of the input, then missing ones, then invalid ones.
 */
export function readInput<P extends Params>(
  params: P,
  schema: z.ZodObject<ShapeOf<P>>,
  raw: Readonly<Record<string, unknown>>,
): InputOf<P> {
  const wrong: AppError[] = []
  for (const name in raw) {
    const value = raw[name]
    if (wrong.length === MAX_PROBLEMS) break
    if (!Object.hasOwn(params, name)) {
      const known = Object.keys(params)
      const parameter = name.slice(0, 60)
      wrong.push(inputError('unknown', { name, known, meant: nearest(name, known) }, { parameter }))
    } else if (Array.isArray(value) && params[name]?.kind !== 'list')
      wrong.push(inputError('twice', { name, count: value.length }, { parameter: name }))
  }
  for (const name in params) {
    if (params[name]?.required && isEmpty(raw[name])) wrong.push(inputError('missing', { name }, { parameter: name }))
  }
  const result = schema.safeParse(raw)
  if (result.success && wrong.length === 0) return result.data
  const named = new Set(wrong.map(({ parameter }) => parameter))
  for (const issue of result.error?.issues ?? []) {
    const error = asAppError(issue)
    if (!named.has(error.parameter)) wrong.push(error)
  }
  throw firstOf(wrong)
}

/** The first error, which names all if there are several. */
function firstOf(wrong: readonly AppError[]): AppError {
  const [first] = wrong
  if (!first) throw new Error('an input without a problem was refused')
  if (wrong.length === 1) return first
  const { code, problem, parameter, at } = first
  const place = { ...(parameter !== undefined && { parameter }), ...(at !== undefined && { at }) }
  return new AppError(code, problem, { ...place, all: wrong.slice(0, MAX_PROBLEMS) })
}

const isEmpty = (value: unknown): boolean => value === undefined || (typeof value === 'string' && value.trim() === '')

function asAppError(issue: z.core.$ZodIssue): AppError {
  const parameter = String(issue.path[0] ?? '')
  const at = issue.path.map(String).join('.')
  const { code, problem }: { code?: unknown; problem?: Problem } = (issue.code === 'custom' && issue.params) || {}
  const why = problem ?? problemOf(issue)
  if (issue.code === 'unrecognized_keys') return new AppError('unknown_parameter', why, { parameter, at })
  return new AppError(isErrorCode(code) ? code : 'invalid_parameter', why, { parameter, at })
}

const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERRORS, code)
