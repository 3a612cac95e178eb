import { type Kysely, type Selectable, sql } from 'kysely'
import type { Json } from '../../base/json.ts'
import { afterDeadlock } from './deadlock.ts'
import type { JobKind, JobState, JobsTable, Schema } from './schema.ts'

/** A job as stored. Numbers of rows are always exact, except `done`, which lags by the rows of a running write. */
export type JobRecord = Omit<
  Selectable<JobsTable>,
  'received' | 'next_line' | 'rows' | 'done' | 'duplicates' | 'bad_rows'
> & {
  readonly received: number
  readonly next_line: number
  readonly rows: number
  readonly done: number
  readonly duplicates: number
  readonly bad_rows: number
}

export type NewJob = {
  readonly id: string
  readonly kind: JobKind
  readonly name: string
  readonly owner: string
  readonly options: { readonly [key: string]: Json }
  readonly expiresAt: Date
}

/** Where a list of jobs continues: after the job with this number. */
export type JobPage = { readonly before?: number; readonly limit: number; readonly owner?: string }

/** The jobs of a database. The rows of each job are in their own partition. */
export type Jobs = ReturnType<typeof jobsOf>

export const jobsOf = (db: Kysely<Schema>) => ({
  /** Creates a job in state `receiving`, with the partition for its rows. */
  create: (job: NewJob): Promise<JobRecord> =>
    db.transaction().execute(async (tx) => {
      const { expiresAt, options, ...rest } = job
      const made = await tx
        .insertInto('mailsonde.jobs')
        .values({ ...rest, state: 'receiving', options: JSON.stringify(options), expires_at: expiresAt })
        .returningAll()
        .executeTakeFirstOrThrow()
      const partition = sql.raw(`mailsonde.job_rows_${made.number}`)
      await sql`CREATE TABLE ${partition} PARTITION OF mailsonde.job_rows FOR VALUES IN (${sql.raw(String(made.number))})`.execute(
        tx,
      )
      return recordOf(made)
    }),

  byId: async (id: string): Promise<JobRecord | undefined> => {
    const job = await db.selectFrom('mailsonde.jobs').selectAll().where('id', '=', id).executeTakeFirst()
    return job && recordOf(job)
  },

  /** Newest first. */
  list: async ({ before, limit, owner }: JobPage): Promise<readonly JobRecord[]> => {
    let query = db.selectFrom('mailsonde.jobs').selectAll().orderBy('number', 'desc').limit(limit)
    if (before !== undefined) query = query.where('number', '<', before)
    if (owner !== undefined) query = query.where('owner', '=', owner)
    return (await query.execute()).map(recordOf)
  },

  /** The jobs in one of these states, oldest first, so that they start in the order of submission. */
  inState: async (states: readonly JobState[], limit: number): Promise<readonly JobRecord[]> =>
    (
      await db
        .selectFrom('mailsonde.jobs')
        .selectAll()
        .where('state', 'in', [...states])
        .orderBy('number')
        .limit(limit)
        .execute()
    ).map(recordOf),

  /** Moves a job to a state if it is in one of `from`; returns the changed job, or undefined. */
  move: async (
    id: string,
    from: readonly JobState[],
    to: JobState,
    also: { readonly finished_at?: Date; readonly failure?: string } = {},
  ): Promise<JobRecord | undefined> => {
    const moved = await db
      .updateTable('mailsonde.jobs')
      .set({ state: to, touched_at: sql<Date>`now()`, ...also })
      .where('id', '=', id)
      .where('state', 'in', [...from])
      .returningAll()
      .executeTakeFirst()
    return moved && recordOf(moved)
  },

  /** Records a part of an upload: the detected layout, and the progress. */
  received: async (
    number: number,
    part: {
      readonly layout: { readonly [key: string]: Json } | null
      readonly received: number
      readonly nextLine: number
    },
  ): Promise<void> => {
    await db
      .updateTable('mailsonde.jobs')
      .set({
        ...(part.layout && { layout: JSON.stringify(part.layout) }),
        received: part.received,
        next_line: part.nextLine,
        touched_at: sql<Date>`now()`,
      })
      .where('number', '=', number)
      .execute()
  },

  /** Removes a job with all its data; dropping its partition takes milliseconds at any size. False if there was none. */
  remove: (id: string): Promise<boolean> =>
    afterDeadlock(() =>
      db.transaction().execute(async (tx) => {
        const job = await tx.deleteFrom('mailsonde.jobs').where('id', '=', id).returning('number').executeTakeFirst()
        if (!job) return false
        await sql`DROP TABLE IF EXISTS ${sql.raw(`mailsonde.job_rows_${job.number}`)}`.execute(tx)
        return true
      }),
    ),

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

/** Time after which an interrupted upload is removed. */
const RECEIVING_MS = 3_600_000

const recordOf = (job: Selectable<JobsTable>): JobRecord => ({
  ...job,
  received: Number(job.received),
  next_line: Number(job.next_line),
  rows: Number(job.rows),
  done: Number(job.done),
  duplicates: Number(job.duplicates),
  bad_rows: Number(job.bad_rows),
})
