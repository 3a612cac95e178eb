import type { Command } from 'commander'
import type { FlagValues } from './flags.ts'

export type KeysAction =
  | { readonly kind: 'create'; readonly name: string; readonly scopes: string; readonly expires?: string }
  | { readonly kind: 'list' }
  | { readonly kind: 'revoke'; readonly id: string }
  | { readonly kind: 'reset'; readonly open: boolean }

/** Adds the commands that manage API keys. The options stand on them: a command above would take them for itself. */
export function addKeys(
  command: Command,
  withOptions: (command: Command) => Command,
  run: (action: KeysAction, flags: FlagValues) => Promise<void>,
): void {
  const sub = (name: string, summary: string): Command => command.command(name).description(summary)
  withOptions(
    sub('create', 'make a key and print it once')
      .option('--name <NAME>', 'what it is for', 'key')
      .option('--scopes <LIST>', 'read, verify, jobs, admin, by comma', 'read,verify')
      .option('--expires <DURATION>', 'such as 720h; default never'),
  ).action((flags) =>
    run(
      {
        kind: 'create',
        name: flags.name,
        scopes: flags.scopes,
        ...(flags.expires === undefined ? {} : { expires: flags.expires }),
      },
      flags,
    ),
  )
  withOptions(sub('list', 'list the keys (never the keys themselves)')).action((flags) => run({ kind: 'list' }, flags))
  withOptions(sub('revoke', 'take a key out of force').argument('<ID>')).action((id: string, flags) =>
    run({ kind: 'revoke', id }, flags),
  )
  withOptions(
    sub('reset', 'remove all keys, and open a service that was closed for want of them').option(
      '--open',
      'callers on this machine are then answered without a key',
    ),
  ).action((flags) => run({ kind: 'reset', open: flags.open === true }, flags))
}
