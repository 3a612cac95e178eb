import { randomUUID } from 'node:crypto'
import { accessSync, constants, createReadStream, fstatSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import * as zod from 'zod'
import { AppError, invalidFlag, messageOf } from '../base/errors.ts'
import { systemWords } from '../base/system-words.ts'
import { linesOf, printable, withoutCommands } from '../base/text.ts'
import type { AskedService } from '../cli/ask-service.ts'
import { type Asked, needsStore } from '../cli/commands.ts'
import { byKey, type ConfigFlag, type FlagValues } from '../cli/flags.ts'
import { lookOf } from '../cli/look.ts'
import { type Actions, runCommandLine } from '../cli/program.ts'
import { progressLines } from '../cli/progress.ts'
import { type Config, describeConfig, loadConfig } from '../config.ts'
import { OPTIONS } from '../config-options.ts'
import type { Look } from '../documents/terminal/terminal.ts'
import type { LogOptions } from '../log.ts'
import type { By, Execute } from '../operations/execute.ts'
import type { Operation, Raw, Upload } from '../operations/operation.ts'
import { allOperations, commandNamed } from '../operations/registry.ts'
import { version } from '../own-files.ts'
import type { Log } from '../world.ts'
import { fileError, optionError, startProblem } from './problems.ts'

/** Runs the command of the arguments and returns the exit status; 70 (EX_SOFTWARE) for a fault of ours. */
export async function commandLine(argv: readonly string[]): Promise<number> {
  // The reader has closed the pipe (`| head`): the rejection of the write reports it.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  try {
    return await runCommandLine(argv, {
      operations: await operationsFor(argv),
      configFlags,
      version,
      actions,
      complain,
      readFile: readTextFile,
      ...(process.stdout.columns > 0 && { columns: process.stdout.columns }),
    })
  } catch (error) {
    complain(`mailsonde: ${error instanceof AppError ? error.message : `unexpected error: ${(error as Error).stack}`}`)
    return 70
  }
}

/** A problem as text, on standard error. */
const complain = (text: string): void => void process.stderr.write(`${printableLines(text)}\n`)

/** Arguments may contain control sequences, so each line is cleaned; at most 8,000 characters per line. */
const printableLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => withoutCommands(printable(line, 8_000)))
    .join('\n')

const look = (): Look => lookOf(process.stdout, process.env)

const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** A command needs its own operation, and those of its flags; help and unknown words need all. */
async function operationsFor([first, second]: readonly string[]): Promise<readonly Operation[]> {
  const word = first === 'api' ? second : first
  if (word !== undefined && WITHOUT_OPERATIONS.includes(word)) return []
  zod.config({ jitless: true }) // each schema is used once: compiling it costs more than it saves
  return (word === undefined ? undefined : await commandNamed(word)) ?? allOperations()
}

const WITHOUT_OPERATIONS: readonly string[] = ['serve', 'config', 'keys', 'db', 'mcp', '--version', '-V']

const logOptions = (config: Config): LogOptions => ({
  level: config.logLevel,
  format: config.logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json'),
  addresses: config.logAddresses,
})

const actions: Actions = {
  serve: async (flags) => {
    const { config } = loadConfig(byKey(configFlags, flags))
    const [{ serve }, { createLogger }] = await Promise.all([import('./service.ts'), import('../log.ts')])
    return serve(config, createLogger(logOptions(config)), version)
  },
  config: async (flags) => {
    const [{ configDocument }, { formatTerminal }] = await Promise.all([
      import('../documents/service.ts'),
      import('../documents/terminal/terminal.ts'),
    ])
    const options = describeConfig(loadConfig(byKey(configFlags, flags)))
    print(formatTerminal(configDocument(options, version), look()))
    return 0
  },
  mcp: async (flags) => {
    const { config, log } = await commandSetup(flags)
    const [{ mcpOverStdio }, { execute, close }, operations] = await Promise.all([
      import('../mcp/stdio.ts'),
      open(config, log),
      allOperations(),
    ])
    const interrupted = new AbortController()
    for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => interrupted.abort())
    const onFault = (error: Error): void => complain(`mailsonde mcp: ${error.message}`)
    const { MAILSONDE_SERVER: server, MAILSONDE_KEY: key } = process.env
    // One that is started later is asked from then on.
    const serviceNow = async () => (server ? serviceAt(server, key, config) : serviceOf(config))
    const ask = async (operation: Operation, given: Raw, by: By) => {
      const { raw } = withAccepted({ operation, raw: given }, config)
      const [service, { askService }] = await Promise.all([serviceNow(), import('../cli/ask-service.ts')])
      if (!service) return execute(operation, raw, by)
      const answer = await askService(operation, raw, service, by.signal ?? interrupted.signal, by.upload)
      return { ...answer, format: 'json' }
    }
    const asking: Execute = Object.assign(ask, { lines: execute.lines })
    const setup = { operations, execute: asking, version, mayUse: () => true, boundary: randomUUID }
    await mcpOverStdio(setup, { signal: interrupted.signal, onFault })
    await close()
    return 0
  },
  keys: async (action, flags) => {
    const { manageKeys } = await import('./keys.ts')
    return manageKeys(action, loadConfig(byKey(configFlags, flags)).config, print, { version, look: look() })
  },
  list: async (asked, flags) => {
    const { config, log } = await commandSetup(flags)
    const { workOnList } = await import('./list-file.ts')
    return workOnList(asked, config, { open: () => open(config, log), openUpload, tell, complain })
  },
  db: async (action, flags) => {
    const { manageDatabase } = await import('./database-commands.ts')
    return manageDatabase(action, loadConfig(byKey(configFlags, flags)).config, print)
  },
  operate: async ({ flags, ...asked }) => {
    // A mail server keeps what a pipe says: what is no report is found again by it. Why there is no database is logged.
    const isTold = asked.uploads?.includes('-') || needsStore(asked.operation)
    const { config, log } = await commandSetup(flags, isTold ? 'warn' : 'error')
    const server = asked.view.server ?? process.env.MAILSONDE_SERVER
    const key = asked.view.key ?? process.env.MAILSONDE_KEY
    const service = server ? serviceAt(server, key, config) : await serviceBeside(asked, config)
    if (asked.view.key !== undefined && !service) throw optionError('key')
    if (asked.uploads !== undefined) {
      const { importFiles } = await import('./import-files.ts')
      return importFiles(asked.uploads, config, { log, version, service, print, complain, look: look() })
    }
    const { operate } = await import('../cli/operate.ts')
    return operate(withAccepted(asked, config), {
      version,
      onTerminal: process.stdout.isTTY === true,
      intoFile: fstatSync(1).isFile(),
      look: look(),
      open: () => open(config, log),
      service,
      tell,
      showsSpinner: process.stdout.isTTY === true && process.stderr.isTTY === true,
      complain,
      write,
      writeFile,
      readLines,
      openUpload,
      find: async (name) => (await allOperations()).find((one) => one.name === name),
    })
  },
}

/** The accepted findings of the configuration, for a command that takes some and was given none. */
function withAccepted<A extends Pick<Asked, 'operation' | 'raw'>>(asked: A, { accept }: Config): A {
  if (accept === undefined || asked.raw.accept !== undefined || !('accept' in asked.operation.params)) return asked
  return { ...asked, raw: { ...asked.raw, accept: accept.startsWith('[') ? accept : readTextFile(accept, MAX_ACCEPT) } }
}
/** Maximum size of a file of accepted findings, octets. */
const MAX_ACCEPT = 262_144

/** This process's own service for one command. */
async function open(
  config: Config,
  log: Log,
): Promise<{ readonly execute: Execute; readonly close: () => Promise<void> }> {
  const [{ openOutside }, { createDeps }, { executor }] = await Promise.all([
    import('./world.ts'),
    import('./deps.ts'),
    import('../operations/execute.ts'),
  ])
  const outside = await openOutside(config, log, version)
  const { provide, shutDown } = createDeps(config, outside)
  const close = async (): Promise<void> => {
    await shutDown()
    await outside.close()
  }
  return { execute: executor({ world: outside.world, provide }), close }
}

const tell = progressLines({
  write: (text) => void process.stderr.write(text),
  width: () => (process.stderr.isTTY ? process.stderr.columns || 80 : undefined),
  now: () => performance.now(),
})

/** Maximum number of characters of a line of standard input; mailboxes and domains are shorter. */
const MAX_LINE = 4_096
/** The lines of standard input; rejects when `stopped` fires, because the input may never end. */
const readLines = (stopped: AbortSignal): AsyncIterable<string> =>
  linesOf(addAbortSignal(stopped, process.stdin), MAX_LINE)

const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })

function writeFile(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (cause) {
    throw invalidFlag('format', startProblem('not_opened', { reason: messageOf(cause) }), { cause })
  }
}

const UPLOAD_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  txt: 'text/plain',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  json: 'application/json',
}

/** A file to upload, or standard input; its type follows from its name, with CSV as the default. Throws AppError. */
function openUpload(path: string, stopped?: AbortSignal, what: Operation['uploads'] = 'list'): Upload {
  const extension = /\.(\w+)(?:\.gz)?$/.exec(path.toLowerCase())?.[1] ?? ''
  const contentType = what === 'message' ? 'message/rfc822' : (UPLOAD_TYPES[extension] ?? 'text/csv')
  if (path === '-') return { octets: stopped ? addAbortSignal(stopped, process.stdin) : process.stdin, contentType }
  try {
    accessSync(path, constants.R_OK)
  } catch (cause) {
    throw fileError('unreadable', { path, reason: systemWords(cause) }, { cause })
  }
  return { octets: createReadStream(path), contentType }
}

/** With --peer-secret the call is signed as a node's own, with --node-id. */
const serviceAt = (server: string, key: string | undefined, { apiKeys, peerSecret, nodeId }: Config): AskedService => ({
  server,
  key: key ?? apiKeys[0],
  peerSecret,
  nodeId,
  now: () => Date.now(),
})

/** The service that holds this data folder, for a command that needs what is stored there. */
const serviceBeside = async ({ operation, view }: Pick<Asked, 'operation' | 'view'>, config: Config) =>
  view.inProcess || !needsStore(operation) ? undefined : serviceOf(config)

/** The service that holds this data folder, asked as the owner of it; undefined if none runs. */
async function serviceOf({ dataDir }: Config): Promise<AskedService | undefined> {
  const [{ ownSocket }, { answersAt, fetchOver }] = await Promise.all([
    import('./data-folder.ts'),
    import('../net/unix-socket.ts'),
  ])
  const path = ownSocket(dataDir)
  if (!(await answersAt(path))) return undefined
  const fetch = await fetchOver(path)
  return { server: 'http://localhost', key: undefined, peerSecret: undefined, nodeId: undefined, now: Date.now, fetch }
}

/** A text file that a flag names. Throws AppError. */
function readTextFile(path: string, maxBytes: number): string {
  try {
    if (statSync(path).size <= maxBytes) return readFileSync(path, 'utf8')
  } catch (cause) {
    throw fileError('unreadable', { path, reason: systemWords(cause) }, { cause })
  }
  throw fileError('too_large', { path, max: maxBytes })
}

const configFlags: readonly ConfigFlag[] = Object.entries(OPTIONS).map(([key, option]) => ({
  key,
  flag: option.flag,
  repeatable: option.repeatable,
  meaning: option.meaning,
  ...(option.argument ? { argument: option.argument } : {}),
}))

/**
 * The configuration of a command, and its log, which would mix with its output: without a requested one, only `least`
 * is shown.
 */
async function commandSetup(
  flags: FlagValues,
  least: 'error' | 'warn' = 'error',
): Promise<{ readonly config: Config; readonly log: Log }> {
  const { config, sources } = loadConfig(byKey(configFlags, flags))
  const { createLogger, logOf } = await import('../log.ts')
  const level = sources.logLevel === 'default' ? least : config.logLevel
  return { config, log: logOf(createLogger({ ...logOptions(config), level })) }
}
