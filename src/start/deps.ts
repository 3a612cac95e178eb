import { accessSync, constants } from 'node:fs'
import { raced } from '../base/deadline.ts'
import { invalidFlag, messageOf } from '../base/errors.ts'
import { once } from '../base/share-work.ts'
import type { Config } from '../config.ts'
import { createGeo, geoSources } from '../geo/geo.ts'
import type { AskNode } from '../mailbox/attempt/state.ts'
import { identity } from '../mailbox/source/helo.ts'
import type { SourcePool } from '../mailbox/source/pool.ts'
import type { Verification } from '../mailbox/verification.ts'
import { createVerifier, type VerifySettings } from '../mailbox/verify.ts'
import { messageService } from '../message/inbox.ts'
import { verifiedSelectors } from '../message/selectors.ts'
import { parsePastedEmail } from '../names/pasted.ts'
import { formatServer, isPublicResolver } from '../net/dns/system.ts'
import { canBind } from '../net/local-addresses.ts'
import type { DepName, Deps } from '../operations/deps.ts'
import type { Provide } from '../operations/operation.ts'
import { askNodeOf } from '../peers/verify-elsewhere.ts'
import { hasPrivateDatabase } from './data-folder.ts'
import type { DatabaseServices } from './database.ts'
import { openDomainLists, openLists } from './lists.ts'
import { createPeers } from './peers.ts'
import { createSourcePool } from './pool.ts'
import { startProblem } from './problems.ts'
import { ownProfiles } from './profiles.ts'
import { reportsHere } from './reports-here.ts'
import { type Outside, sharedProbe } from './world.ts'

/**
 * The services that operations use, each created when it is first needed, and a hook that saves their state before
 * shutdown.
 */
export type Made = ReturnType<typeof createDeps>

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
  database?: DatabaseServices
}

/** The services that keep state, each created once for the life of the process, when it is first needed. */
export function createDeps(config: Config, outside: Outside, onVerified?: OnVerified) {
  const opened: Opened = {}
  const makers = makersOf(config, outside, opened, (names) => provide(names), onVerified)
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
    /** Throws AppError for an option that cannot be used: the services that read such options are created for it. */
    tryOptions: async () => void (await provide(doubtful(config))),
    /** Ends bulk jobs and monitors, and releases what they hold. */
    handBack: async () => opened.database?.handBack(),
    shutDown: async (): Promise<void> => {
      if (opened.blacklists) await shortly(opened.blacklists.settled())
      if (opened.domainLists) await shortly(opened.domainLists.settled())
      await opened.database?.handBack()
      // An unavailable database does not delay shutdown.
      await opened.verifier?.close().catch(unsaved)
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

function makersOf(
  config: Config,
  outside: Outside,
  opened: Opened,
  provide: Provide,
  onVerified: OnVerified | undefined,
): Makers {
  const { world, version, probes, servers } = outside
  const profiles = ownProfiles(config.profiles)
  /** The code of the database is loaded when it is first needed: most commands need none. */
  const database = once(async () => {
    const { databaseServices } = await import('./database.ts')
    opened.database ??= databaseServices(config, outside, provide, profiles)
    return opened.database
  })
  const blacklists = once(async () => {
    opened.blacklists = await openLists(config, outside)
    return opened.blacklists
  })
  const sourcePool = once(async () => createSourcePool(config, outside, await blacklists()))
  const nodes = once(async () => {
    const shared = config.databaseUrl === undefined ? undefined : (await database()).sharedStore?.peers
    return createPeers(config, { world, version, ...(shared && { shared }) }, (await sourcePool()).addresses)
  })
  const peers = async () => (await nodes()).peers
  const verifier = once(async () => {
    const askNode: AskNode = async (...asked) => askNodeOf(await peers())(...asked)
    const cluster = config.databaseUrl === undefined ? undefined : (await database()).cluster(peers)
    const settings = { ...verifySettings(config, await sourcePool()), askNode, ...(cluster && { cluster }) }
    opened.verifier = told(createVerifier(world, settings), onVerified)
    return opened.verifier
  })
  const reports = async () => (await database()).reports()
  const accepted = async () => (await (await database()).monitors()).accepted
  const selectors = once(verifiedSelectors)
  return {
    blacklists,
    domainLists: once(() => {
      opened.domainLists = openDomainLists(config, outside)
      return opened.domainLists
    }),
    sourcePool,
    geo: once(() => {
      config.geoDbs.forEach(mustBeReadable)
      const { warn } = world.log
      return createGeo({ sources: geoSources(config.geoDbs, { now: world.monotonic, warn }), warn })
    }),
    verifier,
    jobs: async () => (await database()).jobs(),
    idempotencyKeys: async () => (await database()).idempotencyKeys,
    stored: () => async () => (await database()).stored,
    monitors: () => async () => (await (await database()).monitors()).monitors,
    webhooks: () => async () => (await (await database()).monitors()).webhooks,
    accepted: () => accepted,
    acceptedHere: () => async (owner, domain) => {
      const { databaseUrl, dataDir } = config
      const isOpened = opened.database?.isOpened() ?? false
      if (databaseUrl === undefined && !isOpened && !hasPrivateDatabase(dataDir)) return new Map()
      try {
        const reading = accepted().then((service) => service.ofDomain(owner, domain))
        return await raced(AbortSignal.timeout(ACCEPTED_MS), reading)
      } catch (error) {
        world.log.warn('accepted findings could not be read', { reason: messageOf(error) })
        return new Map()
      }
    },
    reports: () => reports,
    reportsHere: once(() =>
      reportsHere(
        config,
        reports,
        () => opened.database?.isOpened() ?? false,
        () => opened.database?.openedReports(),
      ),
    ),
    heloName: once(() => identity(world, config.helo ? { helo: config.helo } : {}).heloName),
    verifiedSelectors: selectors,
    messages: once(() =>
      messageService({
        maxBytes: config.maxMessage,
        verified: selectors(),
        now: world.now,
        monotonic: world.monotonic,
      }),
    ),
    peers,
    mayCall: async () => (await nodes()).mayCall,
    publicResolvers: () => servers.filter(({ ip }) => isPublicResolver(ip)).map(formatServer),
    probes: once(() => ({ ...probes, queue: sharedProbe(async (signal) => opened.database?.probe(signal)) })),
    databaseState: () => async () => (await import('./database.ts')).databaseState(config),
    ownProfiles: () => profiles,
    submission: () => async () => {
      const server = (await import('./monitors.ts')).openSubmission(config)
      return server && { ...server, publicUrl: config.publicUrl }
    },
    canBind: () => canBind,
    smtpPort: () => config.smtpPort,
    sharedDatabaseUser: () => sharedDatabaseUser(config),
  }
}

/** How long an answer waits for the accepted findings, ms. */
const ACCEPTED_MS = 3_000

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
  const email = parsePastedEmail(text)
  if (!email.ok) throw invalidFlag('mail-from', email.problem)
  return { mailFrom: email.value }
}
