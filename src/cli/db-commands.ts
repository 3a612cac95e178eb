import type { Command } from 'commander'
import type { FlagValues } from './flags.ts'

export type DbAction =
  | { readonly kind: 'status' }
  | { readonly kind: 'migrate' }
  | { readonly kind: 'backup'; readonly file: string }
  | { readonly kind: 'restore'; readonly file: string }
  | { readonly kind: 'import' }

/** Adds the commands that look after the database. */
export function addDb(
  command: Command,
  withOptions: (command: Command) => Command,
  run: (action: DbAction, flags: FlagValues) => Promise<void>,
): void {
  const sub = (name: string, summary: string): Command => withOptions(command.command(name).description(summary))
  for (const [kind, summary] of [
    ['status', 'which database is used, its schema, jobs and size'],
    ['migrate', 'bring the schema up to date (a service does so when it starts)'],
    [
      'import',
      'copy what the data folder keeps (nodes, sources, self-tests) into the database; rows that are there stay',
    ],
  ] as const)
    sub(kind, summary).action((flags) => run({ kind }, flags))
  for (const [kind, summary] of [
    ['backup', 'write the whole database into a file, while services go on'],
    ['restore', 'put a backup in the place of all that is in the database; services must be stopped'],
  ] as const)
    sub(kind, summary)
      .argument('<FILE>')
      .action((file: string, flags) => run({ kind, file }, flags))
}
