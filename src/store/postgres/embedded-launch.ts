import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { sleep } from '../../base/deadline.ts'
import { type Account, openLog, type Place } from './embedded-place.ts'
import { privateDatabaseError } from './problems.ts'

/** How to connect to a PostgreSQL server: the used fields of `pg`. */
export type Connection = {
  readonly host: string
  readonly user: string
  readonly password: string
  readonly database: string
}

/** Settings for a small server beside the program: docs/operations.md has its memory use. */
const SERVER_SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '48MB',
  max_wal_size: '512MB',
  jit: 'off',
  io_method: 'sync', // no worker processes of its own
  autovacuum_max_workers: '2',
  logging_collector: 'off',
  log_min_messages: 'warning',
} as const

/**
 * Starts the server outside of our process group: Ctrl-C in the terminal must not stop it before our own work has ended. Returns a signal that fires when it
 * ends.
 */
async function launch(place: Place, account: Account): Promise<AbortSignal> {
  const settings = { ...SERVER_SETTINGS, unix_socket_directories: place.socketDir }
  const log = await openLog(place)
  const child = spawn(
    place.binaries.postgres,
    ['-D', place.cluster, ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])],
    { ...account, detached: true, stdio: ['ignore', 'ignore', log.fd], env: ENVIRONMENT, cwd: place.folder },
  )
  const ended = new AbortController()
  for (const event of ['error', 'exit']) child.on(event, () => ended.abort())
  child.unref()
  await log.close() // the server has its own copy
  return ended.signal
}

/** The server does not get our environment, which may contain secrets. */
export const ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/bin:/bin' }

type Reached = { readonly client?: pg.Client; readonly isStarting: boolean }

async function connectOnce(connection: Connection): Promise<Reached> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000, application_name: 'mailsonde owner' })
  client.on('error', () => {}) // the pool's next query reports it
  try {
    await client.connect()
    return { client, isStarting: false }
  } catch (error) {
    await client.end().catch(() => {})
    const { code } = error as { readonly code?: string }
    if (code === STARTING) return { isStarting: true }
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return { isStarting: false } // no socket, or no listener
    throw privateDatabaseError('not_started', { reason: (error as Error).message }, { cause: error })
  }
}

/** SQLSTATE of a server that is starting up or shutting down. */
const STARTING = '57P03'

/**
 * The first connection to the server of a place, which is started if none runs; `isTakenOver` if one did. Children of a killed server may block the next
 * start for a moment, so it is tried several times. Rejects with AppError if it does not start before `by` fires.
 */
export async function connectOrLaunch(
  connection: Connection,
  place: Place,
  account: Account,
  by: AbortSignal,
): Promise<{ readonly client: pg.Client; readonly isTakenOver: boolean }> {
  let launched: AbortSignal | undefined
  let launches = 0
  for (let waitMs = 10; ; waitMs = Math.min(100, waitMs * 1.5)) {
    const { client, isStarting } = await connectOnce(connection)
    if (client) return { client, isTakenOver: launched === undefined }
    if (!isStarting && (launched === undefined || launched.aborted)) {
      if (launches++ >= MAX_LAUNCHES) throw privateDatabaseError('stopped', { log: await logEnd(place) })
      launched = await launch(place, account)
    }
    try {
      await sleep(waitMs, by)
    } catch (cause) {
      throw privateDatabaseError('late', { log: await logEnd(place) }, { cause })
    }
  }
}

/** Maximum number of starts of a server that stops immediately. */
const MAX_LAUNCHES = 15

const logEnd = async ({ logPath }: Place): Promise<string> =>
  (await readFile(logPath, 'utf8').catch(() => '')).slice(-1_000).trim()
