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
