import { type Kysely, sql } from 'kysely'
import { type Forgotten, forgetPattern, REMOVED } from './forget-pattern.ts'
import { type JobTable, tableOf } from './job-tables.ts'
import type { Schema } from './schema.ts'

export type ForgottenRows = {
  /** Rows that were removed from lists. */
  readonly rows: number
  /** Rows of these that had a result. */
  readonly results: number
  /** Rows about others in whose own columns, or answer, it stood: it was replaced by a word there. */
  readonly columns: number
  readonly bad_rows: number
}

/**
 * Removes a mailbox or a domain from the lists of all jobs, with its results, and takes it out of the sums. Upper and lower case are one. Jobs go one by one, each in a
 * transaction: a fault leaves whole jobs done, and the same call does the rest.
 */
export async function forgetRows(db: Kysely<Schema>, what: Forgotten): Promise<ForgottenRows> {
  const [text, json] = [forgetPattern(what, 'text'), forgetPattern(what, 'json')]
  const sum = { rows: 0, results: 0, columns: 0, bad_rows: 0 }
  const jobs = await db.selectFrom('mailsonde.jobs').select(['number', 'own_table']).orderBy('number').execute()
  for (const job of jobs) {
    const gone = await unlessRemoved(db, job.number, () =>
      forgetInJob(db, job, { name: what.name, value: what.value.toLowerCase(), text, json }),
    )
    for (const key of ['rows', 'results', 'columns', 'bad_rows'] as const) sum[key] += gone?.[key] ?? 0
  }
  return sum
}

/** Undefined if the job was removed meanwhile, and its table with it. */
async function unlessRemoved<T>(db: Kysely<Schema>, number: number, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    const job = await db.selectFrom('mailsonde.jobs').select('number').where('number', '=', number).executeTakeFirst()
    if (job === undefined) return undefined
    throw error
  }
}

type Wanted = Forgotten & { readonly text: string; readonly json: string }

const forgetInJob = (
  db: Kysely<Schema>,
  { number: job, own_table }: JobTable,
  { name, value, text, json }: Wanted,
): Promise<ForgottenRows> =>
  db.transaction().execute(async (tx) => {
    await sql`SET LOCAL statement_timeout = 0`.execute(tx)
    const table = tableOf({ number: job, own_table })
    const isMeant = name === 'email' ? sql`lower(key) = ${value}` : sql`(domain = ${value} OR lower(key) = ${value})`
    const { rows } = await sql<{ rows: string; results: string }>`
      WITH gone AS (
        DELETE FROM ${table} WHERE job = ${job} AND (${isMeant} OR input ~* ${text})
        RETURNING state, provider, result, reason, copies),
      counted AS (
        UPDATE mailsonde.job_counts c SET n = c.n - g.n FROM (
          SELECT provider, coalesce(result, '') AS result, coalesce(reason, '') AS reason, sum(1 + copies) AS n FROM gone
          WHERE state = 'done' GROUP BY 1, 2, 3) g
        WHERE c.job = ${job} AND c.provider = g.provider AND c.result = g.result AND c.reason = g.reason),
      provided AS (
        UPDATE mailsonde.job_providers p SET rows = p.rows - g.n, done = p.done - g.done FROM (
          SELECT provider, sum(1 + copies) AS n, coalesce(sum(1 + copies) FILTER (WHERE state = 'done'), 0) AS done FROM gone
          WHERE provider IS NOT NULL AND state <> 'duplicate' GROUP BY 1) g
        WHERE p.job = ${job} AND p.provider = g.provider),
      summed AS (
        UPDATE mailsonde.jobs SET rows = greatest(0, rows - (SELECT count(*) FROM gone)),
          duplicates = greatest(0, duplicates - (SELECT count(*) FROM gone WHERE state = 'duplicate'))
        WHERE number = ${job} AND EXISTS (SELECT FROM gone))
      SELECT count(*) AS rows, coalesce(sum(1 + copies) FILTER (WHERE state = 'done'), 0) AS results FROM gone`.execute(
      tx,
    )
    const columns = await sql`
      UPDATE ${table} SET columns = regexp_replace(columns::text, ${json}, ${REMOVED}, 'gi')::jsonb
      WHERE job = ${job} AND columns::text ~* ${json}`.execute(tx)
    // Answers about others name mailboxes, too: receivers of reports, for example.
    const answers = await sql`
      UPDATE ${table} SET answer = regexp_replace(answer::text, ${json}, ${REMOVED}, 'gi')::json
      WHERE job = ${job} AND answer::text ~* ${json}`.execute(tx)
    const bad = await sql`
      DELETE FROM mailsonde.job_bad_rows WHERE job = ${job} AND text ~* ${text}`.execute(tx)
    if (name === 'domain')
      await sql`DELETE FROM mailsonde.job_domains WHERE job = ${job} AND domain = ${value}`.execute(tx)
    return {
      rows: Number(rows[0]?.rows ?? 0),
      results: Number(rows[0]?.results ?? 0),
      columns: Number(columns.numAffectedRows ?? 0) + Number(answers.numAffectedRows ?? 0),
      bad_rows: Number(bad.numAffectedRows ?? 0),
    }
  })
