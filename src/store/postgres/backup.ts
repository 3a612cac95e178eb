import { createHash } from 'node:crypto'
import { chmod, open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { isJobGone } from './jobs.ts'
import { schemaStatus } from './tables.ts'

type BackedUp = { readonly tables: number; readonly bytes: number }

/**
 * Writes all tables into a file as one snapshot, while the service runs: gzip, mode 0600, created beside its final name
 * and renamed when it is complete. Memory use is constant: rows are passed on as they are read. What a restore makes
 * itself is left out.
 */
export async function backUp(pool: pg.Pool, path: string, now: () => number, signal: AbortSignal): Promise<BackedUp> {
  const client = await pool.connect()
  const part = `${path}.part`
  const done = { tables: 0, bytes: 0 }
  let isWhole = false
  let isOurs = false
  try {
    const file = await open(part, 'wx', 0o600) // fails while another backup writes to it
    isOurs = true
    const text = Readable.from(backupText(client, await begin(client), now, done))
    await pipeline(text, createGzip({ level: 3 }), file.createWriteStream(), { signal })
    await chmod(part, 0o600)
    await rename(part, path)
    isWhole = true
    await client.query('COMMIT')
    return done
  } finally {
    if (isOurs && !isWhole) await rm(part, { force: true })
    client.release(!isWhole)
  }
}

/** Maximum number of attempts to lock the tables of one snapshot. */
const MAX_TRIES = 20

/**
 * Begins the transaction, and locks all tables of its snapshot: the table of a job that is removed from now on stays
 * until the end. A job that is removed between the two steps takes its table with it: then they are repeated.
 */
async function begin(client: pg.PoolClient): Promise<readonly TableHeader[]> {
  for (let tries = 1; ; tries++) {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await client.query('SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0')
    const tables = await tablesOf(client)
    try {
      const names = tables.map(({ table }) => `mailsonde.${quoted(table)}`)
      await client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE`)
      return tables
    } catch (error) {
      if (!isJobGone(error) || tries === MAX_TRIES) throw error
      await client.query('ROLLBACK')
    }
  }
}

async function* backupText(
  client: pg.PoolClient,
  tables: readonly TableHeader[],
  now: () => number,
  done: { tables: number; bytes: number },
): AsyncIterable<Buffer> {
  const hash = createHash('sha256')
  const told = (text: string | Buffer): Buffer => {
    const octets = Buffer.isBuffer(text) ? text : Buffer.from(`${text}\n`)
    hash.update(octets)
    done.bytes += octets.length
    return octets
  }
  const { version } = await schemaStatus(client)
  const header: BackupHeader = {
    schema: version,
    created_at: new Date(now()).toISOString(),
    sequences: await sequencesOf(client),
  }
  yield told(MAGIC)
  yield told(JSON.stringify(header))
  for (const table of tables) {
    yield told(JSON.stringify(table))
    const columns = table.columns.map(quoted).join(', ')
    const rows = client.query(copyTo(`COPY mailsonde.${quoted(table.table)} (${columns}) TO STDOUT`))
    for await (const chunk of rows) yield told(chunk as Buffer)
    yield told(END_OF_ROWS)
    done.tables++
  }
  const trailer: BackupTrailer = { tables: done.tables, sha256: hash.digest('hex') }
  yield Buffer.from(`${JSON.stringify(trailer)}\n`)
}

async function sequencesOf(client: pg.PoolClient): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string | null }>(
    `SELECT sequencename AS name, last_value::text AS value FROM pg_sequences WHERE schemaname = 'mailsonde'`,
  )
  return Object.fromEntries(rows.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])))
}

/** The leases of nodes, and sums of rows that are restored from these. */
export const LEFT_OUT: readonly string[] = ['schema_version', 'provider_leases', 'report_days']

/** The tables with their columns, referenced tables first. */
async function tablesOf(client: pg.PoolClient): Promise<readonly TableHeader[]> {
  const { rows } = await client.query<{
    oid: number
    name: string
    columns: string[]
    refers: number[]
  }>(
    `
    SELECT c.oid::int, c.relname AS name, 
      ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum) AS columns,
      ARRAY(SELECT confrelid::int FROM pg_constraint WHERE conrelid = c.oid AND contype = 'f' AND confrelid <> c.oid) AS refers
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'mailsonde' AND c.relkind = 'r' AND NOT c.relname = ANY($1) ORDER BY c.relname`,
    [LEFT_OUT],
  )
  const ordered: TableHeader[] = []
  const placed = new Set<number>()
  let left = rows.filter(({ name }) => isName(name))
  while (left.length > 0) {
    const next = left.filter(({ refers }) => refers.every((oid) => placed.has(oid)))
    if (next.length === 0) throw new Error('the tables have circular references')
    for (const { oid, name, columns } of next) {
      placed.add(oid)
      ordered.push({ table: name, columns })
    }
    left = left.filter(({ oid }) => !placed.has(oid))
  }
  return ordered
}

/** The first line of a backup; the number is the version of the format. */
export const MAGIC = 'mailsonde backup 1'

/** The second line: the subject of the backup. */
export type BackupHeader = {
  readonly schema: number
  readonly created_at: string
  /** The last value of each sequence, by its name. */
  readonly sequences: Readonly<Record<string, string>>
}

/** Precedes the rows of a table, which are in the text format of COPY and end with a line `\.`. */
export type TableHeader = {
  readonly table: string
  readonly columns: readonly string[]
}

/** The last line: the number of tables, and the SHA-256 of all octets before it. */
type BackupTrailer = { readonly tables: number; readonly sha256: string }

/** Ends the rows of a table: no row looks like this, because a backslash in a row is doubled. */
export const END_OF_ROWS = '\\.'

/** A name as an SQL identifier: from the catalogue, and from a backup, where {@link isName} checks it. */
export const quoted = (name: string): string => `"${name}"`
export const isName = (text: unknown): text is string =>
  typeof text === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(text)
