import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { AppError } from '../../base/errors.ts'
import { once, onceUnlessFailed } from '../../base/once.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'
import { migrate } from './migrate.ts'
import type { Schema } from './schema.ts'

/** Connections of one process: statements are short, and the embedded server takes 60. */
const MAX_CONNECTIONS = 12
const CONNECT_MS = 5_000
/** A statement that runs longer is canceled: nothing of ours should, but for migrations and a job's removal, which lift it. */
const STATEMENT_MS = 60_000

export type Database = {
  readonly db: Kysely<Schema>
  readonly pool: pg.Pool
  /** Closes the connections, and stops the private server where there is one. */
  readonly close: () => Promise<void>
}

export type DatabaseSettings = {
  /** `postgres://…`; undefined: the private server of the data folder. */
  readonly url: string | undefined
  readonly dataDir: string
  readonly dbUser: string
  /** Connections of this process at most; default 12. */
  readonly maxConnections?: number
  readonly log: Parameters<typeof startEmbedded>[0]['log']
}

export type LazyDatabase = {
  /** The database, opened at the first call within 90 s; a failed attempt is made again by the next call. */
  readonly open: () => Promise<Database>
  /** Closes it if it was ever opened. */
  readonly close: () => Promise<void>
}

/** Time for a private server to start, recovery after a crash included, ms. */
const OPEN_MS = 90_000

/** A database that is opened at the first need. */
export function lazyDatabase(settings: DatabaseSettings): LazyDatabase {
  let last: Promise<Database> | undefined
  return {
    open: onceUnlessFailed(() => {
      last = openDatabase(settings, AbortSignal.timeout(OPEN_MS))
      return last
    }),
    close: async () => {
      const database = await last?.catch(() => undefined)
      await database?.close()
    },
  }
}

/**
 * Connects, and brings the schema up to date. Rejects with AppError `upstream_unavailable` that says what is wrong: no server, a wrong password, a standby, a
 * schema that a newer program made.
 */
export async function openDatabase(settings: DatabaseSettings, signal: AbortSignal): Promise<Database> {
  const server =
    settings.url === undefined ? await startEmbedded({ ...settings, user: settings.dbUser }, signal) : undefined
  const pool = poolOf(settings, server)
  const close = once(async () => {
    await pool.end()
    await server?.stop()
  })
  try {
    await migrate(pool)
  } catch (error) {
    await close()
    throw error instanceof AppError ? error : notConnected(settings.url, error)
  }
  return { db: new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) }), pool, close }
}

function poolOf(
  { url, maxConnections = MAX_CONNECTIONS, log }: DatabaseSettings,
  server: EmbeddedServer | undefined,
): pg.Pool {
  const where = server ? server.connection : { connectionString: url }
  const pool = new pg.Pool({
    ...where,
    max: maxConnections,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    keepAlive: true,
    application_name: 'mailsonde',
  })
  // An idle connection that breaks is replaced at the next need.
  pool.on('error', (error) => log.warn('a database connection was lost', { reason: error.message }))
  return pool
}

/** The URL is told without its password. */
function notConnected(url: string | undefined, cause: unknown): AppError {
  const where = url === undefined ? 'the private database' : maskedUrl(url)
  return new AppError('upstream_unavailable', `${where} could not be opened: ${(cause as Error).message}`, { cause })
}

/** A database URL with its password replaced; a text that is none is not repeated at all. */
export function maskedUrl(text: string): string {
  const full = text.replace('@/', '@localhost/') // a socket is named by ?host=
  if (!/^postgres(?:ql)?:\/\//.test(full) || !URL.canParse(full)) return 'the database URL'
  const url = new URL(full)
  if (url.password !== '') url.password = '***'
  url.search = ''
  return url.href
}
