import type { Command, Option } from 'commander'
import { camel, type FlagValues } from './flags.ts'
import { commandError } from './problems.ts'

/** The heading of the options of a list. */
export const LIST_GROUP = 'List file'

/** Commands that accept a list with `--file`. */
export const LIST_KINDS = ['verify', 'check', 'blacklist'] as const

/** Whether a command accepts a list. */
export const takesList = (name: string): boolean => LIST_KINDS.some((kind) => kind === name)

/** Flag and description. */
const OPTIONS = {
  file: ['--file <LIST>', 'process each row of a CSV, text or JSON file (.gz)'],
  out: ['--out <RESULTS>', 'file for the results: NDJSON if it ends in .ndjson, else CSV'],
  column: ['--column <COLUMN>', 'name or number of the column to read'],
  giveUpAfter: ['--give-up-after <TIME>', 'stop retrying rows after this time (default 24h)'],
} as const

/** Adds the options of a list to a command. With `--file`, `listCommand` parses the command line; here they are for help, completion and the manual page. */
export function addListOptions(command: Command): Command {
  for (const [flags, words] of Object.values(OPTIONS)) command.addOption(grouped(command.createOption(flags, words)))
  return command
}

const grouped = (option: Option): Option => option.helpGroup(`${LIST_GROUP}:`)

/** Throws AppError for an option of a list without `--file`. */
export function refuseListOptions(flags: Readonly<Record<string, FlagValues[string]>>): void {
  const stray = Object.values(OPTIONS).find(([words]) => flags[camel(nameOf(words))] !== undefined)
  if (stray) throw commandError('requires', { flag: nameOf(stray[0]), other: 'file' })
}

const nameOf = (flags: string): string => flags.split(' ')[0]!.slice(2)
