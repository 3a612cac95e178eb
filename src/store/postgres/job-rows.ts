import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Json, JsonRecord } from '../../base/json.ts'
import { afterDeadlock } from './deadlock.ts'
import { forJob } from './partitions.ts'
import type { RowColumns, Schema } from './schema.ts'
import { jsonArray, storable, storableJson } from './storable.ts'

export type StoredRow = {
  readonly line: number
  readonly input: string
  readonly columns: RowColumns
  /** Equal inputs have equal keys. */
  readonly key: string
  readonly domain: string
}
export type StoredBadRow = { readonly line: number; readonly reason: string; readonly text: string }

/** A row that a worker has claimed: its result counts only if no later claim exists. */
export type ClaimedRow = {
  readonly line: number
  readonly input: string
  readonly fence: string
  /** Number of earlier attempts. */
  readonly attempts: number
  readonly firstAskedAt: Date | null
}

export type RowAnswer = {
  readonly line: number
  readonly fence: string
  readonly result: string
  readonly reason: string
  readonly answer: JsonRecord
}

/** A row to retry: when, and whether the attempt counts. */
export type RowRetry = { readonly line: number; readonly fence: string; readonly due: Date; readonly counts: boolean }

export type JobLook = {
  /** Domains whose provider is not known and that no node is looking up. */
  readonly hasDomains: boolean
  /** Rows that are due now. */
  readonly hasDue: boolean
  /** Rows without a result. */
  readonly isOpen: boolean
  /** When the first row is due, if some wait and none is due now; of at most {@link MAX_WAITING} providers. */
  readonly nextDue: Date | null
}

export type ResultRow = {
  readonly line: number
  readonly input: string
  readonly columns: RowColumns | null
  readonly result: string | null
  readonly reason: string | null
  readonly answer: { readonly [key: string]: Json } | null
}

/** The rows of jobs. Every function takes the number of a job. */
export type JobRows = ReturnType<typeof jobRowsOf>

/** Maximum number of providers of a job whose waiting rows are read. */
const MAX_WAITING = 1_000
/** Number of jobs whose waiting rows one statement reads. */
const WAITING_AT_A_TIME = 25

export const jobRowsOf = (db: Kysely<Schema>) => ({
  append: (job: number, rows: readonly StoredRow[]): Promise<void> => append(db, job, rows),
  appendBad: (job: number, rows: readonly StoredBadRow[]): Promise<void> => appendBad(db, job, rows),
  complete: (job: number): Promise<void> => db.transaction().execute((tx) => complete(tx, job)),

  /** Leases up to `limit` domains whose provider is not known for 20 s, so that no other node takes them. */
  leaseDomains: async (job: number, limit: number): Promise<readonly string[]> => {
    const { rows } = await sql<{ domain: string }>`
      UPDATE mailsonde.job_domains d SET leased_until = now() + interval '20 s'
      FROM (SELECT domain FROM mailsonde.job_domains
            WHERE job = ${job} AND provider IS NULL AND leased_until < now()
            LIMIT ${limit} FOR UPDATE SKIP LOCKED) open
      WHERE d.job = ${job} AND d.domain = open.domain RETURNING d.domain`.execute(db)
    return rows.map(({ domain }) => domain)
  },

  /** Stores the providers of domains; their rows can then be processed. */
  setProviders: (job: number, providers: ReadonlyMap<string, string>): Promise<void> =>
    afterDeadlock(() => db.transaction().execute((tx) => setProviders(tx, job, providers))),

  /** Rows of a job that are due now, by provider. */
  due: async (job: number): Promise<ReadonlyMap<string, number>> => {
    const { rows } = await sql<{ provider: string; n: string }>`
      SELECT provider, count(*) AS n FROM (
        SELECT provider FROM mailsonde.job_rows
        WHERE job = ${job} AND state = 'ready' AND due <= now() LIMIT 20000) ready
      GROUP BY provider`.execute(db)
    return new Map(rows.map(({ provider, n }) => [provider, Number(n)]))
  },

  /** When the first row is due, by job and by provider that has waiting rows and none due now, at most {@link MAX_WAITING} of each job. */
  waiting: async (jobs: readonly number[]): Promise<ReadonlyMap<number, ReadonlyMap<string, Date>>> => {
    const found = new Map<number, Map<string, Date>>(jobs.map((job) => [job, new Map()]))
    for (let at = 0; at < jobs.length; at += WAITING_AT_A_TIME) {
      // Each job by its constant number: only then is just one partition planned.
      const parts = jobs.slice(at, at + WAITING_AT_A_TIME).map(
        (job) => sql`
        (SELECT ${job}::int AS job, p.provider, w.due FROM ${firstDueSql(job)} WHERE w.due > now() LIMIT ${MAX_WAITING})`,
      )
      const { rows } = await sql<{
        job: number
        provider: string
        due: Date
      }>`${sql.join(parts, sql` UNION ALL `)}`.execute(db)
      for (const { job, provider, due } of rows) found.get(job)?.set(provider, due)
    }
    return found
  },

  /** Rows in chunks, by provider. */
  queued: async (job: number): Promise<ReadonlyMap<string, number>> => {
    const { rows } = await sql<{ provider: string; n: string }>`
      SELECT provider, count(*) AS n FROM mailsonde.job_rows WHERE job = ${job} AND state = 'queued' GROUP BY provider`.execute(
      db,
    )
    return new Map(rows.map(({ provider, n }) => [provider, Number(n)]))
  },

  /** Puts due rows of a provider into chunks of these sizes; returns the chunks that got rows, in order. */
  cutChunks: async (
    tx: Transaction<Schema>,
    job: number,
    provider: string,
    wanted: readonly { readonly chunk: string; readonly size: number }[],
  ): Promise<readonly string[]> => {
    let total = 0
    const starts = wanted.map(({ size }) => (total += size) - size + 1) // the position of the first row of each
    const { rows } = await sql<{ chunk: string }>`
      WITH next AS (
        SELECT line FROM mailsonde.job_rows
        WHERE job = ${job} AND state = 'ready' AND provider = ${provider} AND due <= now()
        ORDER BY due, line LIMIT ${total} FOR UPDATE SKIP LOCKED),
      placed AS (SELECT line, width_bucket(row_number() OVER (), ${starts}::bigint[]) AS place FROM next),
      cut AS (
        UPDATE mailsonde.job_rows r SET state = 'queued', chunk = (${wanted.map(({ chunk }) => chunk)}::uuid[])[place]
        FROM placed WHERE r.job = ${job} AND r.line = placed.line RETURNING r.chunk)
      SELECT DISTINCT chunk FROM cut`.execute(tx)
    const got = new Set(rows.map(({ chunk }) => chunk))
    return wanted.map(({ chunk }) => chunk).filter((chunk) => got.has(chunk))
  },

  /** Claims the rows of a chunk that have no result; earlier claims can no longer write. */
  claim: async (job: number, chunk: string): Promise<readonly ClaimedRow[]> => {
    const { rows } = await sql<{
      line: string
      input: string
      fence: string
      attempts: number
      first_asked_at: Date | null
    }>`
      UPDATE mailsonde.job_rows SET fence = fence + 1, first_asked_at = coalesce(first_asked_at, now())
      WHERE job = ${job} AND chunk = ${chunk}::uuid AND state = 'queued'
      RETURNING line, input, fence, attempts, first_asked_at`.execute(db)
    return rows
      .map(({ line, first_asked_at, ...row }) => ({ ...row, line: Number(line), firstAskedAt: first_asked_at }))
      .sort((a, b) => a.line - b.line)
  },

  /** Whether a row still belongs to the claim with this fence. */
  isClaimed: async (job: number, line: number, fence: string): Promise<boolean> => {
    const { rows } = await sql<{ holds: boolean }>`
      SELECT EXISTS (SELECT FROM mailsonde.job_rows
        WHERE job = ${job} AND line = ${line} AND fence = ${fence} AND ${IN_CHUNK}) AS holds`.execute(db)
    return rows[0]?.holds === true
  },

  /** Writes results under their claims, with the totals; returns the number of rows that still belonged to their claim. */
  answer: (job: number, provider: string, answers: readonly RowAnswer[]): Promise<number> =>
    afterDeadlock(() => answer(db, job, provider, answers)),

  /** Returns rows to be retried later, or at once if the work was stopped. */
  retry: async (job: number, rows: readonly RowRetry[]): Promise<void> => {
    if (rows.length === 0) return
    await sql`
      UPDATE mailsonde.job_rows r SET state = 'ready', chunk = NULL, due = u.due, attempts = attempts + u.counts::int
      FROM unnest(${rows.map(({ line }) => line)}::bigint[], ${rows.map(({ fence }) => fence)}::bigint[],
                  ${rows.map(({ due }) => due)}::timestamptz[], ${rows.map(({ counts }) => counts)}::boolean[])
        AS u (line, fence, due, counts)
      WHERE r.job = ${job} AND r.line = u.line AND r.fence = u.fence AND r.${IN_CHUNK}`.execute(db)
  },

  /** What there is to plan for a job, in one statement: most looks at a job that waits find nothing. */
  look: async (job: number): Promise<JobLook> => {
    const { rows } = await sql<JobLook>`
      SELECT "hasDomains", "isOpen", "hasDue", CASE WHEN NOT "hasDue" THEN (
          SELECT min(due) FROM (SELECT w.due FROM ${firstDueSql(job)} LIMIT ${MAX_WAITING}) waiting) END AS "nextDue"
      FROM (SELECT
          EXISTS (SELECT FROM mailsonde.job_domains WHERE job = ${job} AND provider IS NULL AND leased_until < now()) AS "hasDomains",
          EXISTS (SELECT FROM mailsonde.job_rows WHERE job = ${job} AND state = 'ready' AND due <= now()) AS "hasDue",
          ${isOpenSql(job)} AS "isOpen") AS seen`.execute(db)
    return rows[0]!
  },

  /** Whether any row of the job has no result yet. */
  isOpen: async (job: number): Promise<boolean> => {
    const { rows } = await sql<{ open: boolean }>`SELECT ${isOpenSql(job)} AS open`.execute(db)
    return rows[0]?.open === true
  },

  /** Results in the order of the input, after `after`. A duplicate has the answer of its first row. */
  results: async (
    job: number,
    page: { readonly after: number; readonly limit: number; readonly result?: string; readonly reason?: string },
  ): Promise<readonly ResultRow[]> => {
    const { rows } = await sql<ResultRow & { line: string }>`
      SELECT r.line, r.input, r.columns,
             coalesce(f.result, r.result) AS result, coalesce(f.reason, r.reason) AS reason, coalesce(f.answer, r.answer) AS answer
      FROM mailsonde.job_rows r
      LEFT JOIN mailsonde.job_rows f ON f.job = ${job} AND f.line = r.first_line
      WHERE r.job = ${job} AND r.line > ${page.after}
        AND coalesce(f.result, r.result) IS NOT NULL
        AND (${page.result ?? null}::text IS NULL OR coalesce(f.result, r.result) = ${page.result ?? null})
        AND (${page.reason ?? null}::text IS NULL OR coalesce(f.reason, r.reason) = ${page.reason ?? null})
      ORDER BY r.line LIMIT ${page.limit}`.execute(db)
    return rows.map((row) => ({ ...row, line: Number(row.line) }))
  },

  badRows: async (job: number, after: number, limit: number): Promise<readonly StoredBadRow[]> => {
    const rows = await db
      .selectFrom('mailsonde.job_bad_rows')
      .select(['line', 'reason', 'text'])
      .where('job', '=', job)
      .where('line', '>', String(after))
      .orderBy('line')
      .limit(limit)
      .execute()
    return rows.map((row) => ({ ...row, line: Number(row.line) }))
  },
})

/**
 * A row in a chunk, whose state is then 'queued'. Not worded by the state: the planner, whose statistics know no such rows until the table is analyzed, would then
 * read all of them by their partial index in place of a few by their key.
 */
const IN_CHUNK = sql.raw('chunk IS NOT NULL')

/** The providers `p` of a job that have rows to start or to retry, each with the time `w.due` of the first. */
const firstDueSql = (job: number): RawBuilder<unknown> => sql`
  (SELECT DISTINCT provider FROM mailsonde.job_counts WHERE job = ${job}) p
  CROSS JOIN LATERAL (SELECT due FROM mailsonde.job_rows
    WHERE job = ${job} AND state = 'ready' AND provider = p.provider ORDER BY due LIMIT 1) w`

const isOpenSql = (job: number): RawBuilder<unknown> => sql`(
  EXISTS (SELECT FROM mailsonde.job_rows WHERE job = ${job} AND state = 'ready')
  OR EXISTS (SELECT FROM mailsonde.job_rows WHERE job = ${job} AND state = 'queued')
  OR EXISTS (SELECT FROM mailsonde.job_domains WHERE job = ${job} AND provider IS NULL))`

/** Numbers as an array in PostgreSQL's text format; the driver would quote and escape each. */
const numbers = (list: readonly (number | string)[]): string => `{${list.join(',')}}`

async function append(db: Kysely<Schema>, job: number, rows: readonly StoredRow[]): Promise<void> {
  if (rows.length === 0) return
  // A part that is repeated after a lost answer changes nothing.
  await sql`
    INSERT INTO mailsonde.job_rows (job, line, input, columns, key, domain)
    SELECT ${job}, * FROM unnest(${rows.map(({ line }) => line)}::bigint[], ${rows.map(({ input }) => storable(input))}::text[],
      ${rows.map(({ columns }) => storableJson(columns))}::jsonb[], ${rows.map(({ key }) => storable(key))}::text[],
      ${rows.map(({ domain }) => domain)}::text[])
    ON CONFLICT DO NOTHING`.execute(db)
}

async function appendBad(db: Kysely<Schema>, job: number, rows: readonly StoredBadRow[]): Promise<void> {
  if (rows.length === 0) return
  await sql`
    INSERT INTO mailsonde.job_bad_rows (job, line, reason, text)
    SELECT ${job}, * FROM unnest(${rows.map(({ line }) => line)}::bigint[], ${rows.map(({ reason }) => reason)}::text[],
      ${rows.map(({ text }) => storable(text))}::text[])
    ON CONFLICT DO NOTHING`.execute(db)
}

/** Memory for sorting and grouping at the end of an intake, and for its index. */
const COMPLETE_MEMORY = '64MB'

/** Ends the intake: links duplicates to their first row, lists the domains, and sets the totals of the job. */
async function complete(tx: Transaction<Schema>, job: number): Promise<void> {
  const partition = forJob(job)
  await sql`SET LOCAL statement_timeout = 0`.execute(tx)
  await sql`SELECT set_config('work_mem', ${COMPLETE_MEMORY}, true), set_config('maintenance_work_mem', ${COMPLETE_MEMORY}, true)`.execute(
    tx,
  )
  // The planner has no statistics of a table that was just filled: without them the next statements take five times as long.
  await sql`ANALYZE ${partition} (job, line, key, domain, state)`.execute(tx)
  await sql`
    WITH firsts AS (SELECT key, min(line) AS line, count(*) AS n FROM ${partition} GROUP BY key HAVING count(*) > 1)
    UPDATE ${partition} r SET
      state = CASE WHEN r.line = f.line THEN r.state ELSE 'duplicate' END,
      first_line = CASE WHEN r.line = f.line THEN NULL ELSE f.line END,
      copies = CASE WHEN r.line = f.line THEN (f.n - 1)::int ELSE 0 END
    FROM firsts f WHERE r.key = f.key`.execute(tx)
  await sql`
    INSERT INTO mailsonde.job_domains (job, domain)
    SELECT ${job}, domain FROM ${partition} WHERE state = 'new' GROUP BY domain`.execute(tx)
  await sql`CREATE INDEX ON ${partition} (domain) WHERE state = 'new'`.execute(tx)
  const { rows } = await sql<{ n: string; duplicates: string }>`
    SELECT count(*) AS n, count(*) FILTER (WHERE state = 'duplicate') AS duplicates FROM ${partition}`.execute(tx)
  await sql`
    UPDATE mailsonde.jobs SET touched_at = now(), state = 'waiting', rows = ${rows[0]?.n ?? '0'}, duplicates = ${rows[0]?.duplicates ?? '0'},
      bad_rows = (SELECT count(*) FROM mailsonde.job_bad_rows WHERE job = ${job})
    WHERE number = ${job} AND state = 'receiving'`.execute(tx)
}

async function setProviders(
  tx: Transaction<Schema>,
  job: number,
  providers: ReadonlyMap<string, string>,
): Promise<void> {
  const [domains, names] = [[...providers.keys()], [...providers.values()]]
  await sql`SELECT FROM mailsonde.jobs WHERE number = ${job} FOR KEY SHARE`.execute(tx) // the same order as the removal of a job
  await sql`
    UPDATE mailsonde.job_domains d SET provider = u.provider
    FROM unnest(${domains}::text[], ${names}::text[]) AS u (domain, provider)
    WHERE d.job = ${job} AND d.domain = u.domain`.execute(tx)
  await sql`
    WITH known AS (
      UPDATE mailsonde.job_rows r SET provider = u.provider, state = 'ready', due = now()
      FROM unnest(${domains}::text[], ${names}::text[]) AS u (domain, provider)
      WHERE r.job = ${job} AND r.domain = u.domain AND r.state = 'new' RETURNING r.provider, r.copies)
    INSERT INTO mailsonde.job_counts AS c (job, provider, result, reason, n)
    SELECT ${job}, provider, '', '', sum(1 + copies) FROM known GROUP BY provider ORDER BY provider
    ON CONFLICT (job, provider, result, reason) DO UPDATE SET n = c.n + excluded.n`.execute(tx)
}

/**
 * One statement, so that a result and its totals are written together or not at all. Totals are locked in one order, so that two nodes do not deadlock.
 */
async function answer(
  db: Kysely<Schema>,
  job: number,
  provider: string,
  answers: readonly RowAnswer[],
): Promise<number> {
  if (answers.length === 0) return 0
  const { rows } = await sql<{ n: string }>`
    WITH written AS (
      UPDATE mailsonde.job_rows r SET state = 'done', chunk = NULL, result = u.result, reason = u.reason, answer = u.answer,
        answered_at = now(), attempts = attempts + 1
      FROM unnest(${numbers(answers.map(({ line }) => line))}::bigint[], ${numbers(answers.map(({ fence }) => fence))}::bigint[],
                  ${answers.map(({ result }) => result)}::text[], ${answers.map(({ reason }) => reason)}::text[],
                  ${jsonArray(answers.map((one) => one.answer))}::json[]) AS u (line, fence, result, reason, answer)
      WHERE r.job = ${job} AND r.line = u.line AND r.fence = u.fence AND r.${IN_CHUNK}
      RETURNING r.result, r.reason, r.copies),
    counted AS (
      INSERT INTO mailsonde.job_counts AS c (job, provider, result, reason, n)
      SELECT ${job}, ${provider}, result, reason, sum(1 + copies) FROM written GROUP BY result, reason ORDER BY result, reason
      ON CONFLICT (job, provider, result, reason) DO UPDATE SET n = c.n + excluded.n),
    paced AS (
      INSERT INTO mailsonde.job_pace AS p (job, provider, minute, n)
      SELECT ${job}, ${provider}, date_trunc('minute', now()), sum(1 + copies) FROM written HAVING count(*) > 0
      ON CONFLICT (job, provider, minute) DO UPDATE SET n = p.n + excluded.n),
    summed AS (
      UPDATE mailsonde.jobs SET done = done + (SELECT coalesce(sum(1 + copies), 0) FROM written),
        first_result_at = coalesce(first_result_at, now())
      WHERE number = ${job} AND EXISTS (SELECT FROM written))
    SELECT count(*) AS n FROM written`.execute(db)
  return Number(rows[0]?.n ?? 0)
}
