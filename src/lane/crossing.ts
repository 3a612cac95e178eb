import { AppError, type ErrorCode } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'

/** The error of a reader as data: a structured clone would lose its class. */
export type CrossedError =
  | { readonly kind: 'app'; readonly error: CrossedAppError }
  /** A fault of ours, of which nothing is told but its name and its place: its message may contain what was read. */
  | { readonly kind: 'fault'; readonly name: string; readonly stack: readonly string[] }

type CrossedAppError = Pick<AppError, 'code' | 'problem' | 'at' | 'parameter' | 'retryAfterSeconds' | 'received'> & {
  readonly all: readonly CrossedAppError[]
}

export function crossed(error: unknown): CrossedError {
  if (error instanceof AppError) return { kind: 'app', error: dataOf(error) }
  if (!(error instanceof Error)) return { kind: 'fault', name: typeof error, stack: [] }
  const stack = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line))
  return { kind: 'fault', name: error.name, stack: stack.slice(0, 8).map((line) => line.trim()) }
}

/** A fault of ours in a line, without its message. */
export function placeOf(error: unknown): string {
  const one = crossed(error)
  return one.kind === 'fault' ? [one.name, ...one.stack].join(' ') : one.error.problem.id
}

const dataOf = ({ code, problem, at, parameter, retryAfterSeconds, received, all }: AppError): CrossedAppError => ({
  ...{ code, problem, at, parameter, retryAfterSeconds, received },
  all: all.map(dataOf),
})

/** The same error, made anew. */
export function appErrorOf({ code, problem, all, ...data }: CrossedAppError): AppError {
  const given = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined))
  return new AppError(code satisfies ErrorCode, problem satisfies Problem, { ...given, all: all.map(appErrorOf) })
}
