import type { Command } from 'commander'
import type { FlagValues } from './flags.ts'

export type DbAction =
  | { readonly kind: 'status' }
  | { readonly kind: 'migrate' }
  | { readonly kind: 'backup'; readonly file: string }
  | { readonly kind: 'restore'; readonly file: string }
  | { readonly kind: 'import' }

/** Adds the commands that manage the database. */
export function addDb(
  command: Command,
  withOptions: (command: Command) => Command,
  run: (action: DbAction, flags: FlagValues) => Promise<void>,
): void {
  const sub = (name: string, summary: string): Command => withOptions(command.command(name).description(summary))
  for (const [kind, summary] of [
    ['status', 'Show the database, its schema version, jobs and size'],
    ['migrate', 'Upgrade the schema (a service does so at startup)'],
    [
      'import',
      'Copy the state of the data folder (nodes, sources, self-tests) into the database; existing rows are kept',
    ],
  ] as const)
    sub(kind, summary).action((flags) => run({ kind }, flags))
  for (const [kind, summary] of [
    ['backup', 'Write the whole database to a file; services may keep running'],
    ['restore', 'Replace the whole database with a backup; services must be stopped'],
  ] as const)
    sub(kind, summary)
      .argument('<FILE>')
      .action((file: string, flags) => run({ kind, file }, flags))
}
