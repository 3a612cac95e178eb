import { AppError } from './base/errors.ts'
import type { Operations } from './client/operations.ts'
import { configOf } from './config.ts'
import { executor } from './operations/execute.ts'
import type { Operation, Raw } from './operations/operation.ts'
import { OPERATIONS } from './operations/registry.ts'
import { createDeps } from './start/deps.ts'
import { optionError } from './start/problems.ts'
import { version } from './start/version.ts'
import { openOutside } from './start/world.ts'
import { memoryStore } from './store/files/memory-store.ts'
import type { Log, World } from './world.ts'

/** The library: `import { checkDomain } from 'mailsonde'`. docs/library.md has a program. */
export type BlacklistAnswer = Operations['blacklist']['output']
export type CheckAnswer = Operations['check']['output']
export type ReportAnswer = Operations['report']['output']
export type VerifyAnswer = Operations['verify']['output']
/** What a call refuses: `code` is stable, docs/errors.md lists them. */
export { AppError as MailsondeError }

/** How a world is opened; what is left out is as the program's own default. Nothing is read from the environment or from a configuration file. */
export type WorldOptions = {
  /** Recursive resolvers, `IP` or `IP:PORT`; left out: those of the system. */
  readonly resolvers?: readonly string[]
  /** Networks that may be reached although private, as `10.0.0.0/8`. */
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
  /** A folder for stored data between processes; left out: this process alone remembers. */
  readonly dataDir?: string
  /** Lifts the limits toward mail hosts, providers and lists: for labs and one's own servers. */
  readonly noCourtesy?: boolean
  /** Told of what happens; left out: nobody is. */
  readonly log?: Partial<Log>
  /** Parts in place of the real ones: a `resolve` of one's own, a clock. */
  readonly parts?: Partial<World>
}

/** A world that several calls share: its caches, limits and connections. */
export type OpenWorld = {
  /** Ends what is open. Nothing may be asked afterwards. */
  readonly close: () => Promise<void>
}

type Ask = (operation: Operation, raw: Raw, signal?: AbortSignal) => Promise<unknown>
/** How the worlds that are open are asked. */
const asking = new WeakMap<OpenWorld, Ask>()

type Common = {
  /** The world to ask in; left out: one for this call alone. */
  readonly world?: OpenWorld
  readonly signal?: AbortSignal
}
type Timed = Common & {
  /** Time for everything, 1 s to 5 min, ms. */
  readonly timeoutMs?: number
}
export type CheckOptions = Timed & {
  /** DKIM selectors to try first. */
  readonly selectors?: readonly string[]
  /** Connect to the mail hosts and look at their TLS. */
  readonly starttls?: boolean
}
export type VerifyOptions = Timed & {
  /** What is looked for beside: disposable and free providers, role addresses, a better spelling. */
  readonly disposable?: boolean
  readonly free?: boolean
  readonly role?: boolean
  readonly suggestion?: boolean
  /** Use the pool of source addresses, with failover. */
  readonly pool?: boolean
}

/** Opens a world; {@link OpenWorld.close} ends it. Rejects with {@link MailsondeError} for an option that cannot be used. */
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

/** The check of a domain: what is published for its mail, judged, with a score. Never rejects for what a server does: what could not be determined is `unknown`. */
export async function checkDomain(domain: string, options: CheckOptions = {}): Promise<CheckAnswer> {
  return (await ask('check', { domain, ...judging(options) }, options)) as CheckAnswer // held against its schema by tests
}

/** The check of a domain with the blacklists of every MX address. */
export async function reportDomain(
  domain: string,
  options: Omit<CheckOptions, 'starttls'> = {},
): Promise<ReportAnswer> {
  return (await ask('report', { domain, ...judging(options) }, options)) as ReportAnswer
}

/** Whether a mailbox exists, by SMTP and without sending anything. */
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
