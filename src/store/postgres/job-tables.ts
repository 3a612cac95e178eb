import { type Kysely, type RawBuilder, sql } from 'kysely'
import { codeOf } from '../../base/errors.ts'
import type { Schema } from './schema.ts'

/** A job, and whether its rows are in a table of their own. */
export type JobTable = { readonly number: number; readonly own_table: boolean }

/**
 * A job with more rows has a table of its own, which is dropped at once; the rows of smaller ones share a table and
 * cost no files.
 */
export const OWN_TABLE_ROWS = 5_000
/**
 * How long the removal of a table may wait for a backup that reads it, ms; statements on the table wait behind it.
 * Later sweeps try again.
 */
const DROP_WAIT_MS = 500
/** Maximum number of tables that one sweep removes. */
const SWEPT = 100

/** The table of a job's rows; a number is written into the name: nothing else can be in it. */
export const tableNameOf = ({ number, own_table }: JobTable): string =>
  own_table ? `mailsonde.${ownName(number)}` : 'mailsonde.job_rows'
export const tableOf = (job: JobTable): RawBuilder<unknown> => sql.raw(tableNameOf(job))

/** The name of a job's own table, in the schema; and the number of the job that such a name belongs to. */
const ownName = (number: number): string => `job_rows_${Math.trunc(number)}`
export const jobOfTable = (name: string): number | undefined => {
  const found = /^job_rows_(\d{1,10})$/.exec(name)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Creates the table of a large job, empty. It is no partition: making and dropping one locks no other job. */
export const createTableText = (number: number): string => `
  CREATE TABLE mailsonde.${ownName(number)} (LIKE mailsonde.job_rows INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (job, line));
  CREATE INDEX ON mailsonde.${ownName(number)} (job, provider, due, line) WHERE state = 'ready'`

/** Removes tables of jobs that no longer exist. One that a backup reads is left for a later call. */
export async function dropLeftTables(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'mailsonde'::regnamespace AND relkind = 'r' AND relname ~ '^job_rows_[0-9]+$'
      AND NOT EXISTS (SELECT FROM mailsonde.jobs WHERE number::text = substr(relname, 10)) LIMIT ${SWEPT}`.execute(db)
  for (const { name } of rows) {
    const number = jobOfTable(name)
    if (number !== undefined) await dropTable(db, number)
  }
}

/** Removes the table of a job that was removed; leaves it if something reads it for longer. */
export async function dropTable(db: Kysely<Schema>, number: number): Promise<void> {
  try {
    await db.transaction().execute(async (tx) => {
      await sql`SET LOCAL lock_timeout = ${sql.lit(DROP_WAIT_MS)}`.execute(tx)
      await sql`DROP TABLE IF EXISTS ${sql.raw(`mailsonde.${ownName(number)}`)}`.execute(tx)
    })
  } catch (error) {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error
  }
}

const LOCK_NOT_AVAILABLE = '55P03'
const UNDEFINED_TABLE = '42P01'

/** Whether a statement failed because the job was removed with its table. */
export const isTableGone = (error: unknown): boolean => codeOf(error) === UNDEFINED_TABLE
