import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { raced, sleep } from '../../base/deadline.ts'
import { AppError, codeOf, messageOf } from '../../base/errors.ts'
import { once, onceUnlessFailed } from '../../base/share-work.ts'
import { startEmbedded } from './embedded.ts'
import type { Where } from './embedded-programs.ts'
import { poolOf } from './pool.ts'
import { databaseError, privateDatabaseError } from './problems.ts'
import type { Schema } from './schema.ts'
import { migrate } from './tables.ts'

export type Database = {
  readonly db: Kysely<Schema>
  readonly pool: pg.Pool
  /** Closes the connections, and stops the private server if there is one. */
  readonly close: () => Promise<void>
}

type DatabaseSettings = {
  /** `postgres://…`; undefined: the private server of the data folder. */
  readonly url: string | undefined
  readonly dataDir: string
  readonly dbUser: string
  /** Where the programs of the private server are. */
  readonly where?: Where
  /** Maximum number of connections of this process; default 12. */
  readonly maxConnections?: number
  readonly log: Parameters<typeof startEmbedded>[0]['log']
}

export type LazyDatabase = ReturnType<typeof lazyDatabase>

/** Time limit for the start of a private server, including recovery after a crash, ms. */
const OPEN_MS = 90_000

/** A database that is opened when it is first needed. */
export function lazyDatabase(settings: DatabaseSettings) {
  let last: Promise<Database> | undefined
  return {
    /** The database, opened with the first call within 90 s; the next call repeats a failed attempt. */
    open: onceUnlessFailed((): Promise<Database> => {
      last = openDatabase(settings, AbortSignal.timeout(OPEN_MS))
      return last
    }),
    isOpened: () => last !== undefined,
    /**
     * Why it does not answer, within the signal's time; undefined if it does, and while it has not been needed. Never
     * rejects.
     */
    probe: async (signal: AbortSignal): Promise<string | undefined> => {
      if (!last) return undefined
      try {
        return await raced(signal, last.then(probeOf))
      } catch (error) {
        return `the database does not answer: ${signal.aborted ? 'no answer in time' : messageOf(error)}`
      }
    },
    /** Closes it if it was opened. */
    close: async (): Promise<void> => {
      const database = await last?.catch(() => undefined)
      await database?.close()
    },
  }
}

async function probeOf({ pool }: Database): Promise<string | undefined> {
  const { rows } = await pool.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
  return rows[0]?.standby ? 'the database server is a read-only standby' : undefined
}

/**
 * Connects, and upgrades the schema. Rejects with AppError `upstream_unavailable` and the reason: no server, a wrong
 * password, a standby, a schema of a newer program.
 */
export async function openDatabase(settings: DatabaseSettings, signal: AbortSignal): Promise<Database> {
  const { dataDir, dbUser: user, where: programs = {}, log } = settings
  const server =
    settings.url === undefined
      ? await startEmbedded({ dataDir, user, where: programs, log }, signal).catch(notStarted)
      : undefined
  const where = server ? server.connection : { connectionString: settings.url }
  const pool = poolOf(where, { maxConnections: settings.maxConnections, warn: log.warn })
  const close = once(async () => {
    await pool.end()
    await server?.stop()
  })
  try {
    await migrate(pool)
  } catch (error) {
    await close()
    throw error instanceof AppError ? error : notConnected(settings, error)
  }
  return { db: kyselyOn(pool), pool, close }
}

/** Time that a server has to take a connection that is only tried, ms. */
const TRY_MS = 3_000

/** Connects once, and changes nothing. Rejects with the error of the driver. */
export async function tryConnection(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: TRY_MS })
  client.on('error', () => {}) // one that ends meanwhile
  try {
    await client.connect()
  } finally {
    await client.end().catch(() => {})
  }
}

/** A file system that is full or read-only is no database that comes back by itself. */
function notStarted(error: unknown): never {
  if (error instanceof AppError || codeOf(error) === undefined) throw error
  throw privateDatabaseError('not_started', { reason: messageOf(error) }, { cause: error })
}

/** Our tables over the connections of a pool. */
export const kyselyOn = (pool: pg.Pool): Kysely<Schema> => new Kysely({ dialect: new PostgresDialect({ pool }) })

/**
 * Callers only get the information that there is no database; the log has the URL, without its password, and the
 * reason.
 */
function notConnected({ url, log }: Pick<DatabaseSettings, 'url' | 'log'>, cause: unknown): AppError {
  const where = url === undefined ? 'the private database' : maskedUrl(url)
  log.warn('the database could not be opened', { database: where, reason: messageOf(cause) })
  return databaseError('not_opened', undefined, { cause })
}

/** A database URL with its password replaced; a text that is not a URL is not repeated. */
export function maskedUrl(text: string): string {
  const full = text.replace('@/', '@localhost/') // ?host= names a socket
  if (!/^postgres(?:ql)?:\/\//.test(full) || !URL.canParse(full)) return 'the database URL'
  const url = new URL(full)
  if (url.password !== '') url.password = '***'
  url.search = ''
  return url.href
}

/** Error codes of Node.js for an unreachable server. */
const UNREACHED: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]
/**
 * SQLSTATEs that are temporary or that the operator can correct: connection exceptions (08), insufficient resources
 * such as a full disk (53), system errors (58), a shutdown or start (57P01 to 57P03), a server that is read-only
 * because it became a standby (25006).
 */
const AWAY_STATES = /^(?:08...|53...|58...|57P0[123]|25006)$/
/** Messages of `pg` without a code. */
const AWAY_WORDS =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client (?:has encountered|was closed))/

/**
 * Whether the database is unavailable: the same statement may succeed later, on another connection. The queue reports
 * its faults as records of an error's fields.
 */
export function isAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (typeof code === 'string' && (UNREACHED.includes(code) || AWAY_STATES.test(code))) return true
  return typeof message === 'string' && AWAY_WORDS.test(message)
}

/**
 * Logs once that the database is unavailable, and once that it is available again, regardless of the number of
 * attempts. `what` waits for it meanwhile.
 */
export function outageLog(
  log: DatabaseSettings['log'],
  what: string,
): { readonly away: (error: unknown) => void; readonly over: () => void } {
  let isAwayNow = false
  return {
    away: (error) => {
      if (!isAwayNow) log.warn(`${what} wait: the database does not answer`, { reason: messageOf(error) })
      isAwayNow = true
    },
    over: () => {
      if (isAwayNow) log.info(`${what} continue: the database answers again`)
      isAwayNow = false
    },
  }
}

/** The fault in the form for callers: without the server's address or messages. The cause is for the log. */
export const awayError = (cause: unknown): AppError =>
  databaseError('away', undefined, {
    cause,
    retryAfterSeconds: 5,
  })

/** Interval between two attempts while the database is unavailable, ms. */
const AGAIN_MS = 500

/**
 * Repeats the step while the database is unavailable, for at most `patienceMs`; rejects with its other faults, with the
 * last error of the database, or with the signal's reason.
 */
export async function throughOutage<T>(
  step: () => Promise<T>,
  signal: AbortSignal,
  patienceMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const begunMs = performance.now()
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (!isAway(error) || performance.now() - begunMs >= patienceMs) throw error
      await sleep(AGAIN_MS, signal)
    }
  }
}

/** The same function; callers get a readable error if the database is unavailable ({@link awayError}). */
export const told =
  <A extends readonly unknown[], T>(step: (...asked: A) => Promise<T>) =>
  async (...asked: A): Promise<T> => {
    try {
      return await step(...asked)
    } catch (error) {
      throw isAway(error) ? awayError(error) : error
    }
  }

const DEADLOCK = '40P01'
/** Maximum number of attempts at a transaction. */
const MAX_TRIES = 5

/**
 * Repeats a transaction that the server ended because of a deadlock, which undid it: a worker may hold the rows of a
 * job while it waits for the job, and the removal of the job the other way round.
 */
export async function afterDeadlock<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction()
    } catch (error) {
      if (codeOf(error) !== DEADLOCK || tries === MAX_TRIES) throw error
    }
  }
}
