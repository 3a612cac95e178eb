import { globSync, mkdtempSync } from 'node:fs'
import pg from 'pg'
import { STATE } from './addresses.ts'
import { runTool, startServer, untilReady } from './processes.ts'

/** Debian's PostgreSQL on an address of the test network. */
export type DebianPostgres = {
  readonly url: string
  /** Ends it as a crash does, or begins it again on the same files. */
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

/**
 * Makes a cluster and starts it at `address`; it ends with the lab. It takes connections of the test network without a
 * password.
 */
export async function debianPostgres(address: string): Promise<DebianPostgres> {
  const bin = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1)
  if (bin === undefined) throw new Error('Debian’s PostgreSQL is not installed')
  const folder = mkdtempSync(`${STATE}/postgres-`)
  await runTool('chown', ['postgres', folder])
  const asUser = ['-u', 'postgres', '--']
  await runTool('runuser', [...asUser, `${bin}/initdb`, '-D', `${folder}/data`, '-A', 'trust', '--no-sync'], folder)
  await runTool('sh', ['-c', `echo 'host all all 0.0.0.0/0 trust' >> ${folder}/data/pg_hba.conf`])
  const settings = [`listen_addresses=${address}`, `unix_socket_directories=${folder}`, 'fsync=off']
  const flags = ['-D', `${folder}/data`, ...settings.flatMap((one) => ['-c', one])]
  const url = `postgres://postgres@${address}:5432/postgres`
  let server: ReturnType<typeof startServer> | undefined
  async function start(): Promise<void> {
    server = startServer('postgres', 'runuser', [...asUser, `${bin}/postgres`, ...flags])
    await untilReady('postgres', async () => {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
      await client.connect()
      await client.end()
      return true
    })
  }
  await start()
  return {
    url,
    start,
    kill: async () => {
      const { stdout } = { stdout: await runTool('head', ['-1', `${folder}/data/postmaster.pid`]) }
      const gone = new Promise((resolve) => server!.once('exit', resolve))
      process.kill(Number(stdout.trim()), 'SIGQUIT')
      await gone
    },
  }
}
