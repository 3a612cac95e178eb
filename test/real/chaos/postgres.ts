import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import pg from 'pg'
import { STATE } from '../addresses.ts'
import { logFile, untilReady } from '../processes.ts'

/** Where Debian's PostgreSQL listens in the test network. */
const ADDRESS = '45.53.3.19'
const URL = `postgres://postgres@${ADDRESS}/postgres`
const HOME = `${STATE}/postgres-debian`

export type DebianPostgres = {
  readonly url: string
  readonly address: string
  readonly client: () => Promise<pg.Client>
  /** Stops at once, as after a power failure, and starts again after `awayMs`. */
  readonly restart: (awayMs: number) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Starts Debian's PostgreSQL as its own user, on a network address. */
export async function startPostgres(): Promise<DebianPostgres> {
  const bin = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1)
  if (bin === undefined) throw new Error('there is no PostgreSQL of Debian here')
  rmSync(HOME, { recursive: true, force: true }) // of another test in the same network
  mkdirSync(HOME, { recursive: true })
  const asOwner = (program: string, ...args: string[]): void =>
    void execFileSync(
      'setpriv',
      ['--reuid=postgres', '--regid=postgres', '--clear-groups', `${bin}/${program}`, ...args],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
        cwd: '/',
      },
    )
  execFileSync('chown', ['postgres:postgres', HOME])
  execFileSync('chmod', ['711', STATE])
  asOwner('initdb', '-D', `${HOME}/data`, '-U', 'postgres', '--auth-local=trust', '--auth-host=trust', '-N')
  execFileSync('sh', ['-c', `echo "host all all 45.53.0.0/16 trust" >> ${HOME}/data/pg_hba.conf`])
  const settings = {
    listen_addresses: ADDRESS,
    unix_socket_directories: HOME,
    max_connections: 100,
    shared_buffers: '128MB',
  }
  const args = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const client = async (): Promise<pg.Client> => {
    const made = new pg.Client({ connectionString: URL, connectionTimeoutMillis: 2_000 })
    made.on('error', () => {})
    await made.connect()
    return made
  }
  const answers = async (): Promise<boolean> => {
    const made = await client()
    await made.end()
    return true
  }
  let ended: Promise<unknown> = Promise.resolve()
  const start = async (): Promise<void> => {
    const out = openSync(logFile('postgres'), 'a')
    const command = ['--reuid=postgres', '--regid=postgres', '--clear-groups', `${bin}/postgres`, '-D', `${HOME}/data`]
    const child = spawn('setpriv', [...command, ...args], { stdio: ['ignore', out, out], cwd: '/' })
    ended = once(child, 'exit') // setpriv becomes the server
    await untilReady('postgres', answers)
  }
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const pidFile = `${HOME}/data/postmaster.pid`
    process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), signal)
    await ended // a server that is stopping answers no more, and keeps the next one from starting
  }
  await start()
  return {
    url: URL,
    address: ADDRESS,
    client,
    restart: async (awayMs) => {
      await stop('SIGQUIT')
      await new Promise((resolve) => setTimeout(resolve, awayMs))
      await start()
    },
    stop: () => stop('SIGINT'),
  }
}
