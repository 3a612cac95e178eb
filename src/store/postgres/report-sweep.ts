import { CompiledQuery, type Kysely, sql } from 'kysely'
import { below } from './report-names.ts'
import type { Schema } from './schema.ts'

/** Removes all reports about the domain and the names below it. Returns their number. */
export const forgetReports = (db: Kysely<Schema>, domain: string): Promise<number> =>
  db.transaction().execute(async (tx) => {
    await sql`SET LOCAL statement_timeout = 0`.execute(tx)
    await sql`SELECT pg_advisory_xact_lock(hashtextextended('mailsonde reports sweep', 0))`.execute(tx)
    const gone = await sql`DELETE FROM mailsonde.reports WHERE ${below(sql`domain`, domain)}`.execute(tx)
    for (const table of ['report_rows', 'report_days', 'report_sources'])
      await sql`DELETE FROM ${sql.id('mailsonde', table)}
        WHERE name IN (SELECT number FROM mailsonde.report_names WHERE ${below(sql`name`, domain)})`.execute(tx)
    await sql`DELETE FROM mailsonde.report_names WHERE ${below(sql`name`, domain)}`.execute(tx)
    await sql`DELETE FROM mailsonde.report_tls WHERE ${below(sql`domain`, domain)}`.execute(tx)
    for (const table of ['report_strangers', 'report_words'])
      await sql`DELETE FROM ${sql.id('mailsonde', table)} WHERE ${below(sql`domain`, domain)}`.execute(tx)
    return Number(gone.numAffectedRows ?? 0)
  })

/**
 * Removes what is older than the day (what does not count: than the second), and what has no rows or reports any
 * more.
 */
export async function sweepReports(db: Kysely<Schema>, oldest: string, oldestApart: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`SET LOCAL statement_timeout = 0`.execute(tx)
    await sql`SELECT pg_advisory_xact_lock(hashtextextended('mailsonde reports sweep', 0))`.execute(tx)
    await sql`DELETE FROM mailsonde.report_strangers WHERE last_at < ${oldest}::date`.execute(tx)
    const gone = [await sweepBefore(tx, oldest, 'true'), await sweepBefore(tx, oldestApart, 'NOT counts')]
    if (!gone.includes(true)) return
    await sql`DELETE FROM mailsonde.report_sources s WHERE NOT EXISTS (
      SELECT FROM mailsonde.report_rows r WHERE r.source = s.number)`.execute(tx)
    await sql`DELETE FROM mailsonde.report_names n WHERE NOT EXISTS (
      SELECT FROM mailsonde.report_rows r WHERE r.name = n.number)`.execute(tx)
    await sql`DELETE FROM mailsonde.report_reporters WHERE number NOT IN (
      SELECT reporter FROM mailsonde.reports UNION SELECT reporter FROM mailsonde.report_rows)`.execute(tx)
  })
}

/** Removes the reports and rows before the day that `which` means; returns whether there were any. */
async function sweepBefore(tx: Kysely<Schema>, oldest: string, which: 'true' | 'NOT counts'): Promise<boolean> {
  const run = (text: string) => tx.executeQuery(CompiledQuery.raw(text, [oldest]))
  const reports = await run(`DELETE FROM mailsonde.reports WHERE day < $1::date AND ${which}`)
  const rows = await run(`DELETE FROM mailsonde.report_rows WHERE day < $1::date AND ${which}`)
  await run(`DELETE FROM mailsonde.report_days WHERE day < $1::date AND ${which}`)
  return Number(reports.numAffectedRows ?? 0) + Number(rows.numAffectedRows ?? 0) > 0
}
