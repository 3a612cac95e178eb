import { invalidFlag } from '../base/errors.ts'
import type { Parsed } from '../base/parsed.ts'
import type { Operation, Raw } from '../operations/operation.ts'
import type { Flag, Group } from '../operations/param.ts'
import { commandError } from './problems.ts'

/** A configuration option as a flag of the command line. */
export type ConfigFlag = {
  readonly flag: string
  readonly argument?: string
  readonly repeatable: boolean
  readonly meaning: string
  /** Its key in the configuration. */
  readonly key: string
}

/** Flags as commander returns them, by name in camel case. */
export type FlagValues = Partial<Record<string, string | readonly string[] | boolean>>

/** The values of the given flags, by configuration key. */
export function byKey(
  options: readonly ConfigFlag[],
  typed: FlagValues,
): Readonly<Record<string, string | readonly string[] | boolean>> {
  const config = { key: 'config', value: typed.config }
  const named = [...options.map(({ key, flag }) => ({ key, value: typedFor(typed, flag) })), config]
  return Object.fromEntries(named.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]])))
}

/** Commander reads `--no-courtesy` as `courtesy: false`, and returns `courtesy: true` if the flag was not given. */
function typedFor(typed: FlagValues, flag: string): FlagValues[string] {
  if (!flag.startsWith('no-')) return typed[camel(flag)]
  return typed[camel(flag.slice(3))] === false ? true : undefined
}

/** The name of a flag in commander: `data-dir` is `dataDir`. */
export const camel = (name: string): string =>
  name.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Reads the local file that a flag names, up to a maximum size. Throws AppError. */
export type ReadFile = (path: string, maxBytes: number) => string

/** A flag of a command that selects another operation, its part. */
type Extra = { readonly part: Operation; readonly name: string; readonly flag: Flag; readonly group: Group }

/** The flags that select a part: parameters that the command itself does not have. */
export const extraFlags = (operation: Operation, part: Operation): readonly Extra[] =>
  Object.entries(part.params).flatMap(([name, { flag, group }]) =>
    flag && !(name in operation.params) ? [{ part, name, flag, group }] : [],
  )

type Chosen = { readonly operation: Operation; readonly raw: Raw; readonly file?: string }

/**
 * The command's own operation, or the part that one of its flags selects. Throws AppError for a flag that the part does
 * not accept, or for a value that cannot be read.
 */
export function choose(
  operation: Operation,
  extra: readonly Extra[],
  raw: Raw,
  flags: FlagValues,
  readFile: ReadFile,
): Chosen {
  const given = extra.filter(({ flag }) => flags[camel(flag.name)] !== undefined)
  const [first] = given
  if (!first) return { operation, raw }
  const { part } = first
  const other = given.find((one) => one.part !== part)?.flag.name
  const stray = other ?? Object.keys(raw).find((name) => !(name in part.params))
  if (stray !== undefined) throw commandError('exclusive', { flag: stray, other: first.flag.name })
  const values = given.map(({ name, flag }) => readValue(name, flag, flags[camel(flag.name)], readFile))
  const file = given.find(({ flag }) => flag.kind === 'file')
  return {
    operation: part,
    raw: Object.assign({ ...raw }, ...values),
    ...(file && { file: String(flags[camel(file.flag.name)]) }),
  }
}

function readValue(name: string, flag: Flag, typed: FlagValues[string], readFile: ReadFile): Raw {
  if (flag.kind === 'file') {
    const text = readFile(String(typed), flag.maxBytes)
    return flag.fields ? orRefuse(flag.name, flag.fields(text)) : { [name]: text }
  }
  if (flag.kind === 'text') {
    const text = String(typed)
    return { [name]: flag.isList ? text.split(',').map((one) => one.trim()) : text }
  }
  const lines = (Array.isArray(typed) ? typed : [typed]).map((line) => orRefuse(flag.name, flag.read(String(line))))
  return { [name]: lines }
}

function orRefuse<T>(flag: string, read: Parsed<T>): T {
  if (read.ok) return read.value
  throw invalidFlag(flag, read.problem)
}
