import type { z } from 'zod'
import { AppError, ERRORS, type ErrorCode } from '../base/errors.ts'

/**
 * Reads what a face was given into an operation's input. Throws {@link AppError}: a parameter that is missing, unknown, given twice or of no use,
 * the first one in the order in which they were given, missing ones last.
 */
export function readInput<S extends z.ZodObject>(schema: S, raw: Readonly<Record<string, unknown>>): z.output<S> {
  const known = Object.keys(schema.shape)
  for (const [name, value] of Object.entries(raw)) {
    if (!known.includes(name)) {
      throw new AppError(
        'unknown_parameter',
        `${JSON.stringify(name.slice(0, 60))} is not a parameter here; known are ${known.join(', ') || 'none'}`,
        { parameter: name.slice(0, 60) },
      )
    }
    if (Array.isArray(value) && !isList(schema, name))
      throw new AppError('invalid_parameter', `${name} was given ${value.length} times; give it once`, {
        parameter: name,
      })
  }
  for (const name of known) {
    const empty = raw[name] === undefined || (typeof raw[name] === 'string' && raw[name].trim() === '')
    if (empty && !schema.shape[name]!.safeParse(undefined).success) {
      throw new AppError('missing_parameter', `the parameter ${name} is needed`, { parameter: name })
    }
  }
  const result = schema.safeParse(raw)
  if (result.success) return result.data
  const issue = result.error.issues[0]!
  const parameter = String(issue.path[0] ?? '')
  if (issue.code === 'unrecognized_keys')
    throw new AppError('unknown_parameter', `${issue.path.join('.')}: ${issue.message}`, { parameter })
  const code = issue.code === 'custom' ? (issue.params?.code as ErrorCode | undefined) : undefined
  const at = issue.path.length > 1 ? `${issue.path.join('.')}: ` : ''
  throw new AppError(code && code in ERRORS ? code : 'invalid_parameter', `${at || `${parameter}: `}${issue.message}`, {
    parameter,
  })
}

const isList = (schema: z.ZodObject, name: string): boolean =>
  (schema.shape[name] as z.ZodType | undefined)?.meta()?.list === true
