import { existsSync } from 'node:fs'
import pg from 'pg'
import { messageOf } from '../base/errors.ts'
import type { DbAction } from '../cli/admin-commands.ts'
import type { Config } from '../config.ts'
import { presentMonitor } from '../monitors/present.ts'
import { readDelivery } from '../monitors/webhooks.ts'
import { copyRepositories } from '../store/contract.ts'
import { filesStore } from '../store/files/files-store.ts'
import { backUp } from '../store/postgres/backup.ts'
import { isAway, kyselyOn, maskedUrl } from '../store/postgres/connect.ts'
import { embeddedConnection, startEmbedded } from '../store/postgres/embedded.ts'
import { queueState } from '../store/postgres/job-sums.ts'
import { poolOf } from '../store/postgres/pool.ts'
import { postgresStore } from '../store/postgres/postgres-store.ts'
import { restore } from '../store/postgres/restore.ts'
import { migrate, schemaStatus } from '../store/postgres/tables.ts'
import { hasPrivateDatabase } from './data-folder.ts'
import { programsOf } from './database.ts'
import { fileError, serviceStartError } from './problems.ts'

type Print = (text: string) => void
type Opened = { readonly pool: pg.Pool; readonly where: string; readonly close: () => Promise<void> }

/** `mailsonde db status|migrate|backup|restore|import`. Returns the exit status; throws AppError. */
export async function manageDatabase(action: DbAction, config: Config, print: Print): Promise<number> {
  const opened = await openAsIs(config)
  try {
    print(await ACTIONS[action.kind](opened, config, action))
    return 0
  } catch (cause) {
    if (!isAway(cause)) throw cause
    throw serviceStartError('no_answer', { place: opened.where, reason: messageOf(cause) }, { cause })
  } finally {
    await opened.close()
  }
}

const HOURS_MS = 24 * 3_600_000
const fileOf = (action: DbAction): string => ('file' in action ? action.file : '')

const ACTIONS: Readonly<
  Record<DbAction['kind'], (opened: Opened, config: Config, action: DbAction) => Promise<string>>
> = {
  status: async ({ pool, where }) => statusText(pool, where),
  migrate: async ({ pool }) => {
    const steps = await migrate(pool)
    return steps === 0 ? 'the schema is up to date' : `the schema is up to date: ${steps} migrations applied`
  },
  backup: async ({ pool }, _config, action) => {
    await migrate(pool)
    const path = fileOf(action)
    if (existsSync(path)) throw fileError('exists', { path })
    const { tables, bytes } = await backUp(pool, path, Date.now, AbortSignal.timeout(HOURS_MS))
    return `${path}: ${tables} tables, ${bytes} bytes before compression`
  },
  restore: async ({ pool }, _config, action) => {
    const { tables, schema } = await restore(pool, fileOf(action), {
      monitor: (row) => void presentMonitor(row),
      delivery: readDelivery,
    })
    return `restored ${tables} tables of schema version ${schema}`
  },
  import: async ({ pool }, config) => {
    await migrate(pool)
    const files = filesStore(config.dataDir, () => {})
    const node = config.nodeId ?? (await files.node.get('id'))?.value
    if (typeof node !== 'string') throw serviceStartError('no_node', { path: config.dataDir })
    const db = kyselyOn(pool)
    return copyRepositories(
      files,
      postgresStore(async () => db, { cluster: '', node }),
    )
  },
}

async function statusText(pool: pg.Pool, where: string): Promise<string> {
  const { version, known, isStandby } = await schemaStatus(pool)
  const { rows } = await pool.query<{ server: string; size: string }>(
    `SELECT current_setting('server_version') AS server, pg_size_pretty(pg_database_size(current_database())) AS size`,
  )
  const jobs = version === 0 ? [] : (await pool.query<JobsLine>(JOBS)).rows
  const work = version === known ? await queueState(kyselyOn(pool)) : undefined
  const schema =
    version === known
      ? `version ${version}, up to date`
      : version > known
        ? `version ${version}, from a newer mailsonde: this one supports up to ${known}`
        : `version ${version}; ${known - version} migrations are missing (mailsonde db migrate)`
  return [
    `database  ${where}`,
    `server    PostgreSQL ${rows[0]?.server}${isStandby ? ', a read-only standby' : ''}`,
    `schema    ${schema}`,
    `size      ${rows[0]?.size}`,
    ...jobs.map(({ state, jobs: n, rows: r, done }) => `jobs      ${state}: ${n}, with ${r} rows, ${done} done`),
    ...(work
      ? [
          `queue     ${work.openRows} rows without a result, ${work.dueRows} of them at providers that are due`,
          `due       ${work.due} providers of running jobs, the first since ${Math.round(work.dueSeconds)} s; ${work.waiting} wait for a later time`,
          `leases    ${work.nodes} nodes hold ${work.connections} connections at ${work.keys} providers and mail hosts`,
        ]
      : []),
  ].join('\n')
}

type JobsLine = { readonly state: string; readonly jobs: string; readonly rows: string; readonly done: string }
const JOBS = `SELECT state, count(*) AS jobs, sum(rows) AS rows, coalesce(sum((SELECT sum(done) FROM mailsonde.job_providers WHERE job = number)), 0) AS done
  FROM mailsonde.jobs GROUP BY state ORDER BY state`

/**
 * The database as it is, without migrating it: the named one, or the private one, of a running service or started for
 * this command.
 */
async function openAsIs({ databaseUrl, dataDir, dbUser, postgresBin }: Config): Promise<Opened> {
  const warn = (): void => {}
  if (databaseUrl !== undefined) {
    const pool = poolOf({ connectionString: databaseUrl }, { maxConnections: 4, warn })
    return { pool, where: maskedUrl(databaseUrl), close: () => pool.end() }
  }
  if (!hasPrivateDatabase(dataDir)) throw serviceStartError('no_database', { path: dataDir })
  const where = `the private database of ${dataDir}`
  const running = await embeddedConnection(dataDir, dbUser)
  if (await answers(running)) {
    const pool = poolOf(running, { maxConnections: 4, warn })
    return { pool, where, close: () => pool.end() }
  }
  const server = await startEmbedded(
    { dataDir, user: dbUser, where: programsOf({ postgresBin }), log: { info: warn, warn } },
    AbortSignal.timeout(90_000),
  )
  const pool = poolOf(server.connection, { maxConnections: 4, warn })
  return {
    pool,
    where,
    close: async () => {
      await pool.end()
      await server.stop()
    },
  }
}

async function answers(where: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ ...where, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch (error) {
    if (isAway(error)) return false
    throw error
  } finally {
    await client.end().catch(() => {})
  }
}
