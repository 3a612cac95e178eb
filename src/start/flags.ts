import type { Flags } from '../config.ts'
import { OPTIONS } from '../config-options.ts'

/** Flags come from the command line by their camel-case names; the configuration knows its options by key. */
export function byKey(typed: Readonly<Record<string, unknown>>): Flags {
  const entries = Object.entries(OPTIONS).map(([key, { flag }]) => [key, typedFor(typed, flag)])
  return {
    ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
    ...(typed.config === undefined ? {} : { config: typed.config }),
  }
}

/** Commander takes `--no-courtesy` for `courtesy: false`, and says `courtesy: true` where it was not typed. */
function typedFor(typed: Readonly<Record<string, unknown>>, flag: string): unknown {
  if (!flag.startsWith('no-')) return typed[camel(flag)]
  return typed[camel(flag.slice(3))] === false ? true : undefined
}

const camel = (flag: string): string => flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
