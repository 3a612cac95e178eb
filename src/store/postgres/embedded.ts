import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { sleep, within } from '../../base/deadline.ts'
import { codeOf, messageOf } from '../../base/errors.ts'
import { headOf, makeFolder, readOwnFile } from '../own-file.ts'
import { type Account, accountOf, ownFileOrFault, type Place, placeFor } from './embedded-place.ts'
import { type Connection, connectOrLaunch, ENVIRONMENT, serverOf } from './embedded-process.ts'
import { type Programs, programsFor, type Where } from './embedded-programs.ts'
import { privateDatabaseError } from './problems.ts'

/** The parameters of the private server. */
type EmbeddedSettings = {
  /** The data folder of the program; the server's files are in `postgres/` below it. */
  readonly dataDir: string
  /** The existing, unprivileged user that runs the server if the program runs as root (`--db-user`). */
  readonly user: string
  readonly where?: Where
  readonly log: OwnerLog
}

export type EmbeddedServer = Awaited<ReturnType<typeof startEmbedded>>

/** Time limit until the server accepts connections, including recovery after a crash. */
const START_MS = 60_000
const STOP_MS = 10_000
/** Key of the advisory lock that the single owner of a private server holds while it runs: "mailsond" as octets. */
const OWNER_LOCK = '7882826921180361316'

/**
 * The private PostgreSQL server of a data folder: created with the first start, then started; a server that an earlier
 * process left running is taken over. It listens on a Unix socket in a folder of mode 700 and on no TCP port. Rejects
 * with AppError if the machine has no PostgreSQL for it, if another process uses the same data folder, and if the server does not
 * start within 60 s or the signal fires.
 */
export async function startEmbedded(settings: EmbeddedSettings, signal: AbortSignal) {
  const until = within(START_MS, signal)
  const account = await accountOf(settings.user)
  const place = await placeFor(settings.dataDir, account)
  const major = await clusterMajor(place)
  const programs = await programsFor({ dataDir: settings.dataDir, major, where: settings.where ?? {}, account })
  const password = await passwordOf(settings.dataDir)
  const connection = connectionTo(place, password)
  if (major === undefined) await initialize(place, programs, account, password, until)
  async function own(by: AbortSignal): Promise<pg.Client> {
    const { client, isTakenOver } = await connectOrLaunch(connection, place, programs, account, by)
    if (isTakenOver) settings.log.info('using the private database server of an earlier run', { folder: place.cluster })
    await takeOwnership(client, settings.dataDir)
    return client
  }
  const keeper = keepOwned(await own(until), () => own(within(START_MS)), settings.log)
  return {
    connection,
    /** Stops the server (fast shutdown) and waits until it has ended, at most 15 s. */
    stop: async () => stopServer(await keeper.release(), place, account),
  }
}

/** The major version of the programs that a private server would have. Rejects with AppError if there are none. */
export async function embeddedMajor({ dataDir, user, where = {} }: Omit<EmbeddedSettings, 'log'>): Promise<number> {
  const account = await accountOf(user)
  const isThere = await exists(join(dataDir, 'postgres.password'))
  const major = isThere ? await clusterMajor(await placeFor(dataDir, account)) : undefined
  return (await programsFor({ dataDir, major, where, account })).major
}

/** How to connect to the private server of a data folder, whoever owns it. */
export async function embeddedConnection(dataDir: string, user: string): Promise<Connection> {
  return connectionTo(await placeFor(dataDir, await accountOf(user)), await passwordOf(dataDir))
}

const OWNER = 'mailsonde'
const connectionTo = (place: Place, password: string): Connection => ({
  host: place.socketDir,
  user: OWNER,
  password,
  database: 'postgres',
})

/**
 * The password of the private server, created once: the socket's folder may belong to a user who also runs other
 * programs.
 */
async function passwordOf(dataDir: string): Promise<string> {
  const path = join(dataDir, 'postgres.password')
  await makeFolder(dataDir)
  try {
    await writeFile(path, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  return (await ownFileOrFault(path, () => readOwnFile(path, 1_024)))?.trim() ?? ''
}

/** The major version of the cluster; undefined if there is none. The file belongs to the server's user. */
async function clusterMajor({ cluster }: Place): Promise<number | undefined> {
  const path = join(cluster, 'PG_VERSION')
  if (!(await exists(path))) return undefined
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return Number.parseInt(await headOf(file, 16), 10)
  } finally {
    await file.close()
  }
}

/**
 * Creates the cluster beside its final place and moves it there: a killed initdb leaves no incomplete cluster, and of
 * two processes that start at once the first wins. As root, all of it is done by the server's user, to whom the folder
 * belongs: there, a name may be a link of that user's.
 */
async function initialize(
  place: Place,
  { initdb }: Programs,
  account: Account,
  password: string,
  signal: AbortSignal,
): Promise<void> {
  const made = `${place.cluster}.${randomBytes(8).toString('hex')}`
  const args = [
    ['--username', OWNER],
    ['--auth', 'scram-sha-256'],
    ['--encoding', 'UTF8'],
    ['--locale', 'C'],
    ['--no-instructions'],
  ].flat()
  if (account.uid !== undefined) {
    const command = ['-c', INITIALIZE, 'sh', made, place.cluster, initdb, ...args]
    await run('/bin/sh', command, { account, signal, input: `${password}\n`, cwd: place.folder })
    return
  }
  const passwordFile = `${made}.password`
  try {
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' })
    await run(initdb, ['--pgdata', made, '--pwfile', passwordFile, ...args], { account, signal, cwd: place.folder })
    await rename(made, place.cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await Promise.all([made, passwordFile].map((path) => rm(path, { recursive: true, force: true })))
  }
}

/**
 * `made cluster initdb arguments…`, with the password on standard input. `set -C`: the password file is opened with
 * O_EXCL.
 */
const INITIALIZE = `
set -euC
umask 077
made=$1 cluster=$2 initdb=$3
shift 3
trap 'rm -rf "$made" "$made.password"' EXIT
cat > "$made.password"
"$initdb" --pgdata "$made" --pwfile "$made.password" "$@"
[ -e "$cluster" ] || mv "$made" "$cluster"
`

type Running = {
  readonly account: Account
  readonly signal: AbortSignal
  readonly cwd: string
  readonly input?: string
}

async function run(file: string, args: readonly string[], { account, signal, input, cwd }: Running): Promise<void> {
  const child = spawn(file, args, { ...account, stdio: ['pipe', 'ignore', 'pipe'], env: ENVIRONMENT, signal, cwd })
  child.stdin.on('error', () => {}) // it ended before it read its input
  child.stdin.end(input ?? '')
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

async function stopServer(owner: pg.Client | undefined, place: Place, account: Account): Promise<void> {
  const server = await serverOf(place, account)
  await owner?.end().catch(() => {})
  if (!server) return
  await server.signal('INT') // fast shutdown: open transactions are rolled back
  if (await ended(place, STOP_MS)) return
  await server.signal('QUIT') // immediate: the next start recovers from the log
  await ended(place, STOP_MS / 2)
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

type Say = (event: string, fields?: Record<string, unknown>) => void
type OwnerLog = { readonly info: Say; readonly warn: Say }

/** First delay between attempts to restart a server, ms; it doubles. */
const FIRST_WAIT_MS = 100
/** Maximum delay between attempts to restart a server, ms. */
const LONGEST_WAIT_MS = 5_000

/**
 * Keeps the private server running: when the owner's connection ends, because the server crashed or was killed, `again`
 * starts it and takes it over, until that succeeds. `release` ends this and returns the connection, if there is one.
 */
function keepOwned(
  first: pg.Client,
  again: () => Promise<pg.Client>,
  log: OwnerLog,
): { readonly release: () => Promise<pg.Client | undefined> } {
  const stopping = new AbortController()
  let owner: Promise<pg.Client | undefined> = Promise.resolve(first)
  function watch(client: pg.Client): void {
    client.once('end', () => {
      if (!stopping.signal.aborted) owner = recover()
    })
  }
  async function recover(): Promise<pg.Client | undefined> {
    log.warn('the private database server stopped and is being restarted')
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
      try {
        const client = await again()
        log.info('the private database server is running again')
        watch(client)
        return client
      } catch (error) {
        if (waitMs > 1_000) log.warn('the private database server did not start', { reason: messageOf(error) })
      }
      try {
        await sleep(waitMs, stopping.signal)
      } catch {
        return undefined
      }
    }
  }
  watch(first)
  return {
    release: () => {
      stopping.abort()
      return owner
    },
  }
}
