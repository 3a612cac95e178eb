import type { DoctorAnswer } from '../answers/pool.ts'
import { keysOf } from '../base/json.ts'
import { counted } from '../base/text.ts'
import type { Logger } from '../log.ts'
import { formatServer } from '../net/dns/system.ts'
import { doctor } from '../operations/doctor.ts'
import { executor } from '../operations/execute.ts'
import type { Provide } from '../operations/operation.ts'
import type { Access } from './access.ts'
import type { Outside } from './world.ts'

type Started = {
  readonly outside: Outside
  readonly provide: Provide
  readonly logger: Logger
  readonly access: Access
}

/** What an operator has to know after the start, in the order of the lines. */
const LABELS = {
  address: 'Address',
  key: 'API key',
  resolver: 'Resolver',
  port_25: 'Port 25',
  database: 'Database',
  next: 'Next',
} as const
type Look = Readonly<Record<keyof typeof LABELS, string>>

/**
 * Says once, after the start, what this machine can do: six lines on a terminal, one object in a JSON log. It is what
 * `doctor` says, shorter. Never rejects; says nothing when the service ends before, except a key that nobody has seen.
 */
export async function tellFirstLook(service: Started, url: string, signal: AbortSignal): Promise<void> {
  const { outside, provide, logger, access } = service
  const isTerminal = process.stderr.isTTY
  let made = isTerminal && access.made !== undefined ? `${access.made} (created now, not shown again)` : undefined
  try {
    const by = { caller: { isAdmin: true }, signal }
    const { answer } = await executor({ world: outside.world, provide })(doctor, {}, by)
    if (signal.aborted) return
    const look = lookOf(service, url, answer as DoctorAnswer)
    if (!isTerminal) logger.info(look, 'first look')
    else process.stderr.write(`\n${linesOf({ ...look, key: made ?? look.key })}\n\n`)
    made = undefined
  } catch (err) {
    if (!signal.aborted) logger.warn({ err }, 'this machine could not be looked at')
  } finally {
    if (made !== undefined) process.stderr.write(`${LABELS.key.padEnd(10)}${made}\n`)
  }
}

/** The lines, with their labels in one column. */
export const linesOf = (look: Look): string =>
  keysOf(LABELS)
    .map((key) => `${LABELS[key].padEnd(10)}${look[key]}`)
    .join('\n')

/** What is said of the answer of `doctor`. */
export function lookOf(
  { access, outside }: Pick<Started, 'access' | 'outside'>,
  url: string,
  seen: DoctorAnswer,
): Look {
  const keys = access.keys().length
  const { resolver, lists, port_25: port25, database } = seen
  const servers = outside.servers.map(formatServer).join(', ')
  const answering = `${lists.answering} of ${lists.total} blacklists answer it`
  return {
    address: url,
    key: keys === 0 ? 'none needed' : `${counted(keys, 'key', 'keys')} in force: mailsonde keys list`,
    resolver: resolver.answers ? `${servers} answers; ${answering}` : `${servers}: ${resolver.reason ?? 'no answer'}`,
    port_25: port25 === null ? 'not known' : port25 ? 'open' : 'blocked: verification ends as unreachable',
    database: database.detail,
    next: nextOf(url, seen),
  }
}

/** The most urgent repair, or the page to open. */
const nextOf = (url: string, { repairs: [first] }: DoctorAnswer): string =>
  first === undefined ? `open ${url}` : `mailsonde doctor: ${first}`
