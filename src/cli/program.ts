import { Command, CommanderError, Option } from 'commander'
import { AppError } from '../base/errors.ts'
import type { Operation } from '../operations/operation.ts'
import { type Asked, addOperation, type ReadFile } from './commands.ts'
import type { ConfigFlag, FlagValues } from './flags.ts'

/** What the command line can do; each gives the exit status. */
export type Actions = {
  readonly serve: (flags: FlagValues) => Promise<number>
  readonly config: (flags: FlagValues) => Promise<number>
  /** Runs one operation in process or on a server. */
  readonly operate: (asked: Asked) => Promise<number>
  readonly keys: (action: KeysAction, flags: FlagValues) => Promise<number>
}
export type KeysAction =
  | { readonly kind: 'create'; readonly name: string; readonly scopes: string; readonly expires?: string }
  | { readonly kind: 'list' }
  | { readonly kind: 'revoke'; readonly id: string }
  | { readonly kind: 'reset'; readonly open: boolean }

export type ProgramSetup = {
  readonly operations: readonly Operation[]
  readonly configFlags: readonly ConfigFlag[]
  readonly version: string
  readonly actions: Actions
  readonly complain: (text: string) => void
  readonly readFile: ReadFile
}

/** Problems of the world, as opposed to those of the arguments. */
const COULD_NOT_TELL: readonly string[] = ['timeout', 'upstream_unavailable', 'overloaded']

/**
 * Reads the arguments and runs what they ask for. Gives the exit status: 0 done, 1 found bad, 2 usage, 3 could not tell.
 * Each operation is a command; its parameters are flags of the same name.
 */
export async function runCommandLine(argv: readonly string[], setup: ProgramSetup): Promise<number> {
  let status = 0
  const { configFlags, actions, complain } = setup
  const program = new Command('mailsonde')
    .description(
      "Checks a domain's mail setup and tells you when it does not know; verifies mailboxes over SMTP; looks addresses up on 29 blacklists.",
    )
    .version(setup.version)
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .configureOutput({ writeErr: (text) => complain(text.replace(/\n$/, '')) })
  const add = (name: string, summary: string): Command =>
    withConfigFlags(program.command(name).description(summary), configFlags)
  const done = (work: Promise<number>): Promise<void> => work.then((code) => void (status = code))

  add('serve', 'answer over HTTP').action((flags) => done(actions.serve(flags)))
  add('config', 'print what is in force and where each value comes from').action((flags) => done(actions.config(flags)))
  // The options stand on its sub-commands: a command above them would take them for itself.
  const keys = program.command('keys').description('make, list, revoke and reset API keys')
  addKeys(keys, configFlags, (action, flags) => done(actions.keys(action, flags)))
  addOperations(program, setup, (asked) => done(actions.operate(asked)))
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof AppError)) throw error
    complain(`mailsonde: ${error.message}`)
    return COULD_NOT_TELL.includes(error.code) ? 3 : 2
  }
}

function addOperations(program: Command, setup: ProgramSetup, run: (asked: Asked) => Promise<void>): void {
  const { operations, configFlags, readFile } = setup
  const newOption = (flags: string, description: string): Option => new Option(flags, description)
  const groups = new Map<string, Command>()
  for (const operation of operations.filter(({ partOf }) => partOf === undefined)) {
    const [group, name] = operation.name.split(' ')
    const parent = name === undefined ? program : groupOf(program, groups, group!)
    const command = parent.command(name ?? operation.name).description(operation.summary)
    const parts = operations.filter(({ partOf }) => partOf === operation.name)
    addOperation(command, operation, parts, { configFlags, newOption, readFile }, run)
    // A parameter takes the name of an option.
    withConfigFlags(
      command,
      configFlags.filter(({ flag }) => !(flag in operation.params)),
    )
  }
}

/** What commands of two words do, by their first. */
const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  jobs: 'submit lists and see how far they are',
  saved: 'show and remove answers that were stored with --save',
}

function groupOf(program: Command, groups: Map<string, Command>, name: string): Command {
  const known = groups.get(name)
  if (known) return known
  const made = program.command(name).description(GROUP_SUMMARIES[name] ?? name)
  groups.set(name, made)
  return made
}

function withConfigFlags(command: Command, flags: readonly ConfigFlag[]): Command {
  command.optionsGroup('Configuration:')
  for (const { flag, argument, repeatable, meaning } of flags) {
    if (argument === undefined) command.option(`--${flag}`, meaning)
    else if (repeatable) command.option(`--${flag} <${argument}>`, `${meaning} (repeatable)`, gathered)
    else command.option(`--${flag} <${argument}>`, meaning)
  }
  return command.option('--config <FILE>', 'configuration file; default mailsonde.config.json where there is one')
}

/** The values of a flag that may be given several times. */
const gathered = (value: string, all: string[] = []): string[] => [...all, value]

function addKeys(
  command: Command,
  configFlags: readonly ConfigFlag[],
  run: (action: KeysAction, flags: FlagValues) => Promise<void>,
): void {
  const sub = (name: string, summary: string): Command =>
    withConfigFlags(command.command(name).description(summary), configFlags)
  sub('create', 'make a key and print it once')
    .option('--name <NAME>', 'what it is for', 'key')
    .option('--scopes <LIST>', 'read, verify, jobs, admin, by comma', 'read,verify')
    .option('--expires <DURATION>', 'such as 720h; default never')
    .action((flags) =>
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
  sub('list', 'list the keys (never the keys themselves)').action((flags) => run({ kind: 'list' }, flags))
  sub('revoke', 'take a key out of force')
    .argument('<ID>')
    .action((id: string, flags) => run({ kind: 'revoke', id }, flags))
  sub('reset', 'remove all keys, and open a service that was closed for want of them')
    .option('--open', 'callers on this machine are then answered without a key')
    .action((flags) => run({ kind: 'reset', open: flags.open === true }, flags))
}
