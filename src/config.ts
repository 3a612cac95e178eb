import { existsSync, readFileSync } from 'node:fs'
import { AppError } from './base/errors.ts'
import { isJsonRecord } from './base/json.ts'
import { systemWords } from './base/system-words.ts'
import { nearest } from './base/value-problems.ts'
import { OPTIONS, type OptionKey, type OptionValues, withoutLogin } from './config-options.ts'
import { configError, optionProblem } from './config-problems.ts'

/**
 * The values in force, frozen. Each value comes from a flag, otherwise the environment, otherwise the configuration
 * file, otherwise the default.
 */
export type Config = Readonly<OptionValues>
type Source = 'flag' | 'environment' | 'file' | 'default'

/**
 * Flags as typed: text, a list of texts for a repeatable one, true for a switch. The keys are those of {@link OPTIONS}.
 */
export type Flags = Partial<Record<string, string | readonly string[] | boolean>>

type Loaded = { readonly config: Config; readonly sources: Readonly<Record<OptionKey, Source>> }

/**
 * Assembles the configuration. Unknown keys of the file, unknown `MAILSONDE_…` variables and invalid values are errors
 * (AppError `invalid_parameter`) that name the value, its source and what is accepted.
 */
export function loadConfig(flags: Flags, env: NodeJS.ProcessEnv = process.env): Loaded {
  refuseUnknownVariables(env)
  return putTogether(flags, env, readFile(typeof flags.config === 'string' ? flags.config : env.MAILSONDE_CONFIG))
}

/**
 * The configuration of only these values, without environment and file: for programs that use the library. Throws
 * AppError for an invalid one.
 */
export const configOf = (values: Flags): Config => putTogether(values, {}, { path: '', values: {} }).config

function putTogether(flags: Flags, env: NodeJS.ProcessEnv, file: ReturnType<typeof readFile>): Loaded {
  const values: Record<string, unknown> = {}
  const sources: Record<string, Source> = {}
  for (const [key, option] of Object.entries(OPTIONS)) {
    const places: readonly (readonly [Source, unknown, string])[] = [
      ['flag', flags[key], `--${option.flag}`],
      ['environment', env[variableOf(option.flag)], variableOf(option.flag)],
      ['file', file.values[option.flag], `${JSON.stringify(option.flag)} in ${file.path}`],
    ]
    const place = places.find(([, value]) => value !== undefined && value !== '')
    sources[key] = place?.[0] ?? 'default'
    values[key] = place ? readOption(option, place[1], place[2]) : option.fallback
  }
  return { config: Object.freeze(values) as Config, sources: sources as Record<OptionKey, Source> }
}

/** The environment variable of a flag: `allow-network` is `MAILSONDE_ALLOW_NETWORK`. */
export const variableOf = (flag: string): string => `MAILSONDE_${flag.toUpperCase().replaceAll('-', '_')}`

/** The output of `mailsonde config`: every option with its value, source and meaning; secrets are masked. */
export function describeConfig({
  config,
  sources,
}: Loaded): { option: string; value: string; source: Source; meaning: string }[] {
  return Object.entries(OPTIONS).map(([key, option]) => {
    const value = config[key as OptionKey] as unknown
    const set = Array.isArray(value) ? value.length > 0 : value !== undefined
    return {
      option: `--${option.flag}`,
      value: set ? (option.secret ? '********' : showOption(option, value)) : '',
      source: sources[key as OptionKey],
      meaning: option.meaning,
    }
  })
}

/** A value in the notation of flags. */
export const showOption = ({ format }: AnyOption, value: unknown): string =>
  format && typeof value === 'number' ? format(value) : show(value)

function show(value: unknown): string {
  if (Array.isArray(value)) return value.map(show).join(', ')
  if (typeof value === 'object' && value !== null && 'base' in value) {
    const network = value as unknown as { base: string; prefix: number }
    return `${network.base}/${network.prefix}`
  }
  return withoutLogin(String(value))
}

type AnyOption = (typeof OPTIONS)[OptionKey]

function readOption(option: AnyOption, raw: unknown, where: string): unknown {
  const isJson = 'json' in option && option.json && Array.isArray(raw)
  const texts = isJson ? [JSON.stringify(raw)] : textsOf(raw, option.repeatable)
  if (texts === undefined)
    throw new AppError('invalid_parameter', optionProblem(option.repeatable ? 'kinds' : 'kind'), { at: where })
  const results = texts.map((text) => {
    const result = option.parse(text)
    if (!result.ok) throw new AppError('invalid_parameter', result.problem, { at: where })
    return result.value as unknown
  })
  return option.repeatable ? results.flat() : results[0]
}

/**
 * The texts of a given value; a repeatable option accepts several, in a list, separated by commas, or both. Undefined:
 * invalid.
 */
function textsOf(raw: unknown, repeatable: boolean): string[] | undefined {
  if (!repeatable)
    return typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean'
      ? [String(raw).trim()]
      : undefined
  const items = Array.isArray(raw) ? raw : [raw]
  const texts = items.map((item) => textsOf(item, false)?.[0])
  if (texts.some((text) => text === undefined)) return undefined
  return (texts as string[]).flatMap((text) => text.split(',').map((part) => part.trim())).filter((text) => text !== '')
}

function refuseUnknownVariables(env: NodeJS.ProcessEnv): void {
  const known = new Set([
    ...Object.values(OPTIONS).map((option) => variableOf(option.flag)),
    'MAILSONDE_CONFIG',
    'MAILSONDE_SERVER',
    'MAILSONDE_KEY',
  ])
  const unknown = Object.keys(env).find((name) => name.startsWith('MAILSONDE_') && !known.has(name))
  if (unknown) throw configError('variable', { name: unknown, meant: nearest(unknown, [...known]) })
}

function readFile(given: string | undefined): { path: string; values: Record<string, unknown> } {
  const path = given ?? 'mailsonde.config.json'
  if (given === undefined && !existsSync(path)) return { path, values: {} }
  let values: unknown
  try {
    values = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw configError('unreadable', { path, reason: systemWords(cause) }, { cause })
  }
  if (!isJsonRecord(values)) throw configError('no_object', { path })
  const flags = new Set<string>(Object.values(OPTIONS).map((option) => option.flag))
  const unknown = Object.keys(values).find((key) => !flags.has(key))
  if (unknown !== undefined) throw configError('key', { path, name: unknown, meant: nearest(unknown, [...flags]) })
  return { path, values }
}
