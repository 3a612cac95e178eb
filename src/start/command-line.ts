import { readFileSync } from 'node:fs'
import Table from 'cli-table3'
import { AppError } from '../base/errors.ts'
import { type Faces, runCommandLine } from '../cli/program.ts'
import { type Config, describeConfig, loadConfig } from '../config.ts'
import { OPTIONS } from '../config-options.ts'
import { createLogger, type Logger } from '../log.ts'
import { operations } from '../operations/registry.ts'
import { byKey } from './flags.ts'
import { manageKeys } from './keys.ts'
import { operate } from './operate.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}
/** Runs what the arguments ask for and gives the exit status; 70 (EX_SOFTWARE) for a fault of ours. */
export async function commandLine(argv: readonly string[]): Promise<number> {
  const complain = (text: string): void => void process.stderr.write(`${text}\n`)
  try {
    return await runCommandLine(argv, { operations, configFlags, version, faces, complain })
  } catch (error) {
    complain(
      `mailsonde: ${error instanceof AppError ? error.message : `an unexpected fault: ${(error as Error).stack}`}`,
    )
    return 70
  }
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)

const loggerOf = (config: Config, level: string = config.logLevel): Logger =>
  createLogger({
    level,
    format: config.logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json'),
    addresses: config.logAddresses,
  })

const faces: Faces = {
  serve: async (flags) => {
    const { config } = loadConfig(byKey(flags))
    const { serve } = await import('./serve.ts') // the HTTP server is a third of the start, and no command needs it
    return serve(config, loggerOf(config), version)
  },
  config: async (flags) => {
    const table = new Table({ head: ['option', 'value', 'from', 'meaning'], style: { head: [], border: [] } })
    for (const { option, value, source, meaning } of describeConfig(loadConfig(byKey(flags))))
      table.push([option, value, source, meaning])
    print(table.toString())
    return 0
  },
  keys: async (action, flags) => manageKeys(action, loadConfig(byKey(flags)).config, print),
  operate: (operation, raw, flags, view) => {
    const { config, sources } = loadConfig(byKey(flags))
    // A command's log would stand between its lines: only what the operator asked for is shown.
    const logger = loggerOf(config, sources.logLevel === 'default' ? 'error' : config.logLevel)
    const server = view.server ?? process.env.MAILSONDE_SERVER
    return operate(
      operation,
      raw,
      { ...view, ...(server ? { server } : {}) },
      { config, logger, version, print, onTerminal: process.stdout.isTTY === true },
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
