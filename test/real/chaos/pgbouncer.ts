import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import pg from 'pg'
import { STATE } from '../addresses.ts'
import { logFile, untilReady } from '../processes.ts'

const PORT = 6432
const HOME = `${STATE}/pgbouncer`

export type PgBouncer = { readonly url: string; readonly stop: () => Promise<void> }

/** Debian's pgbouncer in transaction mode in front of a server, with the settings that its package has otherwise. */
export async function startPgBouncer(address: string): Promise<PgBouncer> {
  mkdirSync(HOME, { recursive: true })
  writeFileSync(
    `${HOME}/pgbouncer.ini`,
    `[databases]
* = host=${address} port=5432 user=postgres
[pgbouncer]
listen_addr = ${address}
listen_port = ${PORT}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 200
default_pool_size = 20
server_connect_timeout = 5
`,
  )
  const out = openSync(logFile('pgbouncer'), 'a')
  const command = [
    '--reuid=postgres',
    '--regid=postgres',
    '--clear-groups',
    '/usr/sbin/pgbouncer',
    `${HOME}/pgbouncer.ini`,
  ]
  const child = spawn('setpriv', command, { stdio: ['ignore', out, out], cwd: '/' })
  const ended = once(child, 'exit')
  const url = `postgres://postgres@${address}:${PORT}/postgres`
  await untilReady('pgbouncer', async () => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
    client.on('error', () => {})
    await client.connect()
    await client.end()
    return true
  })
  return {
    url,
    stop: async () => {
      child.kill('SIGINT')
      await ended
    },
  }
}
