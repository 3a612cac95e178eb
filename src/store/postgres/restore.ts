import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { AppError } from '../../base/errors.ts'
import { type BackupHeader, END_OF_ROWS, isName, MAGIC, quoted, type TableHeader } from './backup-format.ts'
import { migrate, SCHEMA_VERSION } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'
import { backupError } from './problems.ts'

/** Maximum size of a line of a backup: a row has a few fields of 64 KiB and an answer of 1 MiB. */
const MAX_LINE = 256 * 1024 * 1024
/** Rows are written in pieces of about this size. */
const PIECE = 256 * 1024

/**
 * Checks a complete backup, then replaces the whole content of the database in one transaction: a fault leaves the database unchanged. A backup of an earlier
 * schema is upgraded. Rejects with AppError `invalid_parameter` for a file that is not a backup, is damaged or truncated, or comes from a newer program, and
 * while services are connected.
 */
export async function restore(
  pool: pg.Pool,
  path: string,
): Promise<{ readonly tables: number; readonly schema: number }> {
  const header = await checkBackup(path)
  await refuseWhileInUse(pool)
  const client = await pool.connect()
  let tables: number
  try {
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    await client.query('BEGIN')
    await client.query('DROP SCHEMA IF EXISTS mailsonde CASCADE; DROP SCHEMA IF EXISTS mailsonde_queue CASCADE')
    for (const [index, statements] of [...MIGRATIONS.entries()].slice(0, header.schema)) {
      await client.query(statements)
      await client.query('INSERT INTO mailsonde.schema_version (version) VALUES ($1)', [index + 1])
    }
    tables = await restoreTables(client, path)
    for (const [name, value] of Object.entries(header.sequences))
      if (isName(name)) await client.query('SELECT setval($1::regclass, $2::bigint)', [`mailsonde.${name}`, value])
    // Rows that were in chunks are planned again: the queue is not part of a backup.
    await client.query(
      `UPDATE mailsonde.job_rows SET state = 'ready', chunk = NULL, due = now() WHERE state = 'queued'`,
    )
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  } finally {
    client.release(true)
  }
  await migrate(pool)
  return { tables, schema: header.schema }
}

/** Reads the whole file: every line, its end and its checksum. Returns the header. */
async function checkBackup(path: string): Promise<BackupHeader> {
  const hash = createHash('sha256')
  let header: BackupHeader | undefined
  let last: Buffer | undefined
  let number = 0
  for await (const line of linesOf(path)) {
    number++
    if (last) hash.update(last).update('\n')
    if (number === 1 && line.toString() !== MAGIC) throw backupError('other', { path })
    if (number === 2) header = readHeader(path, line)
    last = line
  }
  const trailer = last && parsedLine(last)
  if (!header || trailer?.sha256 !== hash.digest('hex')) throw backupError('damaged', { path })
  return header
}

function readHeader(path: string, line: Buffer): BackupHeader {
  const header = parsedLine(line)
  if (typeof header?.schema !== 'number' || typeof header.sequences !== 'object') throw backupError('header', { path })
  if (header.schema > SCHEMA_VERSION)
    throw backupError('newer', { path, version: header.schema, supported: SCHEMA_VERSION })
  return header as BackupHeader
}

const parsedLine = (line: Buffer): Partial<Record<string, unknown>> | undefined => {
  try {
    return JSON.parse(line.toString())
  } catch {
    return undefined
  }
}

async function refuseWhileInUse(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'mailsonde'`,
  )
  const others = (rows[0]?.n ?? 0) - (pool.totalCount - 1)
  if (others > 0) throw backupError('in_use', { count: others })
}

async function restoreTables(client: pg.PoolClient, path: string): Promise<number> {
  let tables = 0
  let number = 0
  let open: ReturnType<typeof intoTable> | undefined
  for await (const line of linesOf(path)) {
    if (++number <= 2) continue
    if (open && line.length === 2 && line.toString('latin1') === END_OF_ROWS) {
      await open.end()
      open = undefined
      tables++
    } else if (open) await open.write(line)
    else {
      const header = parsedLine(line)
      if (header?.table === undefined) break // the trailer
      open = intoTable(client, await tableFor(client, header))
    }
  }
  return tables
}

/** The table, created if it is a job's partition. Names come from the file: only plain ones become SQL. */
async function tableFor(client: pg.PoolClient, header: Partial<Record<string, unknown>>): Promise<TableHeader> {
  const { table, columns, partition } = header
  if (!isName(table) || !Array.isArray(columns) || !columns.every(isName)) throw backupError('table')
  if (partition === undefined) return { table, columns }
  if (!Number.isSafeInteger(partition)) throw backupError('job')
  await client.query(`
    CREATE TABLE mailsonde.${quoted(table)} PARTITION OF mailsonde.job_rows FOR VALUES IN (${partition});
    CREATE INDEX ON mailsonde.${quoted(table)} (domain) WHERE state = 'new'`)
  return { table, columns, partition: Number(partition) }
}

function intoTable(client: pg.PoolClient, { table, columns }: TableHeader) {
  const stream = client.query(
    copyFrom(`COPY mailsonde.${quoted(table)} (${columns.map(quoted).join(', ')}) FROM STDIN`),
  )
  const ended = finished(stream)
  ended.catch(() => {}) // reported by the next write or the end
  let piece: Buffer[] = []
  let size = 0
  const flush = async (): Promise<void> => {
    const octets = Buffer.concat(piece)
    piece = []
    size = 0
    if (!stream.write(octets))
      await Promise.race([new Promise<void>((resolve) => void stream.once('drain', resolve)), ended])
  }
  return {
    write: async (line: Buffer): Promise<void> => {
      piece.push(line, NEWLINE)
      size += line.length + 1
      if (size >= PIECE) await flush()
    },
    end: async (): Promise<void> => {
      if (size > 0) await flush()
      stream.end()
      await ended
    },
  }
}

const NEWLINE = Buffer.from('\n')

/** The lines of a gzip file. Rejects with AppError if it cannot be read. */
async function* linesOf(path: string): AsyncIterable<Buffer> {
  let rest: Buffer[] = []
  let size = 0
  const file = createReadStream(path)
  const text = file.pipe(createGunzip())
  file.once('error', (error) => text.destroy(error))
  try {
    for await (const chunk of text as AsyncIterable<Buffer>) {
      let from = 0
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        yield rest.length === 0 ? chunk.subarray(from, at) : Buffer.concat([...rest, chunk.subarray(from, at)])
        rest = []
        size = 0
        from = at + 1
      }
      if (from < chunk.length) rest.push(chunk.subarray(from))
      size += chunk.length - from
      if (size > MAX_LINE) throw backupError('line', { path })
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw backupError('unreadable', { path, reason: (cause as Error).message }, { cause })
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}
