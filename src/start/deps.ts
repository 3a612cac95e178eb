import { accessSync, constants } from 'node:fs'
import { invalidFlag, messageOf } from '../base/errors.ts'
import { once } from '../base/share-work.ts'
import type { Config } from '../config.ts'
import type { JobService } from '../jobs/service.ts'
import type { AskNode } from '../mailbox/attempt/state.ts'
import type { SourcePool } from '../mailbox/source/pool.ts'
import type { Verification } from '../mailbox/verification.ts'
import type { VerifySettings } from '../mailbox/verify.ts'
import type { MonitorServices } from '../monitors/open.ts'
import { parseEmail } from '../names/email.ts'
import { formatServer, isPublicResolver } from '../net/dns/system.ts'
import type { DepName, Deps } from '../operations/deps.ts'
import type { Provide } from '../operations/operation.ts'
import type { ReportService } from '../reports/service.ts'
import type { LazyDatabase } from '../store/postgres/connect.ts'
import type { OpenedCluster } from './cluster.ts'
import { hasPrivateDatabase } from './data-folder.ts'
import { loadInSteps } from './in-steps.ts'
import { lazyIdempotencyKeys, lazyJobs } from './lazy.ts'
import { startProblem } from './problems.ts'
import { type Outside, sharedProbe } from './world.ts'

/**
 * The services that operations use, each created when it is first needed, and a hook that saves their state before
 * shutdown.
 */
export type Made = {
  readonly provide: Provide
  /** Throws AppError for an option that cannot be used: the services that read such options are created for it. */
  readonly tryOptions: () => Promise<void>
  /** Ends bulk jobs and monitors, and releases what they hold. */
  readonly handBack: () => Promise<unknown>
  readonly shutDown: () => Promise<void>
}

/** How long running self-tests may delay the end of the program, ms: two round trips to most lists. */
const SELF_TESTS_MS = 300

type Makers = { readonly [Name in DepName]: () => Deps[Name] | Promise<Deps[Name]> }
/** Called with each verification: of single questions and of the rows of jobs. */
type OnVerified = (verification: Verification) => void
/** Members with state to save, once they are created. */
type Opened = {
  blacklists?: Deps['blacklists']
  domainLists?: Deps['domainLists']
  verifier?: Deps['verifier']
  jobs?: JobService
  monitors?: MonitorServices
  reports?: ReportService
  database?: LazyDatabase
  cluster?: OpenedCluster
}

/**
 * The services that keep state, each created once for the life of the process; the code of unused ones is not loaded.
 */
export function createDeps(config: Config, outside: Outside, onVerified?: OnVerified): Made {
  const opened: Opened = {}
  const own: Making = { opened, onVerified, provide: (names) => provide(names) }
  const makers = makersOf(config, outside, own)
  // An operation lists its services once: they are collected only for its first question.
  const provided = new WeakMap<readonly DepName[], object>()
  const provide: Provide = async (names) => {
    type Services = Pick<Deps, (typeof names)[number]>
    const known = provided.get(names)
    if (known) return known as Services
    const made = await Promise.all(names.map(async (name) => [name, await makers[name]()] as const))
    const services = Object.fromEntries(made) as Services // one entry for each name
    provided.set(names, services)
    return services
  }
  const unsaved = (error: Error): void =>
    outside.world.log.warn('the state of the sources was not saved', { reason: error.message })
  return {
    provide,
    tryOptions: async () => void (await provide(doubtful(config))),
    handBack: async () => Promise.all([opened.monitors?.stop(), (await makers.jobs()).stop()]),
    shutDown: async () => {
      if (opened.blacklists) await shortly(opened.blacklists.settled())
      if (opened.domainLists) await shortly(opened.domainLists.settled())
      await opened.monitors?.stop()
      await opened.jobs?.stop()
      // An unavailable database does not delay shutdown.
      await opened.verifier?.close().catch(unsaved)
      await opened.cluster?.close()
      await opened.database?.close()
    },
  }
}

/** The services whose options are set and may be wrong. */
const doubtful = ({ pool, mailFrom, geoDbs, ...lists }: Config): readonly DepName[] => [
  ...(pool.length > 0 ? (['sourcePool'] as const) : []),
  ...(mailFrom === undefined ? [] : (['verifier'] as const)),
  ...(geoDbs.length > 0 ? (['geo'] as const) : []),
  ...((lists.dnsblLists ?? lists.dqsKey ?? lists.spamratsKey) ? (['blacklists'] as const) : []),
]

type Making = {
  readonly opened: Opened
  readonly onVerified: OnVerified | undefined
  readonly provide: Provide
}

function makersOf(config: Config, outside: Outside, { opened, onVerified, provide }: Making): Makers {
  const { world, version, probes, servers } = outside
  /** `--database-url`, or the private server of the data folder, for services with state in a database. */
  const database = once(async () => {
    await import('pg')
    await loadInSteps('kysely')
    await loadInSteps(new URL('../store/postgres/connect.ts', import.meta.url))
    const { lazyDatabase } = await import('../store/postgres/connect.ts')
    const { dataDir, databaseUrl: url, dbUser } = config
    const { info, warn } = world.log
    opened.database = lazyDatabase({
      ...{ url, dataDir, dbUser, log: { info, warn } },
    })
    return opened.database
  })
  const storage = once(async () => {
    const opening = await database()
    return (await import('./storage.ts')).openStorage(config, opening)
  })
  /** The state that the nodes on one `--database-url` share; undefined without one. */
  const sharedStore = once(async () => {
    if (config.databaseUrl === undefined) return undefined
    const { postgresStore } = await import('../store/postgres/postgres-store.ts')
    const { open } = await database()
    return postgresStore(async () => (await open()).db, { cluster: '', node: '' })
  })
  const cluster = once(async () => {
    const store = await sharedStore()
    if (!store) return undefined
    const { openCluster } = await import('./cluster.ts')
    const peers = async () => (await nodes()).peers
    opened.cluster = openCluster(await database(), { world, peers, sources: store.sources })
    return opened.cluster.cluster
  })
  const blacklists = once(async () => {
    await loadInSteps(new URL('./lists.ts', import.meta.url))
    opened.blacklists = await (await import('./lists.ts')).openLists(config, outside)
    return opened.blacklists
  })
  const domainLists = once(async () => {
    opened.domainLists = (await import('./lists.ts')).openDomainLists(config, outside)
    return opened.domainLists
  })
  const verifiedSelectors = once(async () => (await import('../message/selectors.ts')).verifiedSelectors())
  const sourcePool = once(async () => {
    const { createSourcePool } = await import('./pool.ts')
    return createSourcePool(config, outside, await blacklists())
  })
  const nodes = once(async () => {
    const { createPeers } = await import('./peers.ts')
    const shared = await sharedStore()
    const store = shared && { shared: shared.peers }
    return createPeers(config, { world, version, ...store }, (await sourcePool()).addresses)
  })
  const stored = once(async () => {
    const { storedService } = await import('../monitors/stored.ts')
    return storedService({
      open: (await database()).open,
      storage: await storage(),
      now: world.now,
      log: world.log,
    })
  })
  const reports = once(async () => {
    await loadInSteps(new URL('./reports.ts', import.meta.url))
    const [{ openReports }, services] = await Promise.all([import('./reports.ts'), provide(['geo', 'blacklists'])])
    opened.reports = openReports(config, world, await database(), { ...services, storage: await storage() })
    return opened.reports
  })
  const monitors = once(async () => {
    await loadInSteps(new URL('./monitors.ts', import.meta.url))
    const [{ openMonitors }, { executor }, { jobs, idempotencyKeys }] = await Promise.all([
      import('./monitors.ts'),
      import('../operations/execute.ts'),
      provide(['jobs', 'idempotencyKeys']),
    ])
    const execute = executor({ world, provide })
    opened.monitors = openMonitors(config, outside, {
      database: await database(),
      execute,
      jobs,
      stored,
      idempotencyKeys,
      storage: await storage(),
    })
    return opened.monitors
  })
  return {
    blacklists,
    domainLists,
    sourcePool,
    geo: once(async () => {
      const { createGeo, geoSources } = await import('../geo/geo.ts')
      config.geoDbs.forEach(mustBeReadable)
      const { warn } = world.log
      return createGeo({ sources: geoSources(config.geoDbs, { now: world.monotonic, warn }), warn })
    }),
    verifier: once(async () => {
      await loadInSteps(new URL('../mailbox/verify.ts', import.meta.url))
      const { createVerifier } = await import('../mailbox/verify.ts')
      const { askNodeOf } = await import('../operations/verify-elsewhere.ts')
      const askNode: AskNode = async (...asked) => askNodeOf((await nodes()).peers)(...asked)
      const shared = await cluster()
      const settings = {
        ...verifySettings(config, await sourcePool()),
        askNode,
        ...(shared && { cluster: shared }),
      }
      const verifier = told(createVerifier(world, settings), onVerified)
      opened.verifier = verifier
      return verifier
    }),
    jobs: once(() =>
      lazyJobs(async () => {
        const opening = await database() // first, because it loads packages that the others import
        await loadInSteps(new URL('./jobs.ts', import.meta.url))
        const [{ openJobs }, { executor }, { verifier }] = await Promise.all([
          import('./jobs.ts'),
          import('../operations/execute.ts'),
          provide(['verifier']),
        ])
        const execute = executor({ world, provide })
        opened.jobs = openJobs(config, world, opening, {
          execute,
          limits: verifier.limits,
          storage: await storage(),
        })
        return opened.jobs
      }),
    ),
    idempotencyKeys: once(() =>
      lazyIdempotencyKeys(async () => {
        const { idempotencyKeysOf } = await import('../store/postgres/idempotency-keys.ts')
        const { open } = await database()
        return idempotencyKeysOf(async () => (await open()).db)
      }),
    ),
    stored: () => stored,
    monitors: () => async () => (await monitors()).monitors,
    webhooks: () => async () => (await monitors()).webhooks,
    reports: () => reports,
    reportsHere: once(async () => {
      const { reportsHere } = await import('./reports-here.ts')
      return reportsHere(
        config,
        reports,
        () => opened.database?.isOpened() ?? false,
        () => opened.reports,
      )
    }),
    heloName: once(async () => {
      const { identity } = await import('../mailbox/source/helo.ts')
      return identity(world, config.helo ? { helo: config.helo } : {}).heloName
    }),
    verifiedSelectors,
    messages: once(async () => {
      const { messageService } = await import('../message/inbox.ts')
      const verified = await verifiedSelectors()
      const { now, monotonic } = world
      return messageService({ maxBytes: config.maxMessage, verified, now, monotonic })
    }),
    peers: async () => (await nodes()).peers,
    mayCall: async () => (await nodes()).mayCall,
    publicResolvers: () => servers.filter(({ ip }) => isPublicResolver(ip)).map(formatServer),
    probes: once(() => ({ ...probes, queue: sharedProbe(async (signal) => opened.database?.probe(signal)) })),
    // `import` of a loaded module takes 100 µs
    canBind: once(async () => (await import('../net/local-addresses.ts')).canBind),
    smtpPort: () => config.smtpPort,
    sharedDatabaseUser: () => sharedDatabaseUser(config),
  }
}

/** The verifier, with a call for each verification. */
const told = (verifier: Deps['verifier'], onVerified: OnVerified | undefined): Deps['verifier'] =>
  onVerified === undefined
    ? verifier
    : {
        ...verifier,
        verify: async (...asked) => {
          const verification = await verifier.verify(...asked)
          onVerified(verification)
          return verification
        },
      }

/**
 * Root starts the private database as --db-user, by default as `nobody`, whose files and processes any other service of
 * that user may change.
 */
const sharedDatabaseUser = ({ databaseUrl, dataDir, dbUser }: Config): string | undefined =>
  process.getuid?.() === 0 && databaseUrl === undefined && dbUser === 'nobody' && hasPrivateDatabase(dataDir)
    ? dbUser
    : undefined

/** Checks the file of an option that is read later: otherwise a wrong name would go unnoticed. */
function mustBeReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (cause) {
    throw invalidFlag('geo-db', startProblem('not_opened', { reason: messageOf(cause) }), { cause })
  }
}

const shortly = (work: Promise<void>): Promise<void> =>
  Promise.race([work, new Promise<void>((resolve) => setTimeout(resolve, SELF_TESTS_MS).unref())])

function verifySettings(config: Config, pool: SourcePool): VerifySettings {
  return {
    ...(config.helo ? { helo: config.helo } : {}),
    ...mailFrom(config.mailFrom),
    port: config.smtpPort,
    pool: pool.sources,
    listed: pool.refusedBy,
    deny: config.deny,
    poolAttempts: config.poolAttempts,
    noCourtesy: config.noCourtesy,
  }
}

/** The operator's reverse-path: an address, `<>` for none, or undefined to derive one. */
function mailFrom(text: string | undefined): Pick<VerifySettings, 'mailFrom'> {
  if (text === undefined) return {}
  if (text === '<>') return { mailFrom: null }
  const email = parseEmail(text.replace(/^<(.*)>$/, '$1'))
  if (!email.ok) throw invalidFlag('mail-from', email.problem)
  return { mailFrom: email.value }
}
