import type pg from 'pg'
import { databaseError } from './problems.ts'
import { REPORT_TABLES } from './report-tables.ts'
import { TABLES } from './tables.ts'

/** Key of the advisory lock under which one process at a time migrates: "mailsonm" as octets. */
const MIGRATION_LOCK = '7882826921180361325'

/**
 * The steps of the schema, in order; version N is the state after the Nth. Nothing was released yet: the first step
 * changes with the program, and a database of an earlier development version is created anew. From the first release
 * on, a step is never edited: what is wrong in it is corrected by a new one.
 */
export const MIGRATIONS: readonly string[] = [[TABLES, REPORT_TABLES].join('\n')]

/** The version of the schema that this program knows. */
export const SCHEMA_VERSION = MIGRATIONS.length

type SchemaStatus = { readonly version: number; readonly known: number; readonly isStandby: boolean }

/** The version of the schema in the database (0: none yet), and whether the server is a standby. */
export async function schemaStatus(client: pg.Pool | pg.PoolClient): Promise<SchemaStatus> {
  const { rows } = await client.query<{ standby: boolean; there: boolean }>(
    `SELECT pg_is_in_recovery() AS standby, to_regclass('mailsonde.schema_version') IS NOT NULL AS there`,
  )
  const version = rows[0]?.there
    ? await client.query<{ version: number }>(
        'SELECT coalesce(max(version), 0) AS version FROM mailsonde.schema_version',
      )
    : undefined
  return {
    version: version?.rows[0]?.version ?? 0,
    known: SCHEMA_VERSION,
    isStandby: rows[0]?.standby === true,
  }
}

/**
 * Brings the schema to the version that this program knows, one process at a time. Returns the number of steps made.
 * The lock is that of a transaction, because a session lock is lost behind a pooler. Rejects with AppError for a
 * standby server and for a schema newer than this program.
 */
export async function migrate(pool: pg.Pool): Promise<number> {
  const client = await pool.connect()
  let isBroken = true
  try {
    const before = await schemaStatus(client)
    refuseUnusable(before)
    if (before.version < SCHEMA_VERSION) {
      await client.query('BEGIN')
      await client.query('SET LOCAL statement_timeout = 0')
      await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
      const { version } = await schemaStatus(client) // another process may have made the steps while this one waited
      for (const [index, statements] of [...MIGRATIONS.entries()].slice(version)) {
        await client.query(statements)
        await client.query('INSERT INTO mailsonde.schema_version (version) VALUES ($1)', [index + 1])
      }
      await client.query('COMMIT')
    }
    isBroken = false
    return SCHEMA_VERSION - before.version
  } finally {
    client.release(isBroken) // a failed transaction ends with its connection
  }
}

function refuseUnusable({ version, isStandby }: SchemaStatus): void {
  if (isStandby) throw databaseError('standby')
  if (version > SCHEMA_VERSION) throw databaseError('newer', { version, supported: SCHEMA_VERSION })
}
