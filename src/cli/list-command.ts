import { Command, type Option } from 'commander'
import { camel, type FlagValues } from './flags.ts'
import { commandError } from './problems.ts'

/** Time after which deferred or unreachable rows are not retried. */
const GIVE_UP_AFTER = '24h'

/** A list that is processed in this process: `verify --file list.csv --out results.csv`. */
export type ListAsked = {
  readonly kind: 'verify' | 'check' | 'blacklist'
  readonly file: string
  readonly out: string
  readonly column?: string
  readonly giveUpAfter: string
}

/** Whether the arguments name a list instead of single targets. */
export const asksForList = (argv: readonly string[]): boolean =>
  LIST_KINDS.some((kind) => kind === argv[0]) && argv.some((word) => word === '--file' || word.startsWith('--file='))

/** The command of a kind with `--file`; `withOptions` adds the configuration options. */
export function listCommand(
  argv: readonly string[],
  withOptions: (command: Command) => Command,
  run: (asked: ListAsked, flags: FlagValues) => Promise<void>,
): Command {
  const kind = LIST_KINDS.find((one) => one === argv[0]) ?? 'verify'
  const program = new Command('mailsonde')
  const command = program
    .command(kind)
    .description(`${kind} each row of a list in this process; an interrupted run resumes where it stopped`)
  withOptions(addListOptions(command)).action(async (flags) => {
    if (flags.out === undefined) throw commandError('out')
    await run(
      {
        kind,
        file: flags.file,
        out: flags.out,
        giveUpAfter: flags.giveUpAfter ?? GIVE_UP_AFTER,
        ...(flags.column !== undefined && { column: flags.column }),
      },
      flags,
    )
  })
  return program
}

/** The heading of the options of a list. */
export const LIST_GROUP = 'List file'

/** Commands that accept a list with `--file`. */
const LIST_KINDS = ['verify', 'check', 'blacklist'] as const

/** Whether a command accepts a list. */
export const takesList = (name: string): boolean => LIST_KINDS.some((kind) => kind === name)

/** Flag and description. */
const OPTIONS = {
  file: ['--file <LIST>', 'process each row of a CSV, text or JSON file (.gz)'],
  out: ['--out <RESULTS>', 'file for the results: NDJSON if it ends in .ndjson, else CSV'],
  column: ['--column <COLUMN>', 'name or number of the column to read'],
  giveUpAfter: ['--give-up-after <TIME>', 'stop retrying rows after this time (default 24h)'],
} as const

/**
 * Adds the options of a list to a command. With `--file`, `listCommand` parses the command line; here they are for
 * help, completion and the manual page.
 */
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
