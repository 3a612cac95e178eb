import { once } from '../base/once.ts'
import type { LogOptions } from '../log.ts'
import type { Log } from '../world.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/**
 * The log of a command. The logger is loaded with the first line of the configured level, because most commands never
 * write one; lines keep their order.
 */
export function logAtNeed(options: LogOptions): Log {
  const made = once(async () => {
    const { createLogger, logOf } = await import('../log.ts')
    return logOf(createLogger(options))
  })
  const least = (LEVELS as readonly string[]).indexOf(options.level)
  const lines = LEVELS.map((level, at): Log[typeof level] =>
    least < 0 || at < least ? () => {} : (event, fields) => void made().then((log) => log[level](event, fields)),
  )
  return Object.fromEntries(LEVELS.map((level, at) => [level, lines[at]])) as unknown as Log
}
