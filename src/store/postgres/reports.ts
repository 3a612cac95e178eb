import type pg from 'pg'
import { afterDeadlock } from './connect.ts'
import { storable, storableJson } from './copy-text.ts'
import { copy } from './job-intake.ts'
import { type ReportKind, STAGED } from './report-rows.ts'

/** A report without its rows. Times in ms, the day as `2026-11-23`. */
export type NewReport = {
  readonly id: string
  readonly kind: ReportKind
  readonly domain: string
  readonly organization: string
  readonly reporter: string
  readonly isKnownReporter: boolean
  readonly reportId: string
  readonly beginMs: number
  readonly endMs: number
  readonly day: string
  readonly messages: number
  readonly policy: Readonly<Record<string, string>>
  /** Of all of its numbers: a duplicate with another one differs. */
  readonly digest: string
  readonly authenticated: boolean | null
  readonly counts: boolean
  readonly receivedMs: number
  /** The key that brought it; undefined for mail. */
  readonly owner: string | undefined
}

export type Stored = {
  readonly id: string
  readonly duplicate: boolean
  /** Whether the report that is stored counts: of a duplicate the first one. */
  readonly counts: boolean
  /** Messages of the rows that are about its domain or a name below it. */
  readonly messages: number
  /** Rows about other domains: they are not stored. */
  readonly foreignRows: number
}

/**
 * Takes the rows of one report in: lines of report-rows.ts. Few stay in memory until {@link ReportIntake.commit}; many
 * go to a temporary table. Nothing is visible before `commit` has ended, and nothing is left after `abort`, or when the
 * process dies.
 */
export type ReportIntake = ReturnType<typeof reportIntake>

/** Octets of lines that are held in memory. */
const HELD = 1_048_576

type IntakeSettings = {
  /** Rejects if no more may be stored: asked before each {@link HELD} octets. */
  readonly admit?: () => Promise<void>
  /** No more than {@link HELD} octets are taken: what does not count is summed coarsely anyway. */
  readonly isCut?: boolean
}

export function reportIntake(
  pool: pg.Pool,
  kind: ReportKind,
  { admit = async () => {}, isCut = false }: IntakeSettings = {},
) {
  let lines: Uint8Array[] = []
  let held = 0
  let octets = 0
  let staging: pg.PoolClient | undefined
  let isOver = false

  /** Moves the lines from memory to a temporary table of a transaction of its own. */
  async function spill(): Promise<void> {
    await admit()
    if (staging === undefined) {
      staging = await pool.connect()
      await staging.query('BEGIN')
      await staging.query('SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0')
      await staging.query(STAGING[kind])
    }
    const full = lines
    lines = []
    held = 0
    await copy(staging, 'staged_rows', full)
  }
  async function end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    const client = staging
    staging = undefined
    isOver = true
    if (!client) return
    let isBroken = true
    try {
      await client.query(how)
      isBroken = false
    } finally {
      client.release(isBroken)
    }
  }

  return {
    /** Waits until there is room for more. */
    add: async (more: Uint8Array): Promise<void> => {
      if (isCut && held + more.length > HELD) return
      lines.push(more)
      held += more.length
      octets += more.length
      if (held >= HELD) await spill()
    },
    commit: async (report: NewReport): Promise<Stored> => {
      if (isOver) throw new Error('the intake of this report has ended')
      if (staging !== undefined) {
        if (held > 0) await spill()
        const stored = await keep(staging, report, { lines: 'staged', octets })
        await end('COMMIT')
        return stored
      }
      return afterDeadlock(() => inTransaction(pool, (client) => keep(client, report, { lines, octets })))
    },
    abort: () => end('ROLLBACK').catch(() => {}),
  }
}

async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let isBroken = true
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    isBroken = false
    return result
  } catch (error) {
    isBroken = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    )
    throw error
  } finally {
    client.release(isBroken)
  }
}

const staging = (columns: string): string => `CREATE TEMPORARY TABLE staged_rows (${columns}) ON COMMIT DROP`
const STAGING = { dmarc: staging(STAGED.dmarc), tls: staging(STAGED.tls) }

/** Rows that are kept of a report that does not count. */
const APART_ROWS = 100
/**
 * Of a report that does not count: messages by name in From, network and result, without any other text of it; the
 * largest {@link APART_ROWS}.
 */
const COARSE = `
  WITH fine AS (DELETE FROM staged_rows RETURNING *),
  coarse AS (
    SELECT name, host(network(set_masklen(address, CASE family(address) WHEN 4 THEN 24 ELSE 48 END)))::inet AS address, spf_aligned, dkim_aligned,
      CASE WHEN disposition IN ('quarantine', 'reject') THEN disposition ELSE 'none' END AS disposition, sum(messages)::bigint AS messages
    FROM fine GROUP BY 1, 2, 3, 4, 5 ORDER BY 6 DESC LIMIT ${APART_ROWS})
  INSERT INTO staged_rows
  SELECT md5(('apart', name, address, spf_aligned, dkim_aligned, disposition)::text)::uuid, name, address, '', '', '', spf_aligned, '', '', '', dkim_aligned,
    '', disposition, '', messages FROM coarse`

/** A row that names no domain in From is of the report's. */
const NAMELESS = `
  UPDATE staged_rows SET name = $1, digest = md5(digest::text || $1)::uuid WHERE name = ''`
/** Leaves the rows at or below the domain; the pattern is of its reversed text. */
const FOREIGN = `
  WITH gone AS (DELETE FROM staged_rows WHERE name <> $1 AND reverse(name) NOT LIKE $2 RETURNING messages)
  SELECT count(*)::int AS rows, coalesce(sum(messages), 0) AS messages FROM gone`

/**
 * Names, sources and sums of `staged_rows`. In the order of their keys, so that two reports never wait for each other.
 */
const NAMES = `
  INSERT INTO mailsonde.report_names (name) SELECT DISTINCT name FROM staged_rows ORDER BY name ON CONFLICT DO NOTHING`
/** Returns the size of the new sources. */
const SOURCES = `
  WITH made AS (
    INSERT INTO mailsonde.report_sources (digest, name, address, envelope_from, spf_domain, spf_result, spf_aligned, dkim_domain, dkim_selector, dkim_result,
      dkim_aligned, signers, disposition, reason)
    SELECT DISTINCT ON (s.digest) s.digest, n.number, s.address, s.envelope_from, s.spf_domain, s.spf_result, s.spf_aligned, s.dkim_domain, s.dkim_selector,
      s.dkim_result, s.dkim_aligned, s.signers, s.disposition, s.reason
    FROM staged_rows s JOIN mailsonde.report_names n ON n.name = s.name ORDER BY s.digest ON CONFLICT (digest) DO NOTHING
    RETURNING 300 + octet_length(envelope_from) + octet_length(spf_domain) + octet_length(dkim_domain) + octet_length(dkim_selector) + octet_length(signers) AS octets)
  SELECT coalesce(sum(octets), 0) AS octets FROM made`
/** Sums by source and by day. Returns the number of rows that were written. */
const SUM = `
  WITH sums AS (
    SELECT o.name, o.number AS source, coalesce(o.dkim_aligned, false) OR coalesce(o.spf_aligned, false) AS passes, sum(s.messages)::bigint AS messages
    FROM staged_rows s JOIN mailsonde.report_sources o ON o.digest = s.digest GROUP BY o.number),
  by_day AS (
    INSERT INTO mailsonde.report_days AS d (name, day, counts, passes, messages)
    SELECT name, $1::date, $3::boolean, passes, sum(messages) FROM sums GROUP BY name, passes ORDER BY name, passes
    ON CONFLICT (name, day, counts, passes) DO UPDATE SET messages = d.messages + excluded.messages),
  by_source AS (
    INSERT INTO mailsonde.report_rows AS r (name, day, source, reporter, counts, passes, messages)
    SELECT name, $1::date, source, $2::int, $3::boolean, passes, messages FROM sums ORDER BY name, source
    ON CONFLICT (name, day, source, reporter, counts) DO UPDATE SET messages = r.messages + excluded.messages RETURNING 1)
  SELECT count(*) AS rows FROM by_source`

/** Stores the report and its rows unless it is there already. */
async function keep(
  client: pg.PoolClient,
  report: NewReport,
  { lines, octets }: { readonly lines: readonly Uint8Array[] | 'staged'; readonly octets: number },
): Promise<Stored> {
  const { kind, domain, reportId, counts, digest } = report
  // Reports of one domain take turns: their sources and sums meet. The sweep waits for all of them.
  await client.query('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [SWEEPS])
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`mailsonde reports ${domain}`])
  const reporter = await reporterOf(client, report)
  const begins = new Date(report.beginMs)
  const key = [kind, domain, reporter, storable(reportId), begins]
  const { rows: known } = await client.query<{
    readonly id: string
    readonly digest: string
    readonly counts: boolean
    readonly messages: number
    readonly foreign_rows: number
  }>(
    `SELECT id, digest, counts, messages, foreign_rows FROM mailsonde.reports
     WHERE kind = $1 AND domain = $2 AND reporter IN (SELECT number FROM mailsonde.report_reporters WHERE name = $3)
       AND report_id = $4 AND begins = $5 ORDER BY counts DESC`,
    key.with(2, storable(report.reporter)),
  )
  const first = known.find((one) => one.counts || !counts)
  if (first) {
    if (first.digest !== digest && counts)
      await client.query('UPDATE mailsonde.reports SET differs = true WHERE id = $1', [first.id])
    return {
      id: first.id,
      duplicate: true,
      counts: first.counts,
      messages: first.messages,
      foreignRows: first.foreign_rows,
    }
  }
  const { rows: made } = await client.query<{ number: number }>(
    `INSERT INTO mailsonde.reports (kind, domain, reporter, report_id, begins, id, organization, ends, day, messages, policy, digest, authenticated, counts, received_at, owner, octets)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) RETURNING number`,
    [
      ...key,
      report.id,
      storable(report.organization),
      new Date(report.endMs),
      report.day,
      report.messages,
      storableJson(report.policy),
      digest,
      report.authenticated,
      counts,
      new Date(report.receivedMs),
      report.owner ?? null,
      Buffer.byteLength(JSON.stringify(report.policy)) + Buffer.byteLength(reportId + report.organization),
    ],
  )
  if (octets === 0) return { id: report.id, duplicate: false, counts, messages: report.messages, foreignRows: 0 }
  if (lines !== 'staged') {
    await client.query(STAGING[kind])
    await copy(client, 'staged_rows', lines)
  }
  const { number } = made[0]!
  const kept = kind === 'tls' ? await keepTls(client, number, report) : await keepRows(client, report, reporter)
  const { elsewhere = 0, foreignRows = 0 } = kept
  const messages = report.messages - elsewhere
  await client.query(
    'UPDATE mailsonde.reports SET octets = octets + $2, messages = $3, foreign_rows = $4 WHERE number = $1',
    [number, kept.octets, messages, foreignRows],
  )
  return { id: report.id, duplicate: false, counts, messages, foreignRows }
}

/** Taken exclusively by the sweep, which removes sources without rows. */
const SWEEPS = 'mailsonde reports sweep'

async function reporterOf(client: pg.PoolClient, { reporter, isKnownReporter }: NewReport): Promise<number> {
  const key = [storable(reporter), isKnownReporter]
  const { rows } = await client.query<{ number: number }>(
    'SELECT number FROM mailsonde.report_reporters WHERE name = $1 AND is_known = $2',
    key,
  )
  if (rows[0]) return rows[0].number
  const { rows: made } = await client.query<{ number: number }>(
    `INSERT INTO mailsonde.report_reporters (name, is_known) VALUES ($1, $2)
     ON CONFLICT (name, is_known) DO UPDATE SET name = excluded.name RETURNING number`,
    key,
  )
  return made[0]!.number
}

type Kept = {
  /** Size of what was added. */
  readonly octets: number
  /** Messages and rows about other domains. */
  readonly elsewhere?: number
  readonly foreignRows?: number
}

/** Sums what is staged. */
async function keepRows(client: pg.PoolClient, { domain, day, counts }: NewReport, reporter: number): Promise<Kept> {
  await client.query(NAMELESS, [domain])
  const { rows: gone } = await client.query<{ rows: number; messages: number }>(FOREIGN, [
    domain,
    `${[...domain].reverse().join('').replaceAll('_', '\\_')}.%`,
  ])
  if (!counts) await client.query(COARSE)
  await client.query('ANALYZE staged_rows')
  await client.query(NAMES)
  const { rows: sources } = await client.query<{ octets: number }>(SOURCES)
  const { rows: sums } = await client.query<{ rows: number }>(SUM, [day, reporter, counts])
  return {
    octets: sources[0]!.octets + sums[0]!.rows * ROW_OCTETS,
    elsewhere: gone[0]!.messages,
    foreignRows: gone[0]!.rows,
  }
}

/** Keeps what is staged of a TLS report; of one that does not count the totals alone, {@link APART_ROWS} at most. */
async function keepTls(client: pg.PoolClient, report: number, { domain, counts }: NewReport): Promise<Kept> {
  const { rows } = await client.query<{ octets: number }>(
    `WITH made AS (
       INSERT INTO mailsonde.report_tls (report, domain, type, host, failure, successful, failed)
       SELECT $1, coalesce(nullif(domain, ''), $3), type, host, failure, successful, failed FROM staged_rows
       WHERE $2 OR (host IS NULL AND failure IS NULL) LIMIT CASE WHEN NOT $2 THEN ${APART_ROWS} END
       RETURNING ${ROW_OCTETS} + octet_length(concat(domain, type, host, failure)) AS octets)
     SELECT coalesce(sum(octets), 0) AS octets FROM made`,
    [report, counts, domain],
  )
  return rows[0]!
}

/** Size of a row in the database with its indexes, octets; of one of a TLS report beside its texts. */
const ROW_OCTETS = 128
