import { Command } from 'commander'
import type { FlagValues } from './flags.ts'
import { addListOptions, LIST_KINDS } from './list-options.ts'
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
