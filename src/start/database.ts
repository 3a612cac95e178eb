import { access, constants } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { DoctorAnswer } from '../answers/pool.ts'
import { codeOf, messageOf } from '../base/errors.ts'
import { once } from '../base/share-work.ts'
import { systemWords } from '../base/system-words.ts'
import type { Config } from '../config.ts'
import type { JobService } from '../jobs/service.ts'
import type { MonitorServices } from '../monitors/open.ts'
import { type Stored, storedService } from '../monitors/stored.ts'
import type { Deps } from '../operations/deps.ts'
import { executor } from '../operations/execute.ts'
import type { Provide } from '../operations/operation.ts'
import type { PeerRegistry } from '../peers/registry.ts'
import type { OwnProfiles } from '../profiles/domain.ts'
import type { ReportService } from '../reports/service.ts'
import type { Store } from '../store/contract.ts'
import { lazyDatabase, maskedUrl, tryConnection } from '../store/postgres/connect.ts'
import { embeddedMajor } from '../store/postgres/embedded.ts'
import type { Where } from '../store/postgres/embedded-programs.ts'
import { type IdempotencyKeys, idempotencyKeysOf } from '../store/postgres/idempotency-keys.ts'
import { postgresStore } from '../store/postgres/postgres-store.ts'
import { type OpenedCluster, openCluster } from './cluster.ts'
import { hasPrivateDatabase } from './data-folder.ts'
import { openJobs } from './jobs.ts'
import { openMonitors } from './monitors.ts'
import { openReports } from './reports.ts'
import { openStorage } from './storage.ts'
import type { Outside } from './world.ts'

/** The services with state in the database. It is opened when one of them first needs it. */
export type DatabaseServices = {
  /** What the nodes on one `--database-url` share; undefined without one. */
  readonly sharedStore: Store | undefined
  readonly cluster: (peers: () => Promise<PeerRegistry>) => OpenedCluster['cluster'] | undefined
  readonly jobs: () => Promise<JobService>
  readonly monitors: () => Promise<MonitorServices>
  readonly stored: Stored
  readonly reports: () => Promise<ReportService>
  readonly idempotencyKeys: IdempotencyKeys
  readonly isOpened: () => boolean
  readonly probe: Deps['probes']['queue']
  /** What came in as reports, once that service was needed. */
  readonly openedReports: () => ReportService | undefined
  /** Ends jobs and monitors, and releases what they hold. */
  readonly handBack: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Where the programs of a private database are looked for. */
export const programsOf = ({ postgresBin: bin }: Pick<Config, 'postgresBin'>): Where => ({
  bin,
  path: process.env.PATH,
})

/** Rejects if a folder, or the one above it that there is, cannot be written. */
async function mustBeWritable(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    await mustBeWritable(dirname(folder))
  }
}

/** The database of this configuration: a private one without opening it, another one by a connection. Never rejects. */
export async function databaseState(config: Config): Promise<DoctorAnswer['database']> {
  const { databaseUrl, dataDir, dbUser } = config
  if (databaseUrl !== undefined) {
    const detail = maskedUrl(databaseUrl)
    return tryConnection(databaseUrl).then(
      () => ({ kind: 'given', ready: true, detail }),
      (error) => ({ kind: 'given', ready: false, detail: `${detail}: ${systemWords(error)}` }),
    )
  }
  try {
    const major = await embeddedMajor({ dataDir, user: dbUser, where: programsOf(config) })
    await mustBeWritable(resolve(dataDir))
    return {
      kind: 'private',
      ready: true,
      detail: `PostgreSQL ${major}, ${hasPrivateDatabase(dataDir) ? 'in the data folder' : 'started when it is first needed'}`,
    }
  } catch (error) {
    return { kind: 'private', ready: false, detail: messageOf(error) }
  }
}

/** Opens `--database-url`, or the private server of the data folder, for the services with state in it. */
export function databaseServices(
  config: Config,
  outside: Outside,
  provide: Provide,
  profiles: OwnProfiles,
): DatabaseServices {
  const { world } = outside
  const { info, warn } = world.log
  const { dataDir, databaseUrl: url, dbUser } = config
  const database = lazyDatabase({ url, dataDir, dbUser, where: programsOf(config), log: { info, warn } })
  const db = async () => (await database.open()).db
  const storage = openStorage(config, database)
  const sharedStore = url === undefined ? undefined : postgresStore(db, { cluster: '', node: '' })
  const stored = storedService({ open: database.open, storage, now: world.now, log: world.log })
  const idempotencyKeys = idempotencyKeysOf(db)
  const execute = executor({ world, provide })
  let cluster: OpenedCluster | undefined
  let startedJobs: Promise<JobService> | undefined
  let startedMonitors: Promise<MonitorServices> | undefined
  let openedReports: ReportService | undefined
  const jobs = once(() => {
    startedJobs = provide(['verifier']).then(({ verifier }) =>
      openJobs(config, world, database, { execute, limits: verifier.limits, storage }),
    )
    return startedJobs
  })
  const monitors = once(() => {
    const open = async () =>
      openMonitors(config, outside, {
        database,
        execute,
        jobs: await jobs(),
        stored: async () => stored,
        idempotencyKeys,
        storage,
        profiles,
      })
    startedMonitors = open()
    return startedMonitors
  })
  async function handBack(): Promise<void> {
    // What could not be created has nothing to stop.
    await Promise.all([startedMonitors, startedJobs].map(async (one) => (await one?.catch(() => undefined))?.stop()))
  }
  return {
    sharedStore,
    cluster: (peers) => {
      cluster ??= sharedStore && openCluster(database, { world, peers, sources: sharedStore.sources })
      return cluster?.cluster
    },
    jobs,
    monitors,
    stored,
    reports: once(async () => {
      openedReports = openReports(config, world, database, { ...(await provide(['geo', 'blacklists'])), storage })
      return openedReports
    }),
    idempotencyKeys,
    isOpened: database.isOpened,
    probe: database.probe,
    openedReports: () => openedReports,
    handBack,
    close: async () => {
      await cluster?.close()
      await database.close()
    },
  }
}
