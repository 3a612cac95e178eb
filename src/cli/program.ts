import { Command, CommanderError, Option } from 'commander'
import { AppError } from '../base/errors.ts'
import type { Problem } from '../base/problem.ts'
import { parseDomain } from '../names/domain.ts'
import { parseEmail } from '../names/email.ts'
import { parseIp } from '../names/ip.ts'
import type { Operation } from '../operations/operation.ts'
import { commandOf } from '../operations/path.ts'
import { addDb, addKeys, type DbAction, type KeysAction } from './admin-commands.ts'
import { type Asked, addOperation, commandsOf, gathered, optionsFor } from './commands.ts'
import { type ConfigFlag, type FlagValues, OPTION_GROUPS, placeOf, type ReadFile } from './flags.ts'
import { examplesOf, HELP, withConfigNames, withExamples } from './help.ts'
import { asksForList, type ListAsked, listCommand } from './list-command.ts'
import { hint } from './problems.ts'
import { statusOf, USAGE } from './status.ts'

/** The actions of the command line; each returns the exit status. */
export type Actions = {
  readonly serve: (flags: FlagValues) => Promise<number>
  readonly config: (flags: FlagValues) => Promise<number>
  /** Serves the Model Context Protocol over standard input and output. */
  readonly mcp: (flags: FlagValues) => Promise<number>
  /** Runs one operation in this process or on a server. */
  readonly operate: (asked: Asked) => Promise<number>
  readonly keys: (action: KeysAction, flags: FlagValues) => Promise<number>
  /** Processes a list file in this process. */
  readonly list: (asked: ListAsked, flags: FlagValues) => Promise<number>
  readonly db: (action: DbAction, flags: FlagValues) => Promise<number>
}

export type ProgramSetup = {
  readonly operations: readonly Operation[]
  readonly configFlags: readonly ConfigFlag[]
  readonly version: string
  readonly actions: Actions
  readonly complain: (text: string) => void
  readonly readFile: ReadFile
  /** Writes output other than answers: help, the version, a completion script. Default: standard output. */
  readonly print?: (text: string) => void
  /** Columns of the terminal; default 80. */
  readonly columns?: number
}

/** Maximum number of columns of help: longer lines are hard to read. */
const MAX_HELP = 120

/**
 * Parses the arguments and runs the command. Returns the exit status: 0 done, 1 bad, 2 invalid usage, 3 unknown.
 * Each operation is a command; its parameters are flags of the same name.
 */
export async function runCommandLine(argv: readonly string[], setup: ProgramSetup): Promise<number> {
  let status = 0
  const done = async (work: Promise<number>): Promise<void> => void (status = await work)
  const program = asksForList(argv) ? buildListProgram(argv, setup, done) : buildProgram(setup, done)
  try {
    await program.parseAsync([...withList(argv, program)], { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) {
      const hint = error.exitCode === 0 ? undefined : hintFor(error, argv, setup)
      if (hint !== undefined) setup.complain(hint)
      return error.exitCode === 0 ? 0 : USAGE
    }
    if (!(error instanceof AppError)) throw error
    setup.complain(`mailsonde: ${error.message}`)
    const other = hintForOther(error.code, argv) ?? hintForMissing(error)
    if (other !== undefined) setup.complain(other)
    return statusOf(error)
  }
}

/** All commands with their options: the source of execution, help, completion and the manual page. */
export function buildProgram(setup: ProgramSetup, done: (work: Promise<number>) => Promise<void>): Command {
  const { configFlags, actions, complain, print } = setup
  const columns = helpColumns(setup)
  const program = new Command('mailsonde')
    .description(
      "Checks a domain's mail setup and tells you when it does not know; verifies mailboxes over SMTP; looks addresses up on 29 blacklists.",
    )
    .version(setup.version)
    .helpCommand('help [COMMAND]', 'Show the options of a command')
    .exitOverride()
    .showHelpAfterError('(see --help)')
    .configureHelp({ ...HELP, helpWidth: columns })
    .configureOutput({
      writeErr: (text) => complain(text.replace(/\n$/, '')),
      ...(print && { writeOut: print }),
    })
  const add = (name: string, summary: string, flags: readonly ConfigFlag[]): Command => {
    const command = withConfigFlags(program.command(name).description(summary), flags)
    return withExamples(command, examplesOf(name))
  }
  const serve = add('serve', 'Start the HTTP service', configFlags).action((flags) => done(actions.serve(flags)))
  serve.options.find(({ long }) => long === '--accept')?.hideHelp() // it is refused with a hint
  add('config', 'Show the configuration and the source of each value', configFlags).action((flags) =>
    done(actions.config(flags)),
  )
  const ofMcp = configFlags.filter(({ key }) => placeOf(key).usedBy !== 'serve')
  add('mcp', 'Serve tools for assistants over stdio (MCP)', ofMcp).action((flags) => done(actions.mcp(flags)))
  const ofKeys = configFlags.filter(({ key }) => KEYS_OPTIONS.includes(key))
  const keys = program.command('keys').description('Create, list, revoke and reset API keys')
  addKeys(
    keys,
    (command) => withConfigNames(withConfigFlags(command, ofKeys), columns),
    (action, flags) => done(actions.keys(action, flags)),
  )
  const ofDb = configFlags.filter(({ key }) => DB_OPTIONS.includes(key))
  addDb(
    program.command('db').description('Database of bulk jobs: status, backup, restore'),
    (command) => withConfigNames(withConfigFlags(command, ofDb), columns),
    (action, flags) => done(actions.db(action, flags)),
  )
  addOperations(program, setup, (asked) => done(actions.operate(asked)))
  const completion = program
    .command('completion')
    .description('Print a completion script for bash, zsh or fish')
    .argument('<SHELL>', 'bash, zsh or fish')
    .action(async (shell: string) => {
      const { completionScript } = await import('./completion.ts')
      const text = completionScript(shell, program)
      if (print) print(text)
      else process.stdout.write(text)
    })
  withExamples(completion, examplesOf('completion'))
  tellOfLists(program)
  return program
}

/** Commands with `--file`, such as `verify --file`: their options, with the configuration options that concern them. */
function buildListProgram(
  argv: readonly string[],
  setup: ProgramSetup,
  done: (work: Promise<number>) => Promise<void>,
): Command {
  const { configFlags, actions, complain, print, operations } = setup
  const operation = operations.find(({ name }) => name === argv[0])
  const flags = operation ? optionsFor(operation, [], configFlags) : configFlags
  const program = listCommand(
    argv,
    (command) => withConfigNames(withConfigFlags(command, flags), helpColumns(setup)),
    (asked, typed) => done(actions.list(asked, typed)),
  )
  for (const command of [program, ...program.commands])
    command
      .exitOverride()
      .showHelpAfterError('(see --help)')
      .configureOutput({ writeErr: (text) => complain(text.replace(/\n$/, '')), ...(print && { writeOut: print }) })
  return program
}

const helpColumns = ({ columns = 80 }: ProgramSetup): number => Math.min(columns, MAX_HELP)

const KEYS_OPTIONS: readonly string[] = ['apiKeysFile', 'dataDir']
const DB_OPTIONS: readonly string[] = ['databaseUrl', 'dbUser', 'postgresBin', 'dataDir', 'nodeId']

function addOperations(program: Command, setup: ProgramSetup, run: (asked: Asked) => Promise<void>): void {
  const { operations, configFlags, readFile } = setup
  const newOption = (flags: string, description: string): Option => new Option(flags, description)
  const groups = new Map<string, Command>()
  for (const operation of operations.filter(({ partOf }) => partOf === undefined)) {
    const parts = operations.filter(({ partOf }) => partOf === operation.name)
    for (const { name: words, summary, input } of commandsOf(operation)) {
      const [group, name] = commandOf(words).split(' ')
      const parent = name === undefined ? program : groupOf(program, groups, group!)
      const command = parent.command(name ?? words).description(summary)
      const params = Object.fromEntries(Object.entries(operation.params).filter(([one]) => !Object.hasOwn(input, one)))
      const shown = { ...operation, params }
      addOperation(command, shown, parts, { configFlags, newOption, readFile }, (asked) =>
        // A flag may lead to a part of the command (`check --with`).
        run({
          ...asked,
          operation: asked.operation === shown ? operation : asked.operation,
          raw: { ...asked.raw, ...input },
        }),
      )
      withConfigNames(withConfigFlags(command, optionsFor(operation, parts, configFlags)), helpColumns(setup))
      withExamples(command, examplesOf(words, shown))
    }
  }
}

/** The actions of two-word commands, by their first word. */
const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  jobs: 'Submit lists and follow their progress',
  saved: 'Show and delete answers stored with --save',
  monitors: 'Watch domains, mailboxes and IP addresses',
  accepted: 'Accept findings of domains until a day',
  webhooks: 'Manage webhooks and their deliveries',
  reports: 'DMARC and TLS reports: who sends as your domains',
  api: 'What other programs call: health, ready, probe, peer-register ...',
}

function groupOf(program: Command, groups: Map<string, Command>, name: string): Command {
  const known = groups.get(name)
  if (known) return known
  const made = program.command(name).description(GROUP_SUMMARIES[name] ?? name)
  groups.set(name, made)
  return made
}

function withConfigFlags(command: Command, flags: readonly ConfigFlag[]): Command {
  const order = Object.keys(OPTION_GROUPS)
  const grouped = flags.map((flag) => ({ ...flag, group: placeOf(flag.key).group }))
  for (const { flag, argument, repeatable, meaning, group } of grouped.toSorted(
    (a, b) => order.indexOf(a.group) - order.indexOf(b.group),
  )) {
    const words = repeatable && argument !== undefined ? `${meaning} (repeatable)` : meaning
    const option = new Option(argument === undefined ? `--${flag}` : `--${flag} <${argument}>`, words)
    if (repeatable) option.argParser(gathered)
    command.addOption(option.helpGroup(`${OPTION_GROUPS[group]}:`))
  }
  const config = new Option('--config <FILE>', 'configuration file; default mailsonde.config.json, if it exists')
  return command.addOption(config.helpGroup(`${OPTION_GROUPS.data}:`))
}

const HELP_FLAGS: readonly string[] = ['--help', '-h']

const lists = (group: Command | undefined): boolean => group?.commands.some((one) => one.name() === 'list') === true

/**
 * The arguments with `list` inserted after a group name that is alone or followed by options: `mailsonde jobs` lists
 * the jobs.
 */
function withList(argv: readonly string[], program: Command): readonly string[] {
  const [word, second] = argv
  const isAlone = second === undefined || (second.startsWith('-') && !argv.some((one) => HELP_FLAGS.includes(one)))
  if (!isAlone || !lists(program.commands.find((one) => one.name() === word))) return argv
  return [word!, 'list', ...argv.slice(1)]
}

/** Adds a note about this to the help of each such group. */
function tellOfLists(program: Command): void {
  for (const group of program.commands.filter(lists))
    group.addHelpText('after', `\nWithout a command: mailsonde ${group.name()} list`)
}

/** A hint after a usage error, for an option of another command or a target without a command. */
function hintFor(
  { code, message }: { readonly code: string; readonly message: string },
  argv: readonly string[],
  { configFlags }: { readonly configFlags: readonly ConfigFlag[] },
): string | undefined {
  if (code === 'commander.unknownCommand') return hintForTarget(argv[0] ?? '')?.text
  if (code === 'commander.excessArguments') return hintForTarget(argv[1] ?? '')?.text
  if (code !== 'commander.unknownOption') return undefined
  // Only the option that was refused: others of the line may be known.
  const unknown = /unknown option '--([^'=]+)/.exec(message)?.[1]
  const elsewhere = configFlags.find(({ flag }) => flag === unknown)
  return elsewhere && hint('serve', { flag: elsewhere.flag }).text
}

/** A target was given without a command. */
function hintForTarget(text: string): Problem | undefined {
  if (parseIp(text).ok) return hint('blacklist', { text })
  if (text.includes('@') && parseEmail(text).ok) return hint('verify', { text })
  if (parseDomain(text).ok) return hint('check', { text })
  return undefined
}

/** The right command for a target of another kind: `check 192.0.2.1`. */
function hintForOther(code: string, [command = '', ...words]: readonly string[]): string | undefined {
  if (!OF_TARGETS.includes(code) || !TAKES_TARGET.includes(command)) return undefined
  const hints = words.filter((word) => !word.startsWith('-')).map(hintForTarget)
  return hints.find((one) => one !== undefined && one.id !== `hint.${command}`)?.text
}
/** The flag of a parameter that was not given. */
const hintForMissing = ({ code, parameter }: AppError): string | undefined =>
  code === 'missing_parameter' && parameter !== undefined
    ? hint('missing', { flag: parameter.replaceAll('_', '-') }).text
    : undefined
const OF_TARGETS: readonly string[] = ['invalid_domain', 'invalid_ip']
const TAKES_TARGET: readonly string[] = ['check', 'report', 'dkim', 'dmarc', 'blacklist', 'geo']
