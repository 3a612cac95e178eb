import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import { COLUMNS, type MonitorRow } from './monitors.ts'
import type { AcceptedTable, Schema } from './schema.ts'

export type AcceptedRow = Selectable<AcceptedTable>
export type AcceptedPage = {
  readonly finding?: string
  readonly domain?: string
  readonly label?: string
  readonly before?: number
  readonly limit: number
}

/** The monitors `m` to which the acceptances `a` apply. */
export const APPLIES = sql`a.owner = m.owner AND CASE WHEN a.label = '' THEN a.domain = m.domain ELSE m.labels @> ARRAY[a.label] END`
/** Of these, the ones that have the finding. */
export const HAS_FINDING = sql`m.facts -> 'findings' @> to_jsonb(a.finding)`
/** Least time between two runs of a monitor. */
const RUN_EVERY = sql`interval '1 minute'`
/** Maximum number of receivers of a message about one acceptance. */
const MAX_TOLD = 100

export type AcceptedFindings = ReturnType<typeof acceptedOf>

export const acceptedOf = (db: Kysely<Schema>) => ({
  /**
   * Stores an acceptance, in place of the one of the same finding and subject, whose id it keeps; undefined if its key
   * has `most`.
   */
  put: (
    row: Insertable<AcceptedTable> & { readonly created_at: Date },
    most: number,
  ): Promise<AcceptedRow | undefined> =>
    db.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`accepted of ${row.owner}`}, 0))`.execute(tx)
      const { rows } = await sql<{ count: number }>`
        SELECT count(*)::int AS count FROM mailsonde.accepted
        WHERE owner = ${row.owner} AND (domain, label, finding) <> (${row.domain}, ${row.label}, ${row.finding})`.execute(
        tx,
      )
      if ((rows[0]?.count ?? 0) >= most) return undefined
      const { reason, author, until, tell_at } = row
      const made = await tx
        .insertInto('mailsonde.accepted')
        .values(row)
        .onConflict((one) =>
          one.columns(['owner', 'domain', 'label', 'finding']).doUpdateSet({ reason, author, until, tell_at }),
        )
        .returningAll()
        .executeTakeFirstOrThrow()
      await runAgain(tx, sql`a.number = ${made.number}`, row.created_at)
      return made
    }),

  /** Those of a key, of all without one, newest first, before the row `before`. */
  list: async (page: AcceptedPage & { readonly owner?: string }): Promise<readonly AcceptedRow[]> => {
    let query = db.selectFrom('mailsonde.accepted').selectAll().orderBy('number', 'desc').limit(page.limit)
    for (const name of ['owner', 'finding', 'domain', 'label'] as const) {
      const value = page[name]
      if (value !== undefined) query = query.where(name, '=', value)
    }
    if (page.before !== undefined) query = query.where('number', '<', page.before)
    return query.execute()
  },

  /** Removes one, of a key or of any; undefined if there was none. Its monitors run again. */
  remove: (id: string, owner: string | undefined, now: Date): Promise<AcceptedRow | undefined> =>
    db.transaction().execute(async (tx) => {
      await runAgain(tx, sql`a.id = ${id} AND ${owner === undefined ? sql`true` : sql`a.owner = ${owner}`}`, now)
      let query = tx.deleteFrom('mailsonde.accepted').where('id', '=', id).returningAll()
      if (owner !== undefined) query = query.where('owner', '=', owner)
      return query.executeTakeFirst()
    }),

  /** Those in force that a key has for a domain, by name or by a label of its monitors, or of the one `monitor`. */
  ofDomain: async (owner: string, domain: string, now: Date, monitor?: number): Promise<readonly AcceptedRow[]> => {
    const { rows } = await sql<AcceptedRow>`
      SELECT * FROM mailsonde.accepted a WHERE owner = ${owner} AND until > ${now} AND (domain = ${domain}
        OR label <> '' AND EXISTS (SELECT FROM mailsonde.monitors m WHERE m.domain = ${domain} AND ${monitor === undefined ? sql`true` : sql`m.number = ${monitor}`} AND ${APPLIES}))
      ORDER BY until`.execute(db)
    return rows
  },

  /** Those in force of findings that monitors have now, by the number of the monitor. */
  ofMonitors: async (numbers: readonly number[], now: Date): Promise<ReadonlyMap<number, readonly AcceptedRow[]>> => {
    if (numbers.length === 0) return new Map()
    const { rows } = await sql<AcceptedRow & { readonly monitor: number }>`
      SELECT m.number AS monitor, a.* FROM mailsonde.monitors m JOIN mailsonde.accepted a ON ${APPLIES}
      WHERE m.number = ANY (${numbers}::bigint[]) AND a.until > ${now} AND ${HAS_FINDING} ORDER BY a.until`.execute(db)
    return Map.groupBy(rows, ({ monitor }) => monitor)
  },

  /** One whose end is to be told, locked by the transaction; undefined if there is none. */
  due: async (tx: Transaction<Schema>, now: Date): Promise<AcceptedRow | undefined> => {
    const { rows } = await sql<AcceptedRow>`
      SELECT * FROM mailsonde.accepted WHERE tell_at <= ${now} ORDER BY tell_at LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(
      tx,
    )
    return rows[0]
  },

  /** Notes that the end was told; once it has come, the monitors run again. */
  told: async (tx: Transaction<Schema>, { number, until }: AcceptedRow, now: Date): Promise<void> => {
    const hasEnded = until <= now
    await sql`UPDATE mailsonde.accepted SET tell_at = ${hasEnded ? null : until} WHERE number = ${number}`.execute(tx)
    if (hasEnded) await runAgain(tx, sql`a.number = ${number}`, now)
  },

  /** Monitors of an acceptance that tell somebody: one for each receiver. */
  telling: async (tx: Transaction<Schema>, { number }: AcceptedRow): Promise<readonly MonitorRow[]> => {
    const { rows } = await sql<MonitorRow>`
      SELECT DISTINCT ON (target_of) ${sql.join(COLUMNS.map((one) => sql`m.${sql.ref(one)}`))}
      FROM mailsonde.accepted a JOIN mailsonde.monitors m ON ${APPLIES} CROSS JOIN LATERAL jsonb_array_elements(m.notify) AS n (target_of)
      WHERE a.number = ${number} AND m.enabled ORDER BY target_of, m.number LIMIT ${MAX_TOLD}`.execute(tx)
    return rows
  },

  /** Removes those that ended before a time; returns whether there may be more. */
  sweep: async (before: Date): Promise<boolean> => {
    await db.deleteFrom('mailsonde.accepted').where('until', '<', before).execute()
    return false
  },
})

/** Makes the monitors due that have an accepted finding: their state follows from whether it counts. */
const runAgain = async (tx: Transaction<Schema>, which: RawBuilder<unknown>, now: Date): Promise<void> => {
  await sql`
    UPDATE mailsonde.monitors SET next_run = least(next_run, greatest(${now}::timestamptz, ran_at + ${RUN_EVERY}))
    WHERE enabled AND number IN (
      SELECT m.number FROM mailsonde.accepted a JOIN mailsonde.monitors m ON ${APPLIES} WHERE ${which} AND ${HAS_FINDING})`.execute(
    tx,
  )
}
