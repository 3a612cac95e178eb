import { type Kysely, sql } from 'kysely'
import { forJob } from './partitions.ts'
import type { Schema } from './schema.ts'

/** A mailbox, or a domain with the mailboxes of it. */
export type Forgotten = { readonly name: 'email' | 'domain'; readonly value: string }

export type ForgottenRows = {
  /** Rows that were removed from lists. */
  readonly rows: number
  /** Rows of these that had a result. */
  readonly results: number
  /** Rows about others in whose own columns it stood: it was replaced by a word there. */
  readonly columns: number
  readonly bad_rows: number
}

/** What stands in the place of a text that was removed from a column. */
const REMOVED = '[removed]'

/**
 * Removes a mailbox or a domain from the lists of all jobs, with its results, and takes it out of the sums. Upper and lower case are one. Jobs go one by one, each in a
 * transaction: a fault leaves whole jobs done, and the same call does the rest.
 */
export async function forgetRows(db: Kysely<Schema>, { name, value }: Forgotten): Promise<ForgottenRows> {
  const text = pattern(name, value)
  const sum = { rows: 0, results: 0, columns: 0, bad_rows: 0 }
  const jobs = await db.selectFrom('mailsonde.jobs').select('number').orderBy('number').execute()
  for (const { number } of jobs) {
    const gone = await forgetInJob(db, number, { name, value: value.toLowerCase(), text })
    for (const key of ['rows', 'results', 'columns', 'bad_rows'] as const) sum[key] += gone[key]
  }
  return sum
}

/** The name as a whole word in a text: `joe@a.example` is not in `xjoe@a.example.org`. */
function pattern(name: Forgotten['name'], value: string): string {
  const escaped = value.toLowerCase().replaceAll(/[^a-z0-9@]/g, (letter) => `\\${letter}`)
  const before = name === 'email' ? `(^|[^[:alnum:]._%+-])` : `(^|[^[:alnum:].-])`
  return `${before}${escaped}(\\.?($|[^[:alnum:].-]))`
}

type Wanted = Forgotten & { readonly text: string }

const forgetInJob = (db: Kysely<Schema>, job: number, { name, value, text }: Wanted): Promise<ForgottenRows> =>
  db.transaction().execute(async (tx) => {
    await sql`SET LOCAL statement_timeout = 0`.execute(tx)
    const partition = forJob(job)
    const isMeant = name === 'email' ? sql`lower(key) = ${value}` : sql`(domain = ${value} OR lower(key) = ${value})`
    const { rows } = await sql<{ rows: string; results: string }>`
      WITH gone AS (
        DELETE FROM ${partition} WHERE ${isMeant} OR lower(input) ~ ${text}
        RETURNING state, provider, result, reason, copies),
      counted AS (
        UPDATE mailsonde.job_counts c SET n = c.n - g.n FROM (
          SELECT provider, coalesce(result, '') AS result, coalesce(reason, '') AS reason, sum(1 + copies) AS n FROM gone
          WHERE state = 'done' GROUP BY 1, 2, 3
          UNION ALL
          SELECT provider, '', '', sum(1 + copies) FROM gone WHERE provider IS NOT NULL AND state <> 'duplicate' GROUP BY 1) g
        WHERE c.job = ${job} AND c.provider = g.provider AND c.result = g.result AND c.reason = g.reason),
      summed AS (
        UPDATE mailsonde.jobs SET rows = greatest(0, rows - (SELECT count(*) FROM gone)),
          duplicates = greatest(0, duplicates - (SELECT count(*) FROM gone WHERE state = 'duplicate')),
          done = greatest(0, done - (SELECT coalesce(sum(1 + copies), 0) FROM gone WHERE state = 'done'))
        WHERE number = ${job} AND EXISTS (SELECT FROM gone))
      SELECT count(*) AS rows, coalesce(sum(1 + copies) FILTER (WHERE state = 'done'), 0) AS results FROM gone`.execute(
      tx,
    )
    const columns = await sql`
      UPDATE ${partition} SET columns = regexp_replace(columns::text, ${text}, ${`\\1${REMOVED}\\2`}, 'gi')::jsonb
      WHERE lower(columns::text) ~ ${text}`.execute(tx)
    const bad = await sql`
      DELETE FROM mailsonde.job_bad_rows WHERE job = ${job} AND lower(text) ~ ${text}`.execute(tx)
    if (name === 'domain')
      await sql`DELETE FROM mailsonde.job_domains WHERE job = ${job} AND domain = ${value}`.execute(tx)
    return {
      rows: Number(rows[0]?.rows ?? 0),
      results: Number(rows[0]?.results ?? 0),
      columns: Number(columns.numAffectedRows ?? 0),
      bad_rows: Number(bad.numAffectedRows ?? 0),
    }
  })
