import './start/needs-node.js' // first: what follows needs what an older Node.js does not have

import { AppError } from './base/errors.ts'
import type { Operations } from './client/operations.ts'
import { configOf } from './config.ts'
import { executor } from './operations/execute.ts'
import type { Operation, Raw } from './operations/operation.ts'
import { OPERATIONS } from './operations/registry.ts'
import { version } from './own-files.ts'
import { createDeps } from './start/deps.ts'
import { optionError } from './start/problems.ts'
import { openOutside } from './start/world.ts'
import { memoryStore } from './store/files/files-store.ts'
import type { Log, World } from './world.ts'

/** The library: `import { checkDomain } from 'mailsonde'`. docs/library.md has an example. */
export type BlacklistAnswer = Operations['blacklist']['output']
export type CheckAnswer = Operations['check']['output']
export type ReportAnswer = Operations['report']['output']
export type VerifyAnswer = Operations['verify']['output']
/** The error of a refused call: `code` is stable, docs/errors.md lists the codes. */
export { AppError as MailsondeError }

/**
 * The options of a world; omitted ones have the program's defaults. Neither the environment nor a configuration file is
 * read.
 */
export type WorldOptions = {
  /** Recursive resolvers, `IP` or `IP:PORT`; default: those of the system. */
  readonly resolvers?: readonly string[]
  /** Private networks that may be contacted, such as `10.0.0.0/8`. */
  readonly allowNetworks?: readonly string[]
  /** Source addresses of verification. */
  readonly pool?: readonly string[]
  /** The name for EHLO. */
  readonly helo?: string
  /** The reverse-path of verification, or `<>`. */
  readonly mailFrom?: string
  /** The port of mail servers, for labs. */
  readonly smtpPort?: number
  readonly dqsKey?: string
  readonly spamratsKey?: string
  /** A folder for data that several processes share; default: the data is kept in memory. */
  readonly dataDir?: string
  /** Lifts the limits toward mail hosts, providers and lists: for labs and your own servers. */
  readonly noCourtesy?: boolean
  /** Called with log events; default: events are discarded. */
  readonly log?: Partial<Log>
  /** Replacements for parts of the world: your own `resolve`, a clock. */
  readonly parts?: Partial<World>
}

/** A world that several calls share: its caches, limits and connections. */
export type OpenWorld = {
  /** Closes everything that is open. The world cannot be used afterwards. */
  readonly close: () => Promise<void>
}

type Ask = (operation: Operation, raw: Raw, signal?: AbortSignal) => Promise<unknown>
/** The services of each open world. */
const asking = new WeakMap<OpenWorld, Ask>()

type Common = {
  /** The world to use; default: a new one for this call. */
  readonly world?: OpenWorld
  readonly signal?: AbortSignal
}
type Timed = Common & {
  /** Total time limit, 1 s to 5 min, ms. */
  readonly timeoutMs?: number
}
export type CheckOptions = Timed & {
  /** DKIM selectors that are tried first. */
  readonly selectors?: readonly string[]
  /** Connect to the mail hosts and check their TLS. */
  readonly starttls?: boolean
}
export type VerifyOptions = Timed & {
  /** Additional checks: disposable and free providers, role addresses, a suggested spelling. */
  readonly disposable?: boolean
  readonly free?: boolean
  readonly role?: boolean
  readonly suggestion?: boolean
  /** Use the pool of source addresses, with failover. */
  readonly pool?: boolean
}

/** Opens a world; {@link OpenWorld.close} closes it. Rejects with {@link MailsondeError} for an invalid option. */
export async function openWorld({ log = {}, parts = {}, ...options }: WorldOptions = {}): Promise<OpenWorld> {
  const { noCourtesy, smtpPort, ...texts } = options
  const config = configOf({
    ...texts,
    ...(smtpPort !== undefined && { smtpPort: String(smtpPort) }),
    ...(noCourtesy !== undefined && { noCourtesy }),
  })
  const unsaid = (): void => {}
  const outside = await openOutside(
    config,
    { debug: unsaid, info: unsaid, warn: unsaid, error: unsaid, ...log },
    version,
  )
  const store = options.dataDir === undefined ? { store: memoryStore() } : {}
  const world = { ...outside.world, ...store, ...parts }
  const { provide, shutDown } = createDeps(config, {
    ...outside,
    world,
    ...(parts.resolve && { uncached: parts.resolve }),
  })
  const execute = executor({ world, provide })
  const opened: OpenWorld = {
    close: async () => {
      asking.delete(opened)
      await shutDown()
      await outside.close()
    },
  }
  asking.set(opened, async (operation, raw, signal) => (await execute(operation, raw, signal ? { signal } : {})).answer)
  return opened
}

/**
 * The check of a domain: its published mail setup, judged, with a score. Never rejects because of a server: what could
 * not be determined is `unknown`.
 */
export async function checkDomain(domain: string, options: CheckOptions = {}): Promise<CheckAnswer> {
  // tests validate it against its schema
  return (await ask('check', { domain, ...judging(options) }, options)) as CheckAnswer
}

/** The check of a domain with the blacklists of every MX address. */
export async function reportDomain(
  domain: string,
  options: Omit<CheckOptions, 'starttls'> = {},
): Promise<ReportAnswer> {
  return (await ask('report', { domain, ...judging(options) }, options)) as ReportAnswer
}

/** Whether a mailbox exists, determined by SMTP without sending a message. */
export async function verifyMailbox(email: string, options: VerifyOptions = {}): Promise<VerifyAnswer> {
  const { disposable, free, role, suggestion, pool } = options
  const flags = Object.entries({ disposable, free, role, suggestion, pool }).filter(([, value]) => value === true)
  const wanted = Object.fromEntries(flags.map(([name]) => [name, 'true']))
  return (await ask('verify', { email, ...wanted, ...timed(options) }, options)) as VerifyAnswer
}

/** Whether an IP address is on any of 29 blacklists. */
export async function lookupBlacklists(ip: string, options: Common = {}): Promise<BlacklistAnswer> {
  return (await ask('blacklist', { ip }, options)) as BlacklistAnswer
}

const timed = ({ timeoutMs }: Timed): Raw => (timeoutMs === undefined ? {} : { timeout: `${timeoutMs}ms` })

const judging = ({ selectors, starttls, ...options }: CheckOptions): Raw => ({
  ...timed(options),
  ...(selectors && selectors.length > 0 && { selector: selectors.join() }),
  ...(starttls && { starttls: 'true' }),
})

type Asked = 'check' | 'report' | 'verify' | 'blacklist'

async function ask(name: Asked, raw: Raw, { world, signal }: Common): Promise<unknown> {
  const operation = await OPERATIONS[name]()
  if (world) return askIn(world, operation, raw, signal)
  const own = await openWorld()
  try {
    return await askIn(own, operation, raw, signal)
  } finally {
    await own.close()
  }
}

async function askIn(
  world: OpenWorld,
  operation: Operation,
  raw: Raw,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const inIt = asking.get(world)
  if (inIt) return inIt(operation, raw, signal)
  throw optionError('closed_world')
}
