import { execFile, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { sleep } from '../../base/deadline.ts'
import { codeOf, messageOf } from '../../base/errors.ts'
import { headOf } from '../own-file.ts'
import { type Account, openLog, type Place } from './embedded-place.ts'
import type { Programs } from './embedded-programs.ts'
import { privateDatabaseError } from './problems.ts'

/** The running server of a place. */
type ServerProcess = {
  readonly pid: number
  /** Sends a signal as the server's user, if the process is still the server. */
  readonly signal: (name: 'INT' | 'QUIT') => Promise<void>
}

/**
 * The server of a place, by its `postmaster.pid`. That file belongs to the server's user, who may write any number
 * there, and after a crash it may name another process: undefined unless the process is the server by the name of its
 * program, its `-D` and its user. Start time and command are compared again before each signal, and the signal is sent as the
 * server's user, who could send it anyway.
 */
export async function serverOf(place: Place, account: Account): Promise<ServerProcess | undefined> {
  const pid = Number((await pidFile(place)).split('\n')[0])
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined
  const first = await identityOf(pid)
  if (!first || !isServer(first, place, account)) return undefined
  return {
    pid,
    signal: async (name) => {
      const now = await identityOf(pid)
      if (now?.startedAt === first.startedAt && isServer(now, place, account)) await signalAs(account, pid, name)
    },
  }
}

type Identity = { readonly command: string; readonly startedAt: string; readonly uid: number }

/** Of any PostgreSQL of the machine: an earlier run may have had another one. */
const isServer = ({ command, uid }: Identity, { cluster }: Place, account: Account): boolean =>
  command.includes(`/postgres -D ${cluster} `) && uid === (account.uid ?? process.getuid?.() ?? uid)

/** The identity of a process; undefined if there is none. */
async function identityOf(pid: number): Promise<Identity | undefined> {
  try {
    return process.platform === 'linux' ? await byProc(pid) : await byPs(pid)
  } catch {
    return undefined
  }
}

async function byProc(pid: number): Promise<Identity> {
  const [line, text, { uid }] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
    stat(`/proc/${pid}`),
  ])
  // The name of the program, in parentheses, may contain anything; the start time is the 20th field after it
  // (proc_pid_stat(5)).
  const startedAt = text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  return { command: line.replaceAll('\0', ' '), startedAt, uid }
}

async function byPs(pid: number): Promise<Identity> {
  const options = ['-o', 'uid=', '-o', 'lstart=', '-o', 'command=', '-p', String(pid)]
  const { stdout } = await promisify(execFile)('/bin/ps', options, { env: { LC_ALL: 'C' } })
  const [, uid, startedAt = '', command = ''] = /^\s*(\d+) +(\S+ +\S+ +\S+ +\S+ +\S+) +(.*)/.exec(stdout) ?? []
  return { command: `${command} `, startedAt, uid: Number(uid) }
}

/** As root, a child with the server's user sends the signal: the kernel then refuses processes of others. */
async function signalAs(account: Account, pid: number, name: 'INT' | 'QUIT'): Promise<void> {
  if (account.uid === undefined) {
    try {
      process.kill(pid, `SIG${name}`)
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error
    }
    return
  }
  const child = spawn('/bin/sh', ['-c', 'kill -s "$1" "$2"', 'sh', name, String(pid)], {
    ...account,
    stdio: 'ignore',
    env: {},
    cwd: '/',
  })
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
}

/** The text of `postmaster.pid`; empty if there is none. */
async function pidFile({ cluster }: Place): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    const file = await open(join(cluster, 'postmaster.pid'), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      return (await file.stat()).isFile() ? await headOf(file, 1_024) : ''
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}

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
  max_locks_per_transaction: '512', // a restore makes the tables of all jobs in one transaction: some 15,000
  shared_buffers: '48MB',
  max_wal_size: '512MB',
  jit: 'off',
  autovacuum_max_workers: '2',
  logging_collector: 'off',
  log_min_messages: 'warning',
} as const

/**
 * Starts the server outside of our process group: Ctrl-C in the terminal must not stop it before our own work has
 * ended. Returns a signal that fires when it ends.
 */
async function launch(place: Place, { postgres, major }: Programs, account: Account): Promise<AbortSignal> {
  const settings = {
    ...SERVER_SETTINGS,
    ...(major >= 18 && { io_method: 'sync' }), // no worker processes of its own
    unix_socket_directories: place.socketDir,
  }
  const log = await openLog(place)
  const child = spawn(
    postgres,
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
    const code = codeOf(error)
    if (code === STARTING) return { isStarting: true }
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return { isStarting: false } // no socket, or no listener
    throw privateDatabaseError('not_started', { reason: messageOf(error) }, { cause: error })
  }
}

/** SQLSTATE of a server that is starting up or shutting down. */
const STARTING = '57P03'

/**
 * The first connection to the server of a place, which is started if none runs; `isTakenOver` if one did. Children of a
 * killed server may block the next start for a moment, so it is tried several times. Rejects with AppError if it does
 * not start before `by` fires.
 */
export async function connectOrLaunch(
  connection: Connection,
  place: Place,
  programs: Programs,
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
      launched = await launch(place, programs, account)
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
