import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Totals of a job, known without counting its rows. */
export type JobSums = {
  /** Number of rows by result and reason. */
  readonly words: readonly { readonly result: string; readonly reason: string; readonly n: number }[]
  /** The providers with the most rows, and those with the most remaining rows: at most {@link MOST} of each. */
  readonly providers: readonly ProviderSums[]
  readonly providerCount: number
  /** Rows whose provider is known, those of them with a result, and those answered recently, of all providers. */
  readonly known: number
  readonly done: number
  readonly recent: number
}
export type ProviderSums = {
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
 * The totals of jobs by number, all in two statements; `since`: rows answered after it count as recent. Totals and recent rows are added up in one pass: a join of
 * the two, for which the planner expects few rows, would compare each provider with each.
 */
export async function jobSums(
  db: Kysely<Schema>,
  jobs: readonly number[],
  since: Date,
): Promise<(job: number) => JobSums> {
  if (jobs.length === 0) return () => NOTHING
  const [words, providers] = await Promise.all([wordsOf(db, jobs), providersOf(db, jobs, since)])
  const sums = new Map<number, JobSums>()
  for (const job of jobs) {
    const parts = providers.get(job) ?? []
    const { provider_count = '0', known = '0', all_done = '0', all_recent = '0' } = parts[0] ?? {}
    sums.set(job, {
      words: (words.get(job) ?? []).map(({ result, reason, n }) => ({ result, reason, n: Number(n) })),
      providers: parts.map(({ provider, rows, done, recent }) => ({
        provider,
        rows: Number(rows),
        done: Number(done),
        recent: Number(recent),
      })),
      providerCount: Number(provider_count),
      known: Number(known),
      done: Number(all_done),
      recent: Number(all_recent),
    })
  }
  return (job) => sums.get(job) ?? NOTHING
}

type WordRow = { readonly job: number } & Readonly<Record<'result' | 'reason' | 'n', string>>

async function wordsOf(db: Kysely<Schema>, jobs: readonly number[]): Promise<ReadonlyMap<number, readonly WordRow[]>> {
  const { rows } = await sql<WordRow>`
    SELECT job, result, reason, n FROM (
      SELECT job, result, reason, sum(n) AS n, row_number() OVER (PARTITION BY job ORDER BY sum(n) DESC) AS rank
      FROM mailsonde.job_counts WHERE job = ANY(${jobs}::int[]) GROUP BY job, result, reason) words
    WHERE rank <= ${MAX_WORDS}`.execute(db)
  return Map.groupBy(rows, ({ job }) => job)
}

type ProviderRow = { readonly job: number; readonly provider: string } & Readonly<
  Record<'rows' | 'done' | 'recent' | 'provider_count' | 'known' | 'all_done' | 'all_recent', string>
>

async function providersOf(
  db: Kysely<Schema>,
  jobs: readonly number[],
  since: Date,
): Promise<ReadonlyMap<number, readonly ProviderRow[]>> {
  const { rows } = await sql<ProviderRow>`
    WITH parts AS (
      SELECT job, provider, rows, done, 0 AS recent FROM mailsonde.job_providers WHERE job = ANY(${jobs}::int[])
      UNION ALL
      SELECT job, provider, 0, 0, n FROM mailsonde.job_pace WHERE job = ANY(${jobs}::int[]) AND minute >= ${since}),
    sums AS (
      SELECT job, provider, sum(rows) AS rows, sum(done) AS done, sum(recent) AS recent FROM parts GROUP BY job, provider)
    SELECT job, provider, rows, done, recent, provider_count, known, all_done, all_recent FROM (
      SELECT sums.*, count(*) OVER of AS provider_count, sum(rows) OVER of AS known, sum(done) OVER of AS all_done,
        sum(recent) OVER of AS all_recent,
        row_number() OVER (PARTITION BY job ORDER BY rows DESC, provider) AS by_rows,
        row_number() OVER (PARTITION BY job ORDER BY rows - done DESC, provider) AS by_left
      FROM sums WINDOW of AS (PARTITION BY job)) ranked
    WHERE by_rows <= ${MOST} OR by_left <= ${MOST}`.execute(db)
  return Map.groupBy(rows, ({ job }) => job)
}
