import type { Command } from 'commander'
import type { FlagValues } from './flags.ts'

export type KeysAction =
  | {
      readonly kind: 'create'
      readonly name: string
      readonly scopes: string
      readonly domains?: string
      readonly expires?: string
    }
  | { readonly kind: 'list' }
  | { readonly kind: 'revoke'; readonly id: string }
  | { readonly kind: 'reset'; readonly open: boolean }

/** Adds the commands that manage API keys. Each has the options itself, because a parent command would consume them. */
export function addKeys(
  command: Command,
  withOptions: (command: Command) => Command,
  run: (action: KeysAction, flags: FlagValues) => Promise<void>,
): void {
  const sub = (name: string, summary: string): Command => command.command(name).description(summary)
  withOptions(
    sub('create', 'Create a key and print it once')
      .option('--name <NAME>', 'purpose of the key', 'key')
      .option('--scopes <LIST>', 'comma-separated: read, verify, jobs, reports, admin', 'read,verify')
      .option(
        '--domains <LIST>',
        'comma-separated domains whose reports the key sees: example.org,*.example.net; default all',
      )
      .option('--expires <DURATION>', 'lifetime, such as 720h; default unlimited'),
  ).action((flags) =>
    run(
      {
        kind: 'create',
        name: flags.name,
        scopes: flags.scopes,
        ...(flags.domains === undefined ? {} : { domains: flags.domains }),
        ...(flags.expires === undefined ? {} : { expires: flags.expires }),
      },
      flags,
    ),
  )
  withOptions(sub('list', 'List the keys by id; the keys themselves are not stored')).action((flags) =>
    run({ kind: 'list' }, flags),
  )
  withOptions(sub('revoke', 'Revoke a key').argument('<ID>')).action((id: string, flags) =>
    run({ kind: 'revoke', id }, flags),
  )
  withOptions(
    sub('reset', 'Remove all keys, and open a service that refuses requests because its keys are lost').option(
      '--open',
      'confirm: callers on this machine then need no key',
    ),
  ).action((flags) => run({ kind: 'reset', open: flags.open === true }, flags))
}

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
