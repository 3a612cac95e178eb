import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import { codeOf } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { afterDeadlock } from './connect.ts'
import { newJobError } from './problems.ts'
import type { JobKind, JobState, JobsTable, Schema } from './schema.ts'

/**
 * A job as stored, without the layout of its list ({@link Jobs.layout}), which may have 64 KiB. Numbers of rows are
 * exact once the list is complete.
 */
export type JobRecord = Omit<Selectable<JobsTable>, 'layout' | 'planned_at' | 'has_domains'>
const COLUMNS = [
  ...(['number', 'id', 'kind', 'name', 'owner', 'state', 'options', 'created_at', 'touched_at', 'expires_at'] as const),
  ...(['finished_at', 'first_result_at', 'received', 'next_line', 'rows', 'duplicates', 'bad_rows'] as const),
  ...(['failure', 'own_table'] as const),
] as const satisfies readonly (keyof JobRecord)[]

type NewJob = {
  readonly id: string
  readonly kind: JobKind
  readonly name: string
  readonly owner: string
  readonly options: { readonly [key: string]: Json }
  readonly expiresAt: Date
}

/** Where a list of jobs continues: after the job with this number. */
type JobPage = { readonly before?: number; readonly limit: number; readonly owner?: string }

/** A list that waits for its rows or has rows to ask. */
const OPEN: readonly JobState[] = ['receiving', 'waiting', 'running', 'paused']
/** Maximum number of open jobs of an owner. */
export const MAX_OPEN = 1_000

export type Jobs = ReturnType<typeof jobsOf>

export const jobsOf = (db: Kysely<Schema>) => ({
  create: (job: NewJob) => createJob(db, job),

  byId: (id: string): Promise<JobRecord | undefined> =>
    db.selectFrom('mailsonde.jobs').select(COLUMNS).where('id', '=', id).executeTakeFirst(),

  /** What intake found out about the list of a job; null before its first record. */
  layout: async (number: number): Promise<{ readonly [key: string]: Json } | null> => {
    const job = await db.selectFrom('mailsonde.jobs').select('layout').where('number', '=', number).executeTakeFirst()
    return job?.layout ?? null
  },

  /** Newest first. */
  list: async ({ before, limit, owner }: JobPage): Promise<readonly JobRecord[]> => {
    let query = db.selectFrom('mailsonde.jobs').select(COLUMNS).orderBy('number', 'desc').limit(limit)
    if (before !== undefined) query = query.where('number', '<', before)
    if (owner !== undefined) query = query.where('owner', '=', owner)
    return query.execute()
  },

  /**
   * Moves a job to a state if it is in one of `from`, with the `failure` that is the reason, or without one; returns the
   * changed job, or undefined.
   */
  move: (
    id: string,
    from: readonly JobState[],
    to: JobState,
    also: { readonly finished_at?: Date; readonly failure?: string } = {},
  ): Promise<JobRecord | undefined> =>
    db
      .updateTable('mailsonde.jobs')
      .set({ state: to, touched_at: sql<Date>`now()`, failure: null, ...also })
      .where('id', '=', id)
      .where('state', 'in', [...from])
      .returning(COLUMNS)
      .executeTakeFirst(),

  /**
   * Starts the jobs, or goes on with those, whose domains are looked up next: owners take turns, then the jobs of an
   * owner.
   */
  nextToLookUp: async (limit: number): Promise<readonly JobRecord[]> => {
    const { rows } = await sql<JobRecord>`
      UPDATE mailsonde.jobs j SET planned_at = clock_timestamp(), state = 'running' FROM (
        SELECT number FROM (
          SELECT number, planned_at, row_number() OVER (PARTITION BY owner ORDER BY planned_at, number) AS turn
          FROM mailsonde.jobs WHERE has_domains AND state IN ('waiting', 'running')) open
        ORDER BY turn, planned_at, number LIMIT ${limit}) next
      WHERE j.number = next.number AND j.state IN ('waiting', 'running') RETURNING ${sql.join(COLUMNS.map((column) => sql.ref(`j.${column}`)))}`.execute(
      db,
    )
    return rows
  },

  /** Records that all domains of a job have been looked up, if so. */
  lookedUp: async (number: number): Promise<boolean> => {
    const done = await sql`
      UPDATE mailsonde.jobs SET has_domains = false
      WHERE number = ${number} AND NOT EXISTS (SELECT FROM mailsonde.job_domains WHERE job = ${number} AND provider IS NULL)`.execute(
      db,
    )
    return done.numAffectedRows === 1n
  },

  running: async (numbers: readonly number[]): Promise<readonly number[]> => {
    const found = db.selectFrom('mailsonde.jobs').select('number').where('number', 'in', numbers)
    return (await found.where('state', '=', 'running').execute()).map(({ number }) => number)
  },

  /** Ends running jobs whose rows all have a result: these, or all. */
  finish: async (at: Date, numbers?: readonly number[]): Promise<void> => {
    const only = numbers ? sql`AND number = ANY(${numbers}::int[])` : sql``
    await sql`
      UPDATE mailsonde.jobs SET state = 'done', finished_at = ${at}, touched_at = now()
      WHERE state = 'running' AND NOT has_domains ${only}
        AND NOT EXISTS (SELECT FROM mailsonde.job_providers WHERE job = number AND done < rows)`.execute(db)
  },

  remove: (id: string, number?: number) => removeJob(db, id, number),

  /** The jobs that have expired, or whose upload was not continued for an hour. */
  overdue: async (now: Date): Promise<readonly string[]> => {
    const left = new Date(now.getTime() - RECEIVING_MS)
    const rows = await db
      .selectFrom('mailsonde.jobs')
      .select('id')
      .where((where) =>
        where.or([
          where('expires_at', '<=', now),
          where.and([where('state', '=', 'receiving'), where('touched_at', '<=', left)]),
        ]),
      )
      .limit(100)
      .execute()
    return rows.map(({ id }) => id)
  },
})

/**
 * Creates a job in state `receiving`. Rejects with AppError `too_many_jobs` if its owner has {@link MAX_OPEN} open
 * ones.
 */
const createJob = (db: Kysely<Schema>, job: NewJob): Promise<JobRecord> =>
  db.transaction().execute(async (tx) => {
    const { expiresAt, options, ...rest } = job
    // Uploads of one owner take turns, so that the bound holds.
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`jobs of ${job.owner}`}, 0))`.execute(tx)
    const open = tx
      .selectFrom('mailsonde.jobs')
      .select('number')
      .where('owner', '=', job.owner)
      .where('state', 'in', [...OPEN])
    if ((await open.limit(MAX_OPEN).execute()).length >= MAX_OPEN) throw newJobError('too_many', { max: MAX_OPEN })
    return tx
      .insertInto('mailsonde.jobs')
      .values({ ...rest, state: 'receiving', options: JSON.stringify(options), expires_at: expiresAt })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
  })

/**
 * Removes a job with all its data. False if there was none. With `number`, only the job of that number: another run
 * of the same request may have made the job of this id anew.
 */
async function removeJob(db: Kysely<Schema>, id: string, number?: number): Promise<boolean> {
  const gone = await afterDeadlock(() =>
    db.transaction().execute(async (tx) => {
      const named = tx.deleteFrom('mailsonde.jobs').where('id', '=', id)
      const meant = number === undefined ? named : named.where('number', '=', number)
      const job = await meant.returning(['number', 'own_table']).executeTakeFirst()
      if (job && !job.own_table) await tx.deleteFrom('mailsonde.job_rows').where('job', '=', job.number).execute()
      return job
    }),
  )
  if (gone?.own_table) await dropTable(db, gone.number)
  return gone !== undefined
}

/** Time after which an interrupted upload is removed. */
const RECEIVING_MS = 3_600_000

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
async function dropTable(db: Kysely<Schema>, number: number): Promise<void> {
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
/** An undefined table; a row of a job that is not there. */
const OF_REMOVED = ['42P01', '23503']

/** Whether a statement failed because the job was removed, with its table. */
export const isJobGone = (error: unknown): boolean => OF_REMOVED.includes(codeOf(error) ?? '')
