/** One option of the configuration, as the command line shows it. */
export type ConfigFlag = {
  readonly flag: string
  readonly argument?: string
  readonly repeatable: boolean
  readonly meaning: string
  /** Its name in the configuration. */
  readonly key: string
}

/** Flags as commander gives them: by their names in camel case. */
export type FlagValues = Partial<Record<string, string | readonly string[] | boolean>>

/** The values of the flags that were typed, by the keys of the configuration. */
export function byKey(
  options: readonly ConfigFlag[],
  typed: FlagValues,
): Readonly<Record<string, string | readonly string[] | boolean>> {
  const config = { key: 'config', value: typed.config }
  const named = [...options.map(({ key, flag }) => ({ key, value: typedFor(typed, flag) })), config]
  return Object.fromEntries(named.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]])))
}

/** Commander takes `--no-courtesy` for `courtesy: false`, and says `courtesy: true` where it was not typed. */
function typedFor(typed: FlagValues, flag: string): FlagValues[string] {
  if (!flag.startsWith('no-')) return typed[camel(flag)]
  return typed[camel(flag.slice(3))] === false ? true : undefined
}

/** The name that commander gives a flag: `data-dir` is `dataDir`. */
export const camel = (name: string): string =>
  name.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase())
