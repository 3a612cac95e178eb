import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { sleep, within } from '../../base/deadline.ts'
import { type Connection, connectOrLaunch, ENVIRONMENT } from './embedded-launch.ts'
import { keepOwned, type OwnerLog } from './embedded-owner.ts'
import { type Account, accountOf, binaries, type Place, placeFor } from './embedded-place.ts'
import { privateDatabaseError } from './problems.ts'

/** The parameters of the private server. */
export type EmbeddedSettings = {
  /** The data folder of the program; the server's files are in `postgres/` below it. */
  readonly dataDir: string
  /** The existing, unprivileged user that runs the server if the program runs as root (`--db-user`). */
  readonly user: string
  readonly log: OwnerLog
}

export type EmbeddedServer = {
  readonly connection: Connection
  /** Stops the server (fast shutdown) and waits until it has ended, at most 15 s. */
  readonly stop: () => Promise<void>
}

/** Time limit until the server accepts connections, including recovery after a crash. */
const START_MS = 60_000
const STOP_MS = 10_000
/** Key of the advisory lock that the single owner of a private server holds while it runs: "mailsond" as octets. */
const OWNER_LOCK = '7882826921180361316'

/**
 * The private PostgreSQL server of a data folder: created with the first start, then started; a server that an earlier process left running is taken over. It
 * listens on a Unix socket in a folder of mode 700 and on no TCP port. Rejects with AppError if the platform has no binary, if another process uses the same
 * data folder, and if the server does not start within 60 s or the signal fires.
 */
export async function startEmbedded(settings: EmbeddedSettings, signal: AbortSignal): Promise<EmbeddedServer> {
  const until = within(START_MS, signal)
  const account = await accountOf(settings.user)
  const place = await placeFor(settings.dataDir, account, await binaries())
  const password = await passwordOf(settings.dataDir)
  const connection = connectionTo(place, password)
  if (!(await exists(join(place.cluster, 'PG_VERSION')))) await initialize(place, account, password, until)
  async function own(by: AbortSignal): Promise<pg.Client> {
    const { client, isTakenOver } = await connectOrLaunch(connection, place, account, by)
    if (isTakenOver) settings.log.info('using the private database server of an earlier run', { folder: place.cluster })
    await takeOwnership(client, settings.dataDir)
    return client
  }
  const keeper = keepOwned(await own(until), () => own(within(START_MS)), settings.log)
  return { connection, stop: async () => stopServer(await keeper.release(), place) }
}

/** How to connect to the private server of a data folder, whoever owns it. */
export async function embeddedConnection(dataDir: string, user: string): Promise<Connection> {
  return connectionTo(await placeFor(dataDir, await accountOf(user), await binaries()), await passwordOf(dataDir))
}

const OWNER = 'mailsonde'
const connectionTo = (place: Place, password: string): Connection => ({
  host: place.socketDir,
  user: OWNER,
  password,
  database: 'postgres',
})

/** The password of the private server, created once: the socket's folder may belong to a user who also runs other programs. */
async function passwordOf(dataDir: string): Promise<string> {
  const path = join(dataDir, 'postgres.password')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  try {
    await writeFile(path, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return (await readFile(path, 'utf8')).trim()
}

/**
 * Creates the cluster beside its final place and moves it there: a killed initdb leaves no incomplete cluster, and of two processes that start at once the
 * first wins.
 */
async function initialize(place: Place, account: Account, password: string, signal: AbortSignal): Promise<void> {
  const made = `${place.cluster}.${process.pid}`
  const passwordFile = `${made}.password`
  try {
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
    if (account.uid !== undefined) await chownTo(passwordFile, account)
    await run(
      place.binaries.initdb,
      [
        ['--pgdata', made],
        ['--username', OWNER],
        ['--pwfile', passwordFile],
        ['--auth', 'scram-sha-256'],
        ['--encoding', 'UTF8'],
        ['--locale', 'C'],
        ['--no-instructions'],
      ].flat(),
      account,
      signal,
    )
    await rename(made, place.cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await Promise.all([made, passwordFile].map((path) => rm(path, { recursive: true, force: true })))
  }
}

async function chownTo(path: string, account: Account): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.chown(account.uid ?? -1, account.gid ?? -1)
  } finally {
    await handle.close()
  }
}

async function run(file: string, args: readonly string[], account: Account, signal: AbortSignal): Promise<void> {
  const child = spawn(file, args, { ...account, stdio: ['ignore', 'ignore', 'pipe'], env: ENVIRONMENT, signal })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2_000)
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw privateDatabaseError('initdb', { status: code ?? -1, log: said.trim() })
}

/** Time within which the server notices that the connection of a killed owner is closed, ms. */
const OWNER_GONE_MS = 1_500

/** One process owns a private server. The lock ends with the connection, so a killed owner never keeps it for long. */
async function takeOwnership(owner: pg.Client, dataDir: string): Promise<void> {
  for (const patience = within(OWNER_GONE_MS); !patience.aborted; await sleep(100, patience).catch(() => {})) {
    const { rows } = await owner.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [OWNER_LOCK])
    if (rows[0]?.taken) return
  }
  await owner.end()
  throw privateDatabaseError('in_use', { path: dataDir })
}

async function stopServer(owner: pg.Client | undefined, place: Place): Promise<void> {
  const pid = Number((await readFile(join(place.cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0])
  await owner?.end().catch(() => {})
  if (!Number.isInteger(pid) || pid <= 1) return
  signalTo(pid, 'SIGINT') // fast shutdown: open transactions are rolled back
  if (await ended(place, STOP_MS)) return
  signalTo(pid, 'SIGQUIT') // immediate: the next start recovers from the log
  await ended(place, STOP_MS / 2)
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function ended(place: Place, ms: number): Promise<boolean> {
  const signal = within(ms)
  while (await exists(join(place.cluster, 'postmaster.pid'))) {
    if (signal.aborted) return false
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return true
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
