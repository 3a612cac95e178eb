import { readFileSync } from 'node:fs'
import * as zod from 'zod'
import { AppError } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import { type Faces, runCommandLine } from '../cli/program.ts'
import { type Config, describeConfig, loadConfig } from '../config.ts'
import { OPTIONS } from '../config-options.ts'
import type { LogOptions } from '../log.ts'
import type { Operation } from '../operations/operation.ts'
import { allOperations, operationNamed } from '../operations/registry.ts'
import { byKey } from './flags.ts'
import { logAtNeed } from './log-at-need.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}
/** Runs what the arguments ask for and gives the exit status; 70 (EX_SOFTWARE) for a fault of ours. */
export async function commandLine(argv: readonly string[]): Promise<number> {
  const complain = (text: string): void => void process.stderr.write(`${printableLines(text)}\n`)
  try {
    return await runCommandLine(argv, {
      operations: await operationsFor(argv[0]),
      configFlags,
      version,
      faces,
      complain,
    })
  } catch (error) {
    complain(
      `mailsonde: ${error instanceof AppError ? error.message : `an unexpected fault: ${(error as Error).stack}`}`,
    )
    return 70
  }
}

/** Arguments may carry what steers a terminal: each line is cleaned; at most 8,000 characters a line. */
const printableLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => printable(line, 8_000))
    .join('\n')

const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** A command needs its own operation alone; help and words that are no command are told of all. */
async function operationsFor(word: string | undefined): Promise<readonly Operation[]> {
  if (word === 'serve' || word === 'config' || word === 'keys') return []
  zod.config({ jitless: true }) // a shape is read once: compiling it first costs more than it saves
  const named = word === undefined ? undefined : await operationNamed(word)
  return named?.partOf === undefined && named ? [named] : allOperations()
}

const logOptions = (config: Config, level: string = config.logLevel): LogOptions => ({
  level,
  format: config.logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json'),
  addresses: config.logAddresses,
})

const faces: Faces = {
  serve: async (flags) => {
    const { config } = loadConfig(byKey(flags))
    const [{ serve }, { createLogger }] = await Promise.all([import('./serve.ts'), import('../log.ts')])
    return serve(config, createLogger(logOptions(config)), version)
  },
  config: async (flags) => {
    const { default: Table } = await import('cli-table3')
    const table = new Table({ head: ['option', 'value', 'from', 'meaning'], style: { head: [], border: [] } })
    for (const { option, value, source, meaning } of describeConfig(loadConfig(byKey(flags))))
      table.push([option, value, source, meaning])
    print(table.toString())
    return 0
  },
  keys: async (action, flags) => {
    const { manageKeys } = await import('./keys.ts')
    return manageKeys(action, loadConfig(byKey(flags)).config, print)
  },
  operate: async (operation, raw, flags, view) => {
    const { config, sources } = loadConfig(byKey(flags))
    // A command's log would stand between its lines: only what the operator asked for is shown.
    const log = logAtNeed(logOptions(config, sources.logLevel === 'default' ? 'error' : config.logLevel))
    const server = view.server ?? process.env.MAILSONDE_SERVER
    const { operate } = await import('./operate.ts')
    return operate(
      operation,
      raw,
      { ...view, ...(server ? { server } : {}) },
      { config, log, version, print, onTerminal: process.stdout.isTTY === true },
    )
  },
}

const configFlags = Object.entries(OPTIONS).map(([key, option]) => ({
  key,
  flag: option.flag,
  repeatable: option.repeatable,
  meaning: option.meaning,
  ...(option.argument ? { argument: option.argument } : {}),
}))
