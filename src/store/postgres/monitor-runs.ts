import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { MonitorsTable, Schema } from './schema.ts'
import { POINT_OCTETS } from './storage.ts'

/** A monitor with what its run reads. */
export type ClaimedMonitor = Omit<Selectable<MonitorsTable>, 'stored'>
type Claim = Pick<ClaimedMonitor, 'number' | 'fence'>

export type PointRow = {
  readonly at: Date
  readonly status: string
  readonly score: number | null
  readonly listed: number | null
  readonly reason: string | null
  readonly changes: unknown
}

/** The stored result of a run. */
type RunWrite = {
  readonly point: Omit<PointRow, 'changes'> & { readonly changes: string | null }
  /** Whether the point becomes part of the history. */
  readonly isKept: boolean
  /** The next run, if the interval is still `everyMs`: it may have been changed while the run was under way. */
  readonly nextRun: Date
  readonly everyMs: number
  readonly messageDue: Date | null
  readonly state: string
  readonly failures: number
  readonly last: string
  readonly known: string | undefined
  /** The facts of the monitor from this run on, JSON; undefined: as before. */
  readonly facts: string | undefined
  readonly notifier: string
}

/** Claims of monitors of which a run or a message is due, and what became of them. */
export const monitorRunsOf = (db: Kysely<Schema>) => ({
  /**
   * Leases up to `limit` monitors of which a run or a message is due. Owners take turns, so that the slow runs of one
   * hold up no other: `running` has the owner of each run in progress. Of an owner, those that wait longest come first.
   * A lease further ahead than any comes from a clock that stepped back.
   */
  claim: async (
    now: Date,
    leaseMs: number,
    limit: number,
    running: readonly string[] = [],
  ): Promise<readonly ClaimedMonitor[]> => {
    const free = sql`(leased_until <= ${now} OR leased_until > ${new Date(now.getTime() + 2 * leaseMs)})`
    const { rows } = await sql<Selectable<MonitorsTable>>`
      WITH RECURSIVE owners AS (
        SELECT min(owner) AS owner FROM mailsonde.monitors WHERE enabled
        UNION ALL
        SELECT (SELECT min(m.owner) FROM mailsonde.monitors m WHERE enabled AND m.owner > o.owner)
        FROM owners o WHERE o.owner IS NOT NULL),
      due AS (
        SELECT number, at, row_number() OVER (PARTITION BY o.owner ORDER BY at)
          + (SELECT count(*) FROM unnest(${running}::text[]) AS r (owner) WHERE r.owner = o.owner) AS turn
        FROM owners o CROSS JOIN LATERAL (
          SELECT number, least(next_run, message_due) AS at FROM mailsonde.monitors m
          WHERE m.owner = o.owner AND enabled AND least(next_run, message_due) <= ${now} AND ${free}
          ORDER BY least(next_run, message_due) LIMIT ${limit}) AS d)
      UPDATE mailsonde.monitors m SET fence = fence + 1, leased_until = ${new Date(now.getTime() + leaseMs)}
      WHERE ${free} AND number = ANY (ARRAY(SELECT number FROM due ORDER BY turn, at LIMIT ${limit})) RETURNING m.*`.execute(
      db,
    )
    return rows
  },

  /**
   * Reschedules runs and held messages that a clock which stepped back would delay: they are further ahead than any, or
   * of a monitor that was made in the future.
   */
  mendTimes: async (now: Date): Promise<void> => {
    await sql`
      UPDATE mailsonde.monitors SET next_run = ${now}
      WHERE enabled AND next_run > ${now} AND (ran_at IS NULL AND created_at > ${now}
        OR next_run > ${now}::timestamptz + (every_ms * 1.2 + 3600000) * interval '1 millisecond')`.execute(db)
    await sql`
      UPDATE mailsonde.monitors SET message_due = ${now}
      WHERE enabled AND message_due > ${now}::timestamptz + interval '25 hours'`.execute(db)
  },

  /** Stores a run and its point under its claim, in one statement; false if another claim has followed. */
  write: async (on: Kysely<Schema>, { number, fence }: Claim, run: RunWrite): Promise<boolean> => {
    const { at, status, score, listed, reason, changes } = run.point
    const facts = run.facts ?? null
    const { rows } = await sql`
      WITH written AS (
        UPDATE mailsonde.monitors SET leased_until = '-infinity',
          next_run = CASE WHEN every_ms = ${run.everyMs} THEN ${run.nextRun}::timestamptz
                     ELSE ${at}::timestamptz + every_ms * interval '1 millisecond' END,
          message_due = ${run.messageDue}, ran_at = ${at},
          state = ${run.state}, failures = ${run.failures}, last = ${run.last}::jsonb, known = coalesce(${run.known ?? null}, known),
          notifier = ${run.notifier}::jsonb, facts = coalesce(${facts}::jsonb, facts),
          changed_at = CASE WHEN ${changes}::jsonb IS NULL THEN changed_at ELSE ${at}::timestamptz END,
          stored = stored + CASE WHEN ${run.isKept}::boolean THEN ${POINT_OCTETS}::int + coalesce(octet_length((${changes}::jsonb)::text), 0) + coalesce(octet_length((${facts}::jsonb)::text), 0) ELSE 0 END
        WHERE number = ${number} AND fence = ${fence} RETURNING number),
      point AS (
        INSERT INTO mailsonde.monitor_points (monitor, at, status, score, listed, reason, changes, facts)
        SELECT number, ${at}::timestamptz, ${status}, ${score}::int, ${listed}::int, ${reason}, ${changes}::jsonb, ${facts}::jsonb
        FROM written WHERE ${run.isKept}::boolean ON CONFLICT DO NOTHING)
      SELECT FROM written`.execute(on)
    return rows.length > 0
  },

  /** Stores the notifier's state, if no run was due. */
  writeNotifier: async (
    tx: Transaction<Schema>,
    { number, fence }: Claim,
    notifier: string,
    messageDue: Date | null,
  ): Promise<boolean> => {
    const { rows } = await sql`
      UPDATE mailsonde.monitors SET leased_until = '-infinity', message_due = ${messageDue}, notifier = ${notifier}::jsonb
      WHERE number = ${number} AND fence = ${fence} RETURNING number`.execute(tx)
    return rows.length > 0
  },

  /** Puts off a monitor that could not be processed: its run, and a message that was due. */
  putOff: async (
    { number, fence }: Claim,
    to: { readonly at: Date; readonly next: Date; readonly failures: number; readonly last: string },
  ): Promise<void> => {
    await sql`
      UPDATE mailsonde.monitors SET leased_until = '-infinity', next_run = ${to.next}, ran_at = ${to.at}, state = 'unknown',
        failures = ${to.failures}, last = ${to.last}::jsonb,
        message_due = CASE WHEN message_due IS NOT NULL THEN greatest(message_due, ${to.next}::timestamptz) END
      WHERE number = ${number} AND fence = ${fence}`.execute(db)
  },

  /** Releases a claim, without changes. */
  release: async ({ number, fence }: Claim): Promise<void> => {
    await sql`UPDATE mailsonde.monitors SET leased_until = '-infinity' WHERE number = ${number} AND fence = ${fence}`.execute(
      db,
    )
  },
})
