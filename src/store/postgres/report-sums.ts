import { type Kysely, type RawBuilder, sql } from 'kysely'
import { below, namesIn } from './report-names.ts'
import { reportNotesOf } from './report-notes.ts'
import type { ReportKind, ReportRow, TlsRow } from './report-rows.ts'
import { forgetReports, sweepReports } from './report-sweep.ts'
import type { Schema } from './schema.ts'

/**
 * Which rows are meant: names in From at or below a domain, days as `2026-11-23` (both included), and whether what does
 * not count is included.
 */
export type Period = {
  readonly domain: string
  readonly from: string
  readonly to: string
  readonly includeUncounted: boolean
}

/**
 * The sums of one source over a period. What a verdict rests on is that of the reporters of the table alone: all fields
 * from `known_messages` on.
 */
export type SourceSum = ReportRow & {
  readonly number: number
  readonly first_day: string
  readonly last_day: string
  readonly known_messages: number
  /** Null without a known reporter. */
  readonly first_known: string | null
  readonly last_known: string | null
  /** Bit N: seen on the Nth day before the last day of the period; the last 28 days. */
  readonly recent_days: number
  /** The smallest and the largest number of a reporter: equal if there is one. Null without a known one. */
  readonly first_reporter: number | null
  readonly last_reporter: number | null
}

/** The largest sources of a period. */
export type Sources = {
  readonly sources: readonly SourceSum[]
  /** Sources beyond the bounds of an answer, and their messages. */
  readonly leftOut: LeftOut
}
export type LeftOut = { readonly sources: number; readonly messages: number }

export type DaySum = {
  readonly day: string
  readonly messages: number
  readonly passing: number
  readonly forwarded: number
}

export type PolicySeen = {
  readonly policy: Readonly<Record<string, string>>
  readonly domain: string
  readonly first_day: string
  readonly last_day: string
  readonly reports: number
}

export type ReportsAbout = {
  readonly reports: number
  /** Reports that do not count, and whose sender is not proven. */
  readonly uncounted: number
  readonly differing: number
  readonly reporters: readonly { readonly name: string; readonly is_known: boolean; readonly reports: number }[]
  /** Proven senders that nobody knows, whose reports came by mail and do not count. */
  readonly others: readonly { readonly name: string; readonly reports: number; readonly messages: number }[]
  readonly lastReceived: Date | null
}

export type DayRow = ReportRow & {
  readonly number: number
  readonly day: string
}
/** The last row of a page: rows follow in the order of day and source. */
export type RowPlace = { readonly day: string; readonly source: number }

export type RowPage = { readonly after?: RowPlace; readonly limit: number; readonly sources?: readonly number[] }

export type TlsSum = TlsRow & { readonly reporters: readonly string[] }

export type DomainWithReports = {
  readonly domain: string
  readonly reports: number
  readonly messages: number
  readonly last_at: Date
}

/**
 * Memory of the sources that an answer is computed from, largest first, octets; the rest is in the sums of the days
 * only.
 */
const MAX_SOURCE_OCTETS = 32 * 1_048_576
/** Memory of a source beside its long texts, octets. */
const SOURCE_OCTETS = 300
/** Names in From that are read for all domains together. */
const MAX_ALL_NAMES = 50_000
/** Reporters and policies that an answer names. */
const MAX_SHOWN = 200

export type ReportSums = ReturnType<typeof reportSumsOf>

const chosen = (
  names: readonly number[],
  { from, to, includeUncounted }: Omit<Period, 'domain'>,
): RawBuilder<boolean> =>
  sql`name = ANY(${names}::int[]) AND day BETWEEN ${from}::date AND ${to}::date AND (counts OR ${includeUncounted}::boolean)`

const reportsIn = (kind: ReportKind, { domain, from, to }: Period): RawBuilder<boolean> =>
  sql`kind = ${kind} AND ${below(sql`domain`, domain)} AND day BETWEEN ${from}::date AND ${to}::date`

/** The largest sources of a period with their sums. */
async function sourcesIn(
  db: Kysely<Schema>,
  names: readonly number[],
  period: Omit<Period, 'domain'>,
): Promise<Sources> {
  const age = sql`(${period.to}::date - day)`
  const { rows } = await sql<SourceSum & { all_sources: number; all_messages: number }>`
    WITH sums AS (
      SELECT source, sum(messages::float8) AS messages, min(day) AS first_day, max(day) AS last_day,
        coalesce(sum(messages::float8) FILTER (WHERE is_known), 0) AS known_messages,
        min(day) FILTER (WHERE is_known) AS first_known, max(day) FILTER (WHERE is_known) AS last_known,
        min(reporter) FILTER (WHERE is_known) AS first_reporter, max(reporter) FILTER (WHERE is_known) AS last_reporter,
        coalesce(bit_or(1 << ${age}) FILTER (WHERE is_known AND ${age} < 28), 0) AS recent_days,
        (count(*) OVER ())::int AS all_sources, sum(sum(messages::float8)) OVER () AS all_messages
      FROM (
        SELECT *, reporter = ANY(ARRAY(SELECT number FROM mailsonde.report_reporters r WHERE r.is_known)) AS is_known
        FROM mailsonde.report_rows WHERE ${chosen(names, period)}) known
      GROUP BY source ORDER BY 2 DESC, source LIMIT ${Math.floor(MAX_SOURCE_OCTETS / SOURCE_OCTETS)})
    SELECT number, name, address, envelope_from, spf_domain, spf_result, spf_aligned, dkim_domain, dkim_selector, dkim_result, dkim_aligned, signers,
      disposition, reason, messages, first_day, last_day, known_messages, first_known, last_known, first_reporter, last_reporter, recent_days,
      all_sources, all_messages
    FROM (
      SELECT s.number, n.name, host(s.address) AS address, s.envelope_from, s.spf_domain, s.spf_result, s.spf_aligned, s.dkim_domain, s.dkim_selector,
        s.dkim_result, s.dkim_aligned, s.signers, s.disposition, s.reason, g.messages, g.first_day::text, g.last_day::text, g.recent_days,
        g.known_messages, g.first_known::text, g.last_known::text, g.first_reporter, g.last_reporter, g.all_sources, g.all_messages,
        sum(${SOURCE_OCTETS}::int + octet_length(s.envelope_from) + octet_length(s.spf_domain) + octet_length(s.dkim_domain)
          + octet_length(s.dkim_selector) + octet_length(s.signers)) OVER (ORDER BY g.messages DESC, g.source) AS octets
      FROM sums g JOIN mailsonde.report_sources s ON s.number = g.source AND s.name = ANY(${names}::int[])
        JOIN mailsonde.report_names n ON n.number = s.name) sized
    WHERE octets <= ${MAX_SOURCE_OCTETS} ORDER BY messages DESC, number`.execute(db)
  const { all_sources: all = 0, all_messages: messages = 0 } = rows[0] ?? {}
  return {
    sources: rows,
    leftOut: {
      sources: all - rows.length,
      messages: rows.reduce((left, one) => left - one.messages, messages),
    },
  }
}

/** The summed rows by day and source, each over all reporters. */
async function rowsOfDays(
  db: Kysely<Schema>,
  names: readonly number[],
  period: Period,
  { after, limit, sources }: RowPage,
): Promise<readonly DayRow[]> {
  const of = sources === undefined ? sql`true` : sql`source = ANY(${sources}::int[])`
  const from = after === undefined ? sql`true` : sql`(day, source) > (${after.day}::date, ${after.source}::int)`
  const { rows } = await sql<DayRow>`
    WITH sums AS (
      SELECT day, source, sum(messages)::float8 AS messages FROM mailsonde.report_rows
      WHERE ${chosen(names, period)} AND ${of} AND ${from} GROUP BY day, source ORDER BY day, source LIMIT ${limit})
    SELECT g.day::text, s.number, n.name, host(s.address) AS address, s.envelope_from, s.spf_domain, s.spf_result, s.spf_aligned, s.dkim_domain,
      s.dkim_selector, s.dkim_result, s.dkim_aligned, s.signers, s.disposition, s.reason, g.messages
    FROM sums g JOIN mailsonde.report_sources s ON s.number = g.source JOIN mailsonde.report_names n ON n.number = s.name
    ORDER BY g.day, s.number`.execute(db)
  return rows
}

async function aboutReports(db: Kysely<Schema>, kind: ReportKind, period: Period): Promise<ReportsAbout> {
  const [sums, reporters, others] = await Promise.all([
    sql<Omit<ReportsAbout, 'reporters' | 'others'>>`
      SELECT (count(*) FILTER (WHERE counts))::float8 AS reports,
        (count(*) FILTER (WHERE NOT counts AND authenticated IS NOT TRUE))::float8 AS uncounted,
        (count(*) FILTER (WHERE counts AND differs))::float8 AS differing, max(received_at) FILTER (WHERE counts) AS "lastReceived"
      FROM mailsonde.reports WHERE ${reportsIn(kind, period)}`.execute(db),
    sql<ReportsAbout['reporters'][number]>`
      SELECT r.name, r.is_known, count(*)::float8 AS reports FROM mailsonde.reports p JOIN mailsonde.report_reporters r ON r.number = p.reporter
      WHERE ${reportsIn(kind, period)} AND (counts OR ${period.includeUncounted}::boolean)
      GROUP BY r.name, r.is_known ORDER BY r.is_known DESC, 3 DESC, 1 LIMIT ${MAX_SHOWN}`.execute(db),
    sql<ReportsAbout['others'][number]>`
      SELECT r.name, count(*)::float8 AS reports, sum(p.messages)::float8 AS messages
      FROM mailsonde.reports p JOIN mailsonde.report_reporters r ON r.number = p.reporter
      WHERE ${reportsIn(kind, period)} AND NOT counts AND authenticated GROUP BY r.name ORDER BY 2 DESC, 1 LIMIT ${MAX_SHOWN}`.execute(
      db,
    ),
  ])
  return { ...sums.rows[0]!, reporters: reporters.rows, others: others.rows }
}

/** Reads sums of reports, as `float8`: exact up to 2^53. Domains include the names below them. */
export const reportSumsOf = (db: Kysely<Schema>) => ({
  ...reportNotesOf(db),
  namesOf: (domain: string) => namesIn(db, domain),
  /** Every name in From with its number; at most {@link MAX_ALL_NAMES}. */
  names: async (): Promise<readonly { readonly number: number; readonly name: string }[]> => {
    const { rows } = await sql<{ number: number; name: string }>`
      SELECT number, name FROM mailsonde.report_names ORDER BY number LIMIT ${MAX_ALL_NAMES}`.execute(db)
    return rows
  },
  sources: (names: readonly number[], period: Omit<Period, 'domain'>) => sourcesIn(db, names, period),

  /** The sums of each day with reports; `forwarded` has the sources whose failing messages are forwarded. */
  days: async (names: readonly number[], period: Period, forwarded: readonly number[]): Promise<readonly DaySum[]> => {
    const [all, passedOn] = await Promise.all([
      sql<Omit<DaySum, 'forwarded'>>`
        SELECT day::text, sum(messages)::float8 AS messages, coalesce(sum(messages) FILTER (WHERE passes), 0)::float8 AS passing
        FROM mailsonde.report_days WHERE ${chosen(names, period)} GROUP BY day ORDER BY day`.execute(db),
      forwarded.length === 0
        ? { rows: [] }
        : sql<{ day: string; messages: number }>`
            SELECT day::text, sum(messages)::float8 AS messages FROM mailsonde.report_rows
            WHERE ${chosen(names, period)} AND NOT passes AND source = ANY(${forwarded}::int[]) GROUP BY day`.execute(
            db,
          ),
    ])
    const byDay = new Map(passedOn.rows.map(({ day, messages }) => [day, messages]))
    return all.rows.map((sums) => ({ ...sums, forwarded: byDay.get(sums.day) ?? 0 }))
  },

  rows: (names: readonly number[], period: Period, page: RowPage) => rowsOfDays(db, names, period, page),
  about: (kind: ReportKind, period: Period) => aboutReports(db, kind, period),

  /**
   * The number of reports that may have rows about the domain: those about it, the names below it, and the names
   * above it.
   */
  stored: async (domain: string): Promise<number> => {
    const labels = domain.split('.')
    const above = labels.slice(1).map((_, i) => [...labels.slice(i + 1).join('.')].reverse().join(''))
    const { rows } = await sql<{ reports: number }>`
      SELECT count(*)::float8 AS reports FROM mailsonde.reports
      WHERE ${below(sql`domain`, domain)} OR reverse(domain) = ANY(${above}::text[])`.execute(db)
    return rows[0]!.reports
  },

  policies: async (period: Period): Promise<readonly PolicySeen[]> => {
    const { rows } = await sql<PolicySeen>`
      SELECT policy, domain, min(day)::text AS first_day, max(day)::text AS last_day, count(*)::float8 AS reports FROM mailsonde.reports
      WHERE ${reportsIn('dmarc', period)} AND counts GROUP BY policy, domain ORDER BY 4 DESC, 5 DESC LIMIT ${MAX_SHOWN}`.execute(
      db,
    )
    return rows
  },

  tls: async (period: Period): Promise<readonly TlsSum[]> => {
    const { rows } = await sql<TlsSum>`
      SELECT t.domain, t.type, t.host, t.failure, sum(t.successful)::float8 AS successful, sum(t.failed)::float8 AS failed, array_agg(DISTINCT r.name) AS reporters
      FROM mailsonde.reports p JOIN mailsonde.report_tls t ON t.report = p.number JOIN mailsonde.report_reporters r ON r.number = p.reporter
      WHERE p.kind = 'tls' AND ${below(sql`t.domain`, period.domain)} AND p.day BETWEEN ${period.from}::date AND ${period.to}::date
        AND (p.counts OR ${period.includeUncounted}::boolean)
      GROUP BY t.domain, t.type, t.host, t.failure ORDER BY t.domain, t.type, t.host NULLS FIRST, t.failure NULLS FIRST LIMIT 10000`.execute(
      db,
    )
    return rows
  },

  /** Domains that have reports, those with the newest first. */
  domains: async (): Promise<readonly DomainWithReports[]> => {
    const { rows } = await sql<DomainWithReports>`
      SELECT domain, count(*)::float8 AS reports, sum(CASE WHEN kind = 'dmarc' THEN messages ELSE 0 END)::float8 AS messages, max(received_at) AS last_at
      FROM mailsonde.reports WHERE counts GROUP BY domain ORDER BY 4 DESC LIMIT 1000`.execute(db)
    return rows
  },

  /** The domains of all monitors. */
  monitored: async (): Promise<readonly string[]> => {
    const { rows } = await sql<{ domain: string }>`
      SELECT DISTINCT domain FROM mailsonde.monitors WHERE domain <> '' LIMIT 100000`.execute(db)
    return rows.map(({ domain }) => domain)
  },

  /** Selectors of verified signatures by names at or below the domain, most mail first. */
  selectors: async (
    domain: string,
    since: string,
  ): Promise<readonly { readonly domain: string; readonly selector: string }[]> => {
    const names = await namesIn(db, domain)
    const { rows } = await sql<{ domain: string; selector: string }>`
      SELECT s.dkim_domain AS domain, s.dkim_selector AS selector FROM mailsonde.report_rows r JOIN mailsonde.report_sources s ON s.number = r.source AND s.name = r.name
      WHERE r.name = ANY(${names}::int[]) AND s.name = ANY(${names}::int[]) AND r.day >= ${since}::date AND r.counts
        AND s.dkim_result = 'pass' AND s.dkim_selector <> '' AND ${below(sql`s.dkim_domain`, domain)}
      GROUP BY 1, 2 ORDER BY sum(r.messages) DESC LIMIT 50`.execute(db)
    return rows
  },

  forget: (domain: string) => forgetReports(db, domain),
  sweep: (oldest: string, oldestApart: string) => sweepReports(db, oldest, oldestApart),
})
