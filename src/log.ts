import pino from 'pino'
import { maskAddresses, printable } from './base/text.ts'
import type { Log } from './world.ts'

export type LogOptions = {
  readonly level: string
  /** `pretty`: one readable line; `json`: one object per line. */
  readonly format: 'pretty' | 'json'
  /** Mail addresses are written in full instead of as `j***@example.org`. */
  readonly addresses: boolean
}

export type Logger = pino.Logger

/**
 * The log, by default on standard error, because standard output is for answers. Mail addresses in any field are masked
 * unless `addresses` is set. `write` gets the lines in place of standard error.
 */
export function createLogger({ level, format, addresses }: LogOptions, write?: (line: string) => void): Logger {
  const clean = addresses ? (value: unknown) => value : masked
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => clean(fields) as Record<string, unknown> },
      hooks: {
        logMethod(args, method) {
          const cleaned = args.map((arg) => (typeof arg === 'string' ? clean(arg) : arg))
          return method.apply(this, cleaned as Parameters<typeof method>)
        },
      },
      redact: ['headers.authorization', 'headers["x-api-key"]', 'req.headers'],
    },
    destinationOf(format, write),
  )
}

function destinationOf(format: LogOptions['format'], write?: (line: string) => void): pino.DestinationStream {
  if (format === 'json') return write ? { write } : pino.destination({ dest: 2, sync: false })
  const out = write ?? ((line: string): void => void process.stderr.write(line))
  return { write: (line: string) => out(pretty(line)) }
}

/** The world's log as a wrapper of a logger: event first, fields after. */
export const logOf = (logger: Logger): Log => ({
  debug: (event, fields) => logger.debug(fields ?? {}, event),
  info: (event, fields) => logger.info(fields ?? {}, event),
  warn: (event, fields) => logger.warn(fields ?? {}, event),
  error: (event, fields) => logger.error(fields ?? {}, event),
})

/** A Message-ID is no address, and a message is found by the whole of it. */
const WHOLE = 'message_id'
/** Values with every mail address in them as `j***@example.org`; nesting deeper than 4 is left out. */
export function masked(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskAddresses(value)
  if (value instanceof Error)
    return { type: value.name, message: masked(value.message), stack: masked(value.stack ?? '') }
  if (typeof value !== 'object' || value === null) return value
  if (depth >= 4) return '…'
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => masked(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === WHOLE ? item : masked(item, depth + 1)]),
  )
}

function pretty(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const rest = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const text = printable([msg, ...rest].map(String).join(' '), 4_000)
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${text}\n`
}
