import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { Json, JsonRecord } from '../../base/json.ts'
import { afterDeadlock } from './connect.ts'
import { type JobRecord, type JobTable, tableOf } from './jobs.ts'
import { jsonArray } from './pool.ts'
import type { RowColumns, Schema } from './schema.ts'

export type StoredRow = {
  /** Its place (jobs/intake/row.ts). */
  readonly line: number
  readonly input: string
  readonly columns: RowColumns
  /** Equal inputs have equal keys. */
  readonly key: string
  readonly domain: string
}
/** A record that could not be read: the code of the reason, its sentence, and the beginning of the record. */
export type StoredBadRow = Omit<Selectable<Schema['mailsonde.job_bad_rows']>, 'job'>

/** A row that a node has claimed for {@link LEASE_MS}: what is written of it counts only if no later claim exists. */
export type ClaimedRow = {
  readonly line: number
  readonly input: string
  readonly fence: number
  readonly attempts: number
  readonly firstAskedAt: Date | null
}
type ClaimOf = Pick<ClaimedRow, 'line' | 'fence'>

/**
 * What became of a claimed row: its answer, or after how many ms it is due again. `counts`: whether it was an attempt.
 */
export type RowWrite = ClaimOf & {
  readonly counts: boolean
  readonly waitMs: number | null
  readonly result: string | null
  readonly reason: string | null
  readonly answer: JsonRecord
}

/** The rows of a provider in a running job, of which some are due. */
export type DuePair = JobTable & Pick<JobRecord, 'id' | 'kind' | 'options'> & { readonly provider: string }
/** A place in the order in which rows are claimed: the time from which the row was due in µs, and its line. */
export type Place = { readonly dueUs: number; readonly line: number }

export type ResultRow = {
  readonly line: number
  readonly input: string
  readonly columns: RowColumns | null
  readonly result: string | null
  readonly reason: string | null
  readonly answer: { readonly [key: string]: Json } | null
}

export type JobRows = ReturnType<typeof jobRowsOf>

/** How long a claim lasts unless it is renewed, ms: the rows of a node that died are due again after this time. */
export const LEASE_MS = 10_000
const LEASE = sql.raw(`interval '${LEASE_MS} ms'`)
/** Maximum number of due pairs that are read: the least recently served ones. */
const MAX_DUE = 1_000
/** Maximum number of jobs of one owner that take turns at a provider at the same time. */
const MAX_JOBS_OF_OWNER = 4
/** Maximum number of providers of a job whose waiting rows are read. */
const MAX_WAITING = 1_000

export const jobRowsOf = (db: Kysely<Schema>) => ({
  /** Ends the intake of a list: its rows can be processed. */
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

  /**
   * Stores the provider of up to `most` rows of these domains, which can then be processed, and those of the domains
   * with the last of their rows; returns whether that was done.
   */
  setProviders: (job: JobTable, providers: ReadonlyMap<string, string>, most?: number): Promise<boolean> =>
    afterDeadlock(() => db.transaction().execute((tx) => setProviders(tx, job, providers, most))),

  /**
   * The pairs of a running job and a provider that have due rows, by provider. Owners take turns, then the jobs of an
   * owner: those least recently served first, at most {@link MAX_DUE} of all and {@link MAX_JOBS_OF_OWNER} of an owner
   * at a provider.
   */
  duePairs: async (): Promise<readonly DuePair[]> => {
    const { rows } = await sql<DuePair>`
      SELECT job AS number, own_table, provider, id, kind, options FROM (
        SELECT p.job, p.provider, p.served_at, j.own_table, j.id, j.kind, j.options,
          row_number() OVER (PARTITION BY p.provider, j.owner ORDER BY p.served_at, p.job) AS turn
        FROM mailsonde.job_providers p JOIN mailsonde.jobs j ON j.number = p.job AND j.state = 'running'
        WHERE p.next_due <= now() AND p.next_due < 'infinity') due
      WHERE turn <= ${MAX_JOBS_OF_OWNER} ORDER BY turn, served_at, job LIMIT ${MAX_DUE}`.execute(db)
    return rows
  },

  /**
   * Claims up to `most` due rows of a pair, if its job is running: none later than a pause was committed. `after`: rows
   * up to this place were claimed before, so that their dead versions are not read again. `last` is the place of the
   * last one.
   */
  claim: (
    pair: JobTable & Pick<DuePair, 'provider'>,
    most: number,
    after?: Place,
  ): Promise<{ readonly rows: readonly ClaimedRow[]; readonly last?: Place }> => claim(db, pair, most, after),

  /** Extends claims whose job is running; returns the lines of those that still exist. */
  renew: async (job: JobTable, claims: readonly ClaimOf[]): Promise<readonly number[]> => {
    const { rows } = await sql<{ line: number }>`
      UPDATE ${tableOf(job)} r SET due = now() + ${LEASE}
      FROM unnest(${numbers(claims.map(({ line }) => line))}::float8[], ${numbers(claims.map(({ fence }) => fence))}::bigint[]) AS u (line, fence)
      WHERE r.job = ${job.number} AND r.line = u.line AND r.fence = u.fence
        AND EXISTS (SELECT FROM mailsonde.jobs WHERE number = ${job.number} AND state = 'running')
      RETURNING r.line`.execute(db)
    return rows.map(({ line }) => line)
  },

  /**
   * Writes answers and retries under their claims, with the totals. Returns whether all rows of a provider have a
   * result now.
   */
  write: (job: JobTable, writes: readonly RowWrite[]): Promise<boolean> => afterDeadlock(() => write(db, job, writes)),

  /**
   * When the first row is due, by job and by provider that has waiting rows and none due or in progress, at most
   * {@link MAX_WAITING} of all.
   */
  waiting: (jobs: readonly JobTable[]): Promise<ReadonlyMap<number, ReadonlyMap<string, Date>>> => waiting(db, jobs),

  /** Results in the order of the input, after `after`. A duplicate has the answer of its first row. */
  results: async (
    job: JobTable,
    page: { readonly after: number; readonly limit: number; readonly result?: string; readonly reason?: string },
  ): Promise<readonly ResultRow[]> => {
    const { rows } = await sql<ResultRow>`
      SELECT r.line, r.input, r.columns,
             coalesce(f.result, r.result) AS result, coalesce(f.reason, r.reason) AS reason, coalesce(f.answer, r.answer) AS answer
      FROM ${tableOf(job)} r
      LEFT JOIN ${tableOf(job)} f ON f.job = ${job.number} AND f.line = r.first_line
      WHERE r.job = ${job.number} AND r.line > ${page.after}
        AND coalesce(f.result, r.result) IS NOT NULL
        AND (${page.result ?? null}::text IS NULL OR coalesce(f.result, r.result) = ${page.result ?? null})
        AND (${page.reason ?? null}::text IS NULL OR coalesce(f.reason, r.reason) = ${page.reason ?? null})
      ORDER BY r.line LIMIT ${page.limit}`.execute(db)
    return rows
  },

  badRows: (job: number, after: number, limit: number): Promise<readonly StoredBadRow[]> =>
    db
      .selectFrom('mailsonde.job_bad_rows')
      .select(['line', 'reason', 'detail', 'text'])
      .where('job', '=', job)
      .where('line', '>', after)
      .orderBy('line')
      .limit(limit)
      .execute(),
})

/** Numbers as an array in PostgreSQL's text format; the driver would quote and escape each. */
const numbers = (list: readonly number[]): string => `{${list.join(',')}}`

/** Memory for sorting and grouping at the end of an intake, and for its index. */
const COMPLETE_MEMORY = '64MB'

/** Ends the intake: links duplicates to their first row, lists the domains, and sets the totals of the job. */
async function complete(tx: Transaction<Schema>, number: number): Promise<void> {
  await sql`SET LOCAL statement_timeout = 0`.execute(tx)
  await sql`SELECT set_config('work_mem', ${COMPLETE_MEMORY}, true), set_config('maintenance_work_mem', ${COMPLETE_MEMORY}, true)`.execute(
    tx,
  )
  const job = await tx
    .selectFrom('mailsonde.jobs')
    .select(['number', 'own_table'])
    .where('number', '=', number)
    .where('state', '=', 'receiving')
    .forUpdate()
    .executeTakeFirst()
  if (!job) return
  const table = tableOf(job)
  // The planner has no statistics of a table that was just filled: without them the next statements take five times as
  // long.
  if (job.own_table) await sql`ANALYZE ${table} (job, line, key, domain, state)`.execute(tx)
  await sql`
    WITH firsts AS (
      SELECT key, min(line) AS line, count(*) AS n FROM ${table} WHERE job = ${number} GROUP BY key HAVING count(*) > 1)
    UPDATE ${table} r SET
      state = CASE WHEN r.line = f.line THEN r.state ELSE 'duplicate' END,
      first_line = CASE WHEN r.line = f.line THEN NULL ELSE f.line END,
      copies = CASE WHEN r.line = f.line THEN (f.n - 1)::int ELSE 0 END
    FROM firsts f WHERE r.job = ${number} AND r.key = f.key`.execute(tx)
  await sql`
    INSERT INTO mailsonde.job_domains (job, domain)
    SELECT ${number}::int, domain FROM ${table} WHERE job = ${number} AND state = 'new' GROUP BY domain`.execute(tx)
  if (job.own_table) await sql`CREATE INDEX ON ${table} (job, domain) WHERE state = 'new'`.execute(tx)
  await sql`
    UPDATE mailsonde.jobs SET touched_at = now(), state = 'waiting', has_domains = true, rows = t.n, duplicates = t.duplicates,
      bad_rows = (SELECT count(*) FROM mailsonde.job_bad_rows WHERE job = ${number})
    FROM (SELECT count(*) AS n, count(*) FILTER (WHERE state = 'duplicate') AS duplicates FROM ${table} WHERE job = ${number}) t
    WHERE number = ${number}`.execute(tx)
}

async function setProviders(
  tx: Transaction<Schema>,
  job: JobTable,
  providers: ReadonlyMap<string, string>,
  most?: number,
): Promise<boolean> {
  const [domains, names] = [[...providers.keys()], [...providers.values()]]
  // In the same order as the removal of a job. One that was removed may still have its table.
  const held = await sql`SELECT 1 FROM mailsonde.jobs WHERE number = ${job.number} FOR KEY SHARE`.execute(tx)
  if (held.rows.length === 0) return true
  const { rows } = await sql<{ is_whole: boolean }>`
    WITH found AS (SELECT * FROM unnest(${domains}::text[], ${names}::text[]) AS u (domain, provider)),
    next AS MATERIALIZED (
      SELECT r.line, u.provider FROM found u JOIN ${tableOf(job)} r ON r.job = ${job.number} AND r.domain = u.domain AND r.state = 'new'
      LIMIT ${most ?? null}::bigint),
    whole AS (SELECT count(*) < ${most ?? Number.MAX_SAFE_INTEGER}::bigint AS is_whole FROM next),
    stored AS (
      UPDATE mailsonde.job_domains d SET provider = u.provider FROM found u
      WHERE d.job = ${job.number} AND d.domain = u.domain AND (SELECT is_whole FROM whole)),
    known AS (
      UPDATE ${tableOf(job)} r SET provider = n.provider, state = 'ready', due = now()
      FROM next n WHERE r.job = ${job.number} AND r.line = n.line AND r.state = 'new' RETURNING r.provider, r.copies),
    counted AS (
      INSERT INTO mailsonde.job_providers AS p (job, provider, rows, next_due)
      SELECT ${job.number}::int, provider, sum(1 + copies), now() FROM known GROUP BY provider ORDER BY provider
      ON CONFLICT (job, provider) DO UPDATE SET rows = p.rows + excluded.rows, next_due = least(p.next_due, excluded.next_due), version = p.version + 1)
    SELECT is_whole FROM whole`.execute(tx)
  return rows[0]?.is_whole ?? true
}

/**
 * One statement: the pair is locked, so that nodes take turns, and its job is running; rows that other transactions
 * hold are skipped. `due` is the end of the claim. If fewer rows were due than wanted, the next time is set, unless
 * rows became due since the statement began (`version`): its snapshot has none of them.
 */
async function claim(
  db: Kysely<Schema>,
  { provider, ...job }: JobTable & Pick<DuePair, 'provider'>,
  most: number,
  after?: Place,
): Promise<{ readonly rows: readonly ClaimedRow[]; readonly last?: Place }> {
  const table = tableOf(job)
  const ready = sql`job = ${job.number} AND provider = ${provider} AND state = 'ready'`
  const behind = after
    ? sql`AND (due, line) > ('epoch'::timestamptz + ${after.dueUs}::bigint * interval '1 us', ${after.line}::float8)`
    : sql``
  type Row = Omit<ClaimedRow, 'firstAskedAt'> & { readonly due_us: number; readonly first_asked_at: Date | null }
  const { rows } = await sql<Row>`
    WITH seen AS MATERIALIZED (SELECT version FROM mailsonde.job_providers WHERE job = ${job.number} AND provider = ${provider}),
    pair AS MATERIALIZED (
      SELECT version FROM mailsonde.job_providers
      WHERE job = ${job.number} AND provider = ${provider} AND next_due <= now()
        AND EXISTS (SELECT FROM mailsonde.jobs WHERE number = ${job.number} AND state = 'running') FOR UPDATE),
    next AS MATERIALIZED (
      SELECT line, due FROM ${table} WHERE EXISTS (SELECT FROM pair) AND ${ready} AND due <= now() ${behind}
      ORDER BY due, line LIMIT ${most} FOR UPDATE SKIP LOCKED),
    claimed AS (
      UPDATE ${table} r SET due = now() + ${LEASE}, fence = r.fence + 1 + (r.fence & 1) FROM next n
      WHERE r.job = ${job.number} AND r.line = n.line
      RETURNING r.line, r.input, r.fence, r.attempts, r.first_asked_at, (extract(epoch FROM n.due) * 1000000)::bigint AS due_us),
    served AS (
      UPDATE mailsonde.job_providers SET served_at = clock_timestamp(), version = version + 1,
        next_due = CASE WHEN ${after !== undefined} OR (SELECT count(*) FROM next) = ${most} OR (SELECT version FROM seen) <> (SELECT version FROM pair)
          THEN next_due
          ELSE least((SELECT due FROM ${table} WHERE ${ready} AND due > now() ORDER BY due LIMIT 1),
            CASE WHEN EXISTS (SELECT FROM next) THEN now() + ${LEASE} ELSE 'infinity' END) END
      WHERE job = ${job.number} AND provider = ${provider} AND EXISTS (SELECT FROM pair))
    SELECT * FROM claimed`.execute(db)
  const places = rows.map(({ line, due_us }) => ({ dueUs: due_us, line })).sort(byPlace)
  const last = places.at(-1)
  return {
    rows: rows
      .map(({ first_asked_at, due_us: _, ...row }) => ({ ...row, firstAskedAt: first_asked_at }))
      .sort((a, b) => a.line - b.line),
    ...(last && { last }),
  }
}

const byPlace = (a: Place, b: Place): number => a.dueUs - b.dueUs || a.line - b.line

/**
 * One statement, so that results and their totals are written together or not at all. Rows are found by their key and
 * fence alone: naming their state, of which the planner has no statistics, makes it read all that are ready.
 */
async function write(db: Kysely<Schema>, job: JobTable, writes: readonly RowWrite[]): Promise<boolean> {
  if (writes.length === 0) return false
  const column = <K extends keyof RowWrite>(name: K): RowWrite[K][] => writes.map((one) => one[name])
  const { rows } = await sql<{ is_done: boolean }>`
    WITH written AS (
      UPDATE ${tableOf(job)} r SET fence = r.fence + 1, attempts = attempts + u.counts::int,
        first_asked_at = CASE WHEN u.counts THEN coalesce(first_asked_at, now()) ELSE first_asked_at END,
        state = CASE WHEN u.wait_ms IS NULL THEN 'done' ELSE 'ready' END, due = coalesce(now() + u.wait_ms * interval '1 ms', r.due),
        result = u.result, reason = u.reason, answer = CASE WHEN u.wait_ms IS NULL THEN u.answer END,
        answered_at = CASE WHEN u.wait_ms IS NULL THEN now() END
      FROM unnest(${numbers(column('line'))}::float8[], ${numbers(column('fence'))}::bigint[], ${column('counts')}::boolean[], ${column('waitMs')}::float8[],
                  ${column('result')}::text[], ${column('reason')}::text[], ${jsonArray(column('answer'))}::json[])
        AS u (line, fence, counts, wait_ms, result, reason, answer)
      WHERE r.job = ${job.number} AND r.line = u.line AND r.fence = u.fence
      RETURNING now() + u.wait_ms * interval '1 ms' AS due, r.provider, u.result, u.reason, r.copies),
    answered AS (SELECT * FROM written WHERE due IS NULL),
    counted AS (
      INSERT INTO mailsonde.job_counts AS c (job, provider, result, reason, n)
      SELECT ${job.number}::int, provider, result, reason, sum(1 + copies) FROM answered GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
      ON CONFLICT (job, provider, result, reason) DO UPDATE SET n = c.n + excluded.n),
    paced AS (
      INSERT INTO mailsonde.job_pace AS p (job, provider, minute, n)
      SELECT ${job.number}::int, provider, date_trunc('minute', now()), sum(1 + copies) FROM answered GROUP BY 2 ORDER BY 2
      ON CONFLICT (job, provider, minute) DO UPDATE SET n = p.n + excluded.n),
    first AS (
      UPDATE mailsonde.jobs SET first_result_at = now()
      WHERE number = ${job.number} AND first_result_at IS NULL AND EXISTS (SELECT FROM answered)),
    totals AS MATERIALIZED (
      SELECT provider, coalesce(sum(1 + copies) FILTER (WHERE due IS NULL), 0) AS done, min(due) AS due FROM written GROUP BY provider),
    locked AS MATERIALIZED (
      SELECT provider FROM mailsonde.job_providers
      WHERE job = ${job.number} AND provider IN (SELECT provider FROM totals) ORDER BY provider FOR UPDATE)
    UPDATE mailsonde.job_providers p SET done = p.done + t.done, version = p.version + (t.due IS NOT NULL)::int,
      next_due = CASE WHEN p.done + t.done >= p.rows THEN 'infinity' ELSE least(p.next_due, t.due) END
    FROM totals t JOIN locked USING (provider) WHERE p.job = ${job.number} AND p.provider = t.provider
    RETURNING p.done >= p.rows AS is_done`.execute(db)
  return rows.some(({ is_done }) => is_done)
}

/**
 * A time within a lease from now may be the end of a claim: there the row itself tells, whose fence is odd while it is
 * claimed.
 */
async function waiting(
  db: Kysely<Schema>,
  jobs: readonly JobTable[],
): Promise<ReadonlyMap<number, ReadonlyMap<string, Date>>> {
  const found = new Map<number, Map<string, Date>>(jobs.map(({ number }) => [number, new Map()]))
  if (jobs.length === 0) return found
  const { rows } = await sql<{ job: number; provider: string; due: Date; is_sure: boolean }>`
    SELECT job, provider, next_due AS due, next_due > now() + ${LEASE} AS is_sure FROM mailsonde.job_providers
    WHERE job = ANY(${jobs.map(({ number }) => number)}::int[]) AND next_due > now() AND next_due < 'infinity'
    LIMIT ${MAX_WAITING}`.execute(db)
  const unsure = Map.groupBy(
    rows.filter(({ is_sure }) => !is_sure),
    ({ job }) => job,
  )
  for (const { job, provider, due, is_sure } of rows) if (is_sure) found.get(job)?.set(provider, due)
  const parts = jobs.flatMap((job) => {
    const providers = unsure.get(job.number)?.map(({ provider }) => provider)
    if (!providers) return []
    return sql`(SELECT ${job.number}::int AS job, p.provider, w.due FROM unnest(${providers}::text[]) AS p (provider)
      CROSS JOIN LATERAL (SELECT due, fence FROM ${tableOf(job)}
        WHERE job = ${job.number} AND provider = p.provider AND state = 'ready' AND fence % 2 = 0 ORDER BY due LIMIT 1) w)`
  })
  if (parts.length === 0) return found
  const sure = await sql<{ job: number; provider: string; due: Date }>`${sql.join(parts, sql` UNION ALL `)}`.execute(db)
  for (const { job, provider, due } of sure.rows) found.get(job)?.set(provider, due)
  return found
}
