import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Totals of a job, known without counting its rows. */
export type JobSums = {
  readonly words: readonly { readonly result: string; readonly reason: string; readonly n: number }[]
  /** The providers with the most rows, and those with the most remaining rows: at most {@link MOST} of each. */
  readonly providers: readonly ProviderSums[]
  readonly providerCount: number
  /** Rows whose provider is known, those of them with a result, and those answered recently, of all providers. */
  readonly known: number
  readonly done: number
  readonly recent: number
}
type ProviderSums = {
  readonly provider: string
  readonly rows: number
  readonly done: number
  /** Recently answered rows. */
  readonly recent: number
}

/** Maximum number of providers read per job, by rows and by rows left; a list may have a hundred thousand. */
const MOST = 100
/** Maximum number of results and reasons read; both are closed lists, so only damaged rows exceed it. */
const MAX_WORDS = 200

const NOTHING: JobSums = { words: [], providers: [], providerCount: 0, known: 0, done: 0, recent: 0 }

/**
 * The totals of jobs by number, in four statements, however many they are; `since`: rows answered after it count as
 * recent. What is read grows with the providers of the jobs, which are never sorted: those of a job with many are
 * chosen by two bounded sorts.
 */
export async function jobSums(
  db: Kysely<Schema>,
  jobs: readonly number[],
  since: Date,
): Promise<(job: number) => JobSums> {
  if (jobs.length === 0) return () => NOTHING
  const [words, totals, recent] = await Promise.all([wordsOf(db, jobs), totalsOf(db, jobs), recentOf(db, jobs, since)])
  const providers = await providersOf(db, [...totals.values()], since)
  return (job) => ({
    ...NOTHING,
    ...totals.get(job),
    words: words.get(job) ?? [],
    providers: providers.get(job) ?? [],
    recent: recent.get(job) ?? 0,
  })
}

type WordRow = JobSums['words'][number] & { readonly job: number }

async function wordsOf(db: Kysely<Schema>, jobs: readonly number[]): Promise<ReadonlyMap<number, readonly WordRow[]>> {
  const { rows } = await sql<WordRow>`
    SELECT job, result, reason, n FROM (
      SELECT job, result, reason, sum(n)::float8 AS n, row_number() OVER (PARTITION BY job ORDER BY sum(n) DESC) AS rank
      FROM mailsonde.job_counts WHERE job = ANY(${jobs}::int[]) GROUP BY job, result, reason) words
    WHERE rank <= ${MAX_WORDS}`.execute(db)
  return Map.groupBy(rows, ({ job }) => job)
}

type TotalRow = Pick<JobSums, 'providerCount' | 'known' | 'done'> & { readonly job: number }

async function totalsOf(db: Kysely<Schema>, jobs: readonly number[]): Promise<ReadonlyMap<number, TotalRow>> {
  const { rows } = await sql<TotalRow>`
    SELECT job, count(*)::float8 AS "providerCount", sum(rows)::float8 AS known, sum(done)::float8 AS done
    FROM mailsonde.job_providers WHERE job = ANY(${jobs}::int[]) GROUP BY job`.execute(db)
  return new Map(rows.map((row) => [row.job, row]))
}

async function recentOf(
  db: Kysely<Schema>,
  jobs: readonly number[],
  since: Date,
): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql<{ job: number; n: number }>`
    SELECT job, sum(n)::float8 AS n FROM mailsonde.job_pace WHERE job = ANY(${jobs}::int[]) AND minute >= ${since} GROUP BY job`.execute(
    db,
  )
  return new Map(rows.map(({ job, n }) => [job, n]))
}

type ProviderRow = ProviderSums & { readonly job: number }

/**
 * The shown providers of jobs. Their recent rows are added up with them: a join, for which the planner expects few
 * rows, would compare each provider with each.
 */
async function providersOf(
  db: Kysely<Schema>,
  totals: readonly TotalRow[],
  since: Date,
): Promise<ReadonlyMap<number, readonly ProviderRow[]>> {
  const isLarge = ({ providerCount }: TotalRow): boolean => providerCount > MOST
  const numbersOf = (some: readonly TotalRow[]): readonly number[] => some.map(({ job }) => job)
  const small = numbersOf(totals.filter((total) => !isLarge(total)))
  const most = numbersOf(totals.filter(isLarge)).map(
    (job) => sql`
      UNION ALL (SELECT * FROM (SELECT job, provider, rows, done FROM mailsonde.job_providers WHERE job = ${job} ORDER BY rows DESC, provider LIMIT ${MOST}) by_rows
      UNION SELECT * FROM (SELECT job, provider, rows, done FROM mailsonde.job_providers WHERE job = ${job} ORDER BY rows - done DESC, provider LIMIT ${MOST}) by_left)`,
  )
  const { rows } = await sql<ProviderRow>`
    WITH parts AS (
      SELECT job, provider, rows, done FROM mailsonde.job_providers WHERE job = ANY(${small}::int[]) ${sql.join(most, sql` `)}),
    added AS (
      SELECT job, provider, rows, done, 0 AS recent, true AS is_shown FROM parts
      UNION ALL
      SELECT job, provider, 0, 0, n, false FROM mailsonde.job_pace WHERE job = ANY(${numbersOf(totals)}::int[]) AND minute >= ${since})
    SELECT job, provider, sum(rows)::float8 AS rows, sum(done)::float8 AS done, sum(recent)::float8 AS recent
    FROM added GROUP BY job, provider HAVING bool_or(is_shown)`.execute(db)
  return Map.groupBy(rows, ({ job }) => job)
}

/** What waits to be asked, and who holds connections. */
export type QueueState = {
  /**
   * Rows of running jobs without a result whose provider is known; those of them whose provider has a row that is due;
   * and for how long the first one has been, s.
   */
  readonly openRows: number
  readonly dueRows: number
  readonly dueSeconds: number
  /** Providers of running jobs with a row that is due, and those that wait for a later time. */
  readonly due: number
  readonly waiting: number
  /** Nodes that may begin connections, how many they hold together, and at how many providers and mail hosts. */
  readonly nodes: number
  readonly connections: number
  readonly keys: number
}

/** Rows are never read: the sums of providers tell. */
export async function queueState(db: Kysely<Schema>): Promise<QueueState> {
  const { rows } = await sql<QueueState>`
    SELECT p.*, l.* FROM (
      SELECT coalesce(sum(p.rows - p.done), 0)::float8 AS "openRows", coalesce(sum(p.rows - p.done) FILTER (WHERE next_due <= now()), 0)::float8 AS "dueRows",
        coalesce(extract(epoch FROM now() - min(next_due) FILTER (WHERE next_due <= now())), 0)::float8 AS "dueSeconds",
        (count(*) FILTER (WHERE next_due <= now()))::int AS due, (count(*) FILTER (WHERE next_due > now()))::int AS waiting
      FROM mailsonde.job_providers p JOIN mailsonde.jobs ON number = job AND state = 'running' WHERE next_due < 'infinity') p
    CROSS JOIN (
      SELECT count(DISTINCT key)::int AS nodes, coalesce(sum((value ->> 0)::int), 0)::int AS connections, count(DISTINCT provider)::int AS keys
      FROM mailsonde.provider_leases, jsonb_each(holders)
      WHERE (value ->> 2)::bigint > extract(epoch FROM now()) * 1000 AND (value ->> 0)::int > 0) l`.execute(db)
  return rows[0]!
}
