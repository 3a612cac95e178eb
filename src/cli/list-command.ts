import { Command } from 'commander'
import type { FlagValues } from './flags.ts'

/** A list that is worked on in this process: `verify --file list.csv --out results.csv`. */
export type ListAsked = {
  readonly kind: 'verify' | 'check' | 'blacklist'
  readonly file: string
  readonly out: string
  readonly column?: string
  readonly giveUpAfter: string
}

const KINDS = ['verify', 'check', 'blacklist'] as const

/** Whether the arguments ask for a list instead of single targets. */
export const asksForList = (argv: readonly string[]): boolean =>
  KINDS.some((kind) => kind === argv[0]) && argv.some((word) => word === '--file' || word.startsWith('--file='))

/** The command of a kind with `--file`; `withOptions` adds the options of the configuration. */
export function listCommand(
  argv: readonly string[],
  withOptions: (command: Command) => Command,
  run: (asked: ListAsked, flags: FlagValues) => Promise<void>,
): Command {
  const kind = KINDS.find((one) => one === argv[0]) ?? 'verify'
  const program = new Command('mailsonde')
  const command = program
    .command(kind)
    .description(`${kind} each row of a list in this process; a run that was interrupted goes on where it stopped`)
    .requiredOption('--file <LIST>', '.csv, .tsv, .txt, .ndjson, .jsonl or .json, each also with .gz')
    .requiredOption('--out <RESULTS>', 'where the results go: .ndjson, else CSV')
    .option('--column <COLUMN>', 'column to ask about, by name or number; default the one that looks like it')
    .option('--give-up-after <DURATION>', 'rows that are deferred or unreachable are asked again until then', '24h')
  withOptions(command).action((flags) =>
    run(
      {
        kind,
        file: flags.file,
        out: flags.out,
        giveUpAfter: flags.giveUpAfter,
        ...(flags.column !== undefined && { column: flags.column }),
      },
      flags,
    ),
  )
  return program
}
