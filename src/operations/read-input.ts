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

/**
 * Reads the input of an adapter as the input of an operation. Throws {@link AppError} for a parameter that is missing, unknown, given twice or invalid: the
 * first one in the order of the input, missing ones last.
 */
export function readInput<P extends Params>(
  params: P,
  schema: z.ZodObject<ShapeOf<P>>,
  raw: Readonly<Record<string, unknown>>,
): InputOf<P> {
  for (const name in raw) {
    const value = raw[name]
    if (!Object.hasOwn(params, name)) {
      const known = Object.keys(params)
      throw inputError('unknown', { name, known, meant: nearest(name, known) }, { parameter: name.slice(0, 60) })
    }
    if (Array.isArray(value) && params[name]?.kind !== 'list')
      throw inputError('twice', { name, count: value.length }, { parameter: name })
  }
  for (const name in params) {
    if (params[name]?.required && isEmpty(raw[name])) throw inputError('missing', { name }, { parameter: name })
  }
  const result = schema.safeParse(raw)
  if (result.success) return result.data
  throw asAppError(result.error.issues[0]!)
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
