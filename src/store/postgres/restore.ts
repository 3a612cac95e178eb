import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Selectable } from 'kysely'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { z } from 'zod'
import { AppError, codeOf, messageOf } from '../../base/errors.ts'
import { type BackupHeader, END_OF_ROWS, isName, LEFT_OUT, MAGIC, quoted, type TableHeader } from './backup.ts'
import { createTableText, jobOfTable } from './jobs.ts'
import type { MonitorRow } from './monitors.ts'
import { backupError } from './problems.ts'
import { sumDays } from './report-tables.ts'
import type { DeliveriesTable, MonitorsTable } from './schema.ts'
import { MIGRATIONS, SCHEMA_VERSION } from './tables.ts'

/** Maximum size of a line of a backup: a row has a few fields of 64 KiB and an answer of 1 MiB. */
const MAX_LINE = 256 * 1024 * 1024
/** Maximum size of its lines that are no rows: a header, the name of a table with its columns, the end. */
const MAX_HEAD = 64 * 1024
/** Rows are written in pieces of about this size. */
const PIECE = 256 * 1024

/**
 * Checks a complete backup, then replaces the whole content of the database in one transaction: a fault leaves the
 * database unchanged. A backup of an earlier schema is upgraded within it. Rejects with AppError `invalid_parameter`
 * for a file that is not a backup, is damaged or truncated, comes from a newer program or has content that the schema
 * does not take, and while services are connected.
 */
export async function restore(
  pool: pg.Pool,
  path: string,
  readers: RowReaders,
): Promise<{ readonly tables: number; readonly schema: number }> {
  const header = await checkBackup(path)
  await refuseWhileInUse(pool)
  const client = await pool.connect()
  let tables: number
  try {
    await client.query('BEGIN')
    await client.query('SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0')
    await client.query('DROP SCHEMA IF EXISTS mailsonde CASCADE')
    for (const [index, statements] of [...MIGRATIONS.entries()].slice(0, header.schema)) {
      await client.query(statements)
      await client.query('INSERT INTO mailsonde.schema_version (version) VALUES ($1)', [index + 1])
    }
    tables = await restoreTables(client, path)
    await checkOwnTables(client)
    if (tables !== header.tables) throw backupError('tables', { path, count: tables, expected: header.tables })
    await restoreSequences(client, path, header.sequences)
    await client.query(sumDays('true'))
    for (const [index, statements] of [...MIGRATIONS.entries()].slice(header.schema)) {
      await client.query(statements)
      await client.query('INSERT INTO mailsonde.schema_version (version) VALUES ($1)', [index + 1])
    }
    await checkJson(client, path, readers)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    if (codeOf(error) === OUT_OF_LOCKS) throw backupError('locks', undefined, { cause: error })
    if (error instanceof AppError || !isRefusal(error)) throw error
    throw backupError('content', { path, reason: error.message }, { cause: error })
  } finally {
    client.release(true)
  }
  return { tables, schema: header.schema }
}

/** Each job with a table of its own must have it. */
async function checkOwnTables(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query(
    `SELECT FROM mailsonde.jobs WHERE own_table AND to_regclass('mailsonde.job_rows_' || number) IS NULL LIMIT 1`,
  )
  if (rows.length > 0) throw backupError('job')
}

/** The shared memory of the locks is used up (SQLSTATE `out_of_memory`, with "out of shared memory"). */
const OUT_OF_LOCKS = '53200'

/** An error with which PostgreSQL refuses a statement (a row of the wrong shape): classes 22, 23 and 42 of SQLSTATE. */
const isRefusal = (error: unknown): error is Error => /^(?:22|23|42)/.test(codeOf(error) ?? '')

/** The header of a backup that was checked as far as the file alone tells, and its number of tables. */
type Checked = BackupHeader & { readonly tables: number }

/** Reads the whole file: every line, its end and its checksum. */
async function checkBackup(path: string): Promise<Checked> {
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
  return { ...header, tables: Number(trailer.tables) }
}

function readHeader(path: string, line: Buffer): BackupHeader {
  const read = header.safeParse(parsedLine(line))
  if (!read.success) throw backupError('header', { path })
  const { schema: version } = read.data
  if (version > SCHEMA_VERSION) throw backupError('newer', { path, version, supported: SCHEMA_VERSION })
  return read.data
}

const header = z.object({
  schema: z.int().min(1),
  created_at: z.iso.datetime(),
  sequences: z.record(z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/), z.string().regex(/^[1-9]\d{0,17}$/)),
})

/** Sets the sequences, each of which the schema has; none may give a number that a row already has. */
async function restoreSequences(
  client: pg.PoolClient,
  path: string,
  sequences: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, value] of Object.entries(sequences))
    await client.query('SELECT setval($1::regclass, $2::bigint)', [`mailsonde.${quoted(name)}`, value])
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(`
    SELECT c.relname AS table, a.attname AS column, pg_get_serial_sequence(format('mailsonde.%I', c.relname), a.attname) AS sequence
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'mailsonde' AND c.relkind = 'r' AND a.attidentity <> ''`)
  for (const { table, column, sequence } of rows) {
    const { rows: behind } = await client.query(
      `SELECT FROM mailsonde.${quoted(table)}, ${sequence} s
       WHERE ${quoted(column)} > CASE WHEN s.is_called THEN s.last_value ELSE 0 END LIMIT 1`,
    )
    if (behind.length > 0) throw backupError('sequence', { path, table })
  }
}

const parsedLine = (line: Buffer): Partial<Record<string, unknown>> | undefined => {
  try {
    return line.length > MAX_HEAD ? undefined : JSON.parse(line.toString())
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
  try {
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
    if (open) throw backupError('damaged', { path })
    return tables
  } finally {
    open?.giveUp()
  }
}

/** The table, created if it is a job's own. Names come from the file: only plain ones become SQL. */
async function tableFor(client: pg.PoolClient, header: Partial<Record<string, unknown>>): Promise<TableHeader> {
  const { table, columns } = header
  if (!isName(table) || LEFT_OUT.includes(table) || !Array.isArray(columns) || !columns.every(isName))
    throw backupError('table')
  const job = jobOfTable(table)
  if (job !== undefined) await client.query(createTableText(job))
  return { table, columns }
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
    /** Ends the copy without its rows, so that the transaction can be rolled back. */
    giveUp: (): void => void stream.destroy(),
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
    throw backupError('unreadable', { path, reason: messageOf(cause) }, { cause })
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}

/** What JSON columns hold, in jsonb, json or as text. `null` is JSON's; a column that is NULL holds nothing. */
const KINDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  jobs: { options: ['object'], layout: ['object', 'null'] },
  job_rows: { columns: ['array', 'object'], answer: ['object'] },
  monitors: {
    ...{ options: ['object'], notify: ['array'], conditions: ['array'], quiet: ['object', 'null'] },
    ...{ last: ['object', 'null'], known: ['object'], notifier: ['object', 'null'], unsubscribed: ['array'] },
  },
  monitor_points: { changes: ['array'] },
  deliveries: { channel: ['object'], attempts: ['array'], body: ['object'] },
  stored_answers: { answer: ['object'] },
  idempotency_keys: { answer: ['object'] },
  reports: { policy: ['object'] },
  rows: { value: ['object', 'array', 'string', 'number', 'boolean', 'null'] },
}

/** Reads the rows of which code above the store knows the schema; throws for one that does not fit it. */
type RowReaders = {
  readonly monitor: (row: MonitorRow) => void
  readonly delivery: (row: Pick<Selectable<DeliveriesTable>, 'channel' | 'attempts'>) => void
}

/** Rows that are read at a time. */
const PAGE = 1_000

/**
 * Checks the JSON columns of a restored database: otherwise its first reader would fail, long after the data before it
 * is gone. Throws AppError.
 */
async function checkJson(client: pg.PoolClient, path: string, readers: RowReaders): Promise<void> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'mailsonde' AND c.relkind = 'r'`,
  )
  for (const { name } of tables)
    for (const [column, kinds] of Object.entries(KINDS[jobOfTable(name) === undefined ? name : 'job_rows'] ?? {})) {
      const { rows } = await client.query(
        `SELECT FROM mailsonde.${quoted(name)} WHERE NOT json_typeof(${quoted(column)}::text::json) = ANY($1) LIMIT 1`,
        [kinds],
      )
      if (rows.length > 0) throw backupError('json', { path, table: name, column })
    }
  await read<Selectable<MonitorsTable>>(client, path, 'monitors', readers.monitor)
  await read<Selectable<DeliveriesTable>>(client, path, 'deliveries', readers.delivery)
}

async function read<Row extends pg.QueryResultRow & { readonly number: number }>(
  client: pg.PoolClient,
  path: string,
  table: string,
  each: (row: Row) => void,
): Promise<void> {
  for (let after = 0; ; ) {
    const { rows } = await client.query<Row>(
      `SELECT * FROM mailsonde.${quoted(table)} WHERE number > $1 ORDER BY number LIMIT ${PAGE}`,
      [after],
    )
    try {
      rows.forEach(each)
    } catch (cause) {
      throw backupError('row', { path, table, reason: messageOf(cause) }, { cause })
    }
    const last = rows.at(-1)
    if (!last) return
    after = last.number
  }
}
