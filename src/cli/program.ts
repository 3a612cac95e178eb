import { Command, CommanderError } from 'commander'
import { AppError } from '../base/errors.ts'
import type { Operation } from '../operations/operation.ts'

/** One option of the configuration, as the command line shows it. */
export type ConfigFlag = {
  readonly flag: string
  readonly argument?: string
  readonly repeatable: boolean
  readonly meaning: string
  readonly key: string
}

export type FlagValues = Partial<Record<string, string | readonly string[] | boolean>>

/** What the command line asks for: `main.ts` does it. */
export type Faces = {
  readonly serve: (flags: FlagValues) => Promise<number>
  readonly config: (flags: FlagValues) => Promise<number>
  /** Runs one operation in process or on a server; gives the exit status. */
  readonly operate: (
    operation: Operation,
    raw: Readonly<Record<string, unknown>>,
    flags: FlagValues,
    view: ViewFlags,
  ) => Promise<number>
  readonly keys: (action: KeysAction, flags: FlagValues) => Promise<number>
}
export type KeysAction =
  | { readonly kind: 'create'; readonly name: string; readonly scopes: string; readonly expires?: string }
  | { readonly kind: 'list' }
  | { readonly kind: 'revoke'; readonly id: string }
  | { readonly kind: 'reset'; readonly open: boolean }
export type ViewFlags = {
  readonly format?: string
  readonly server?: string
  readonly minScore?: string
  /** Records and a zone file that `check` is to judge as if they stood. */
  readonly with?: readonly string[]
  readonly zone?: string
}

/**
 * Reads the arguments and runs what they ask for. Gives the exit status: 0 done, 1 found bad, 2 usage, 3 could not tell.
 * Each operation is a command; its parameters are flags of the same name.
 */
export async function runCommandLine(
  argv: readonly string[],
  setup: {
    readonly operations: readonly Operation[]
    readonly configFlags: readonly ConfigFlag[]
    readonly version: string
    readonly faces: Faces
    readonly complain: (text: string) => void
  },
): Promise<number> {
  let status = 0
  const program = new Command('mailsonde')
    .description(
      "Says truthfully how a domain's mail stands, whether a mailbox exists and whether an address is on any of 29 blacklists.",
    )
    .version(setup.version)
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .configureOutput({ writeErr: (text) => setup.complain(text.replace(/\n$/, '')) })
  const add = (name: string, summary: string): Command =>
    withConfigFlags(program.command(name).description(summary), setup.configFlags)
  const done = (work: Promise<number>): Promise<void> => work.then((code) => void (status = code))
  const { faces } = setup

  add('serve', 'answer over HTTP').action((flags) => done(faces.serve(flags)))
  add('config', 'print what is in force and where each value comes from').action((flags) => done(faces.config(flags)))
  // The options stand on its sub-commands: a command above them would take them for itself.
  const keys = program.command('keys').description('make, list, revoke and reset API keys')
  addKeys(keys, setup.configFlags, (action, flags) => done(faces.keys(action, flags)))
  for (const operation of setup.operations.filter(({ partOf }) => partOf === undefined)) {
    // A switch that an option of the same name stands beside (verify's `pool`) becomes one flag whose value is optional; any other parameter takes the name.
    const named = setup.configFlags.filter(({ flag }) => flag in operation.input.shape)
    const shared = named.filter(({ flag }) => metaOf(operation, flag).choices === 'true,false')
    const own = setup.configFlags.filter((flag) => !named.includes(flag))
    const command = withConfigFlags(program.command(operation.name).description(operation.summary), own)
    addOperation(command, operation, shared, (raw, flags, view) => done(faces.operate(operation, raw, flags, view)))
  }
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (error instanceof AppError) {
      setup.complain(`mailsonde: ${error.message}`)
      return error.code === 'timeout' || error.code === 'upstream_unavailable' || error.code === 'overloaded' ? 3 : 2
    }
    throw error
  }
}

function withConfigFlags(command: Command, flags: readonly ConfigFlag[]): Command {
  for (const { flag, argument, repeatable, meaning } of flags) {
    if (argument === undefined) command.option(`--${flag}`, meaning)
    else if (repeatable) command.option(`--${flag} <${argument}>`, `${meaning} (repeatable)`, gathered)
    else command.option(`--${flag} <${argument}>`, meaning)
  }
  return command.option('--config <FILE>', 'configuration file; default mailsonde.config.json where there is one')
}

/** The values of a flag that may be given several times. */
const gathered = (value: string, all: string[] = []): string[] => [...all, value]

type Run = (raw: Readonly<Record<string, unknown>>, flags: FlagValues, view: ViewFlags) => Promise<void>

function addOperation(command: Command, operation: Operation, shared: readonly ConfigFlag[], run: Run): void {
  const places = operation.positional ?? []
  for (const place of places) {
    const { list, description = '' } = metaOf(operation, place)
    command.argument(`<${place.toUpperCase()}${list ? '...' : ''}>`, description)
  }
  const inputs = Object.keys(operation.input.shape).filter((name) => !places.includes(name) && name !== 'format')
  for (const name of inputs) {
    const { description = '', choices } = metaOf(operation, name)
    const both = shared.find(({ flag }) => flag === name)
    const value = both ? ` [${both.argument}]` : choices === 'true,false' ? '' : ' <VALUE>'
    command.option(
      `--${name.replaceAll('_', '-')}${value}`,
      both ? `${description}; with a value: ${both.meaning}` : description,
    )
  }
  command
    .option('--format <FORMAT>', 'table, json, markdown or html; default a table on a terminal, JSON into a pipe')
    .option('--server <URL>', 'ask a running service instead of this process')
  if (operation.name === 'check')
    command
      .option(
        '--with <RECORD>',
        'judge as if this record stood, such as \'_dmarc TXT "v=DMARC1; p=none"\' (repeatable)',
        gathered,
      )
      .option('--zone <FILE>', 'judge as if the records of this zone file stood')
  if (operation.name === 'check' || operation.name === 'report')
    command.option('--min-score <N>', 'exit with 1 when the score is lower')
  command.action((...args: unknown[]) => {
    const flags = args[places.length] as Record<string, string | readonly string[] | boolean>
    const raw: Record<string, unknown> = Object.fromEntries(
      places.map((place, i) => [place, Array.isArray(args[i]) ? args[i] : String(args[i])]),
    )
    for (const name of inputs) {
      const value = flags[camel(name)]
      const isShared = shared.some(({ flag }) => flag === name)
      if (value !== undefined) raw[name] = isShared ? 'true' : written(String(value), metaOf(operation, name))
      if (isShared && value === true) delete flags[camel(name)]
    }
    const view = Object.fromEntries(
      ['format', 'server', 'minScore', 'with', 'zone']
        .filter((key) => operation.name === 'check' || (key !== 'with' && key !== 'zone'))
        .flatMap((key) => (flags[key] === undefined ? [] : [[key, flags[key]]])),
    )
    return run(raw, flags, view)
  })
}

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

/** A flag's text as a body has it: a list by comma, an object as JSON (text that is none is left for the schema to refuse). */
function written(text: string, { list, json }: Meta): unknown {
  if (list) return text.split(',').map((item) => item.trim())
  if (!json) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const camel = (name: string): string => name.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase())
type Meta = {
  readonly description?: string
  readonly choices?: string
  readonly list: boolean
  readonly json: boolean
}

/** What a parameter's schema says of itself, looked up through defaults and transforms (at most 6 deep). */
function metaOf(operation: Operation, name: string): Meta {
  let schema: unknown = operation.input.shape[name]
  for (let depth = 0; depth < 6 && schema !== undefined; depth++) {
    const { meta, def } = schema as {
      meta?: () => { description?: string; enum?: readonly string[]; list?: true; json?: true } | undefined
      def?: { innerType?: unknown; in?: unknown }
    }
    const found = meta?.call(schema)
    if (found)
      return {
        ...(found.description === undefined ? {} : { description: found.description }),
        ...(found.enum ? { choices: found.enum.join() } : {}),
        list: found.list === true,
        json: found.json === true,
      }
    schema = def?.innerType ?? def?.in
  }
  return { list: false, json: false }
}
