import { type Insertable, type Kysely, type Selectable, sql, type Updateable } from 'kysely'
import { forgetPattern } from './forget.ts'
import { monitorRunsOf, type PointRow } from './monitor-runs.ts'
import type { MonitorsTable, Schema } from './schema.ts'

/** Columns that only a run reads: the last known answer has up to 1 MiB. */
type OfRuns = 'known' | 'notifier' | 'stored'
/** A stored monitor; the JSON columns are read by the code that wrote them. */
export type MonitorRow = Omit<Selectable<MonitorsTable>, OfRuns>
export const COLUMNS = [
  ...(['number', 'id', 'owner', 'name', 'kind', 'target', 'domain', 'every_ms', 'options', 'notify'] as const),
  'organization',
  ...([
    'conditions',
    'quiet',
    'is_public',
    'enabled',
    'created_at',
    'next_run',
    'message_due',
    'leased_until',
  ] as const),
  ...(['fence', 'ran_at', 'state', 'failures', 'last', 'unsubscribed'] as const),
  ...(['labels', 'contact', 'note', 'facts', 'changed_at'] as const),
] as const satisfies readonly (keyof MonitorRow)[]

export type NewMonitor = Insertable<MonitorsTable>
export type MonitorEdit = Updateable<MonitorsTable>

/** Number of rows per sweep. */
const SWEEP = 5_000
export type Monitors = ReturnType<typeof monitorsOf>

export const monitorsOf = (db: Kysely<Schema>) => ({
  ...monitorRunsOf(db),
  /**
   * Adds a monitor unless its owner has `most` already; undefined then. An existing one with the same id is returned
   * unchanged.
   */
  add: async (row: NewMonitor, most: number): Promise<MonitorRow | undefined> => {
    const { count } = await db
      .selectFrom('mailsonde.monitors')
      .select(sql<number>`count(*)`.as('count'))
      .where('owner', '=', row.owner)
      .executeTakeFirstOrThrow()
    if (count >= most) return undefined
    return db
      .insertInto('mailsonde.monitors')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ owner: sql`excluded.owner` }))
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
  },

  byId: (id: string): Promise<MonitorRow | undefined> =>
    db.selectFrom('mailsonde.monitors').select(COLUMNS).where('id', '=', id).executeTakeFirst(),

  byNumber: (number: number): Promise<MonitorRow | undefined> =>
    db.selectFrom('mailsonde.monitors').select(COLUMNS).where('number', '=', number).executeTakeFirst(),

  edit: (number: number, edit: MonitorEdit): Promise<MonitorRow | undefined> =>
    db
      .updateTable('mailsonde.monitors')
      .set({ ...edit })
      .where('number', '=', number)
      .returning(COLUMNS)
      .executeTakeFirst(),

  remove: async (id: string): Promise<boolean> => {
    const gone = await db.deleteFrom('mailsonde.monitors').where('id', '=', id).executeTakeFirst()
    return gone.numDeletedRows > 0n
  },

  /** The points after `after`, in the order of time; with `changed` only those in which something changed. */
  points: async (
    number: number,
    page: { readonly after?: Date; readonly before?: Date; readonly limit: number; readonly changed?: true },
  ): Promise<readonly PointRow[]> => {
    const { rows } = await sql<PointRow>`
      SELECT at, status, score, listed, reason, ${page.changed ? sql`changes` : sql`NULL AS changes`} FROM mailsonde.monitor_points
      WHERE monitor = ${number}
        ${page.after ? sql`AND at > ${page.after}` : sql``} ${page.before ? sql`AND at < ${page.before}` : sql``}
        ${page.changed ? sql`AND changes IS NOT NULL` : sql``}
      ORDER BY at ${page.changed ? sql`DESC` : sql``} LIMIT ${page.limit}`.execute(db)
    return rows
  },

  /** Removes points from before a time, at most {@link SWEEP}; returns whether there may be more. */
  sweepPoints: async (before: Date): Promise<boolean> => {
    const { numAffectedRows } = await sql`
      DELETE FROM mailsonde.monitor_points WHERE ctid IN (
        SELECT ctid FROM mailsonde.monitor_points WHERE at < ${before} LIMIT ${SWEEP})`.execute(db)
    return Number(numAffectedRows) === SWEEP
  },

  forget: (name: 'email' | 'domain', value: string) => forgetMonitors(db, name, value),
})

/**
 * Removes the monitors of a mailbox, or of a domain and its mailboxes, and such mailboxes from the receivers; returns
 * the number of each.
 */
const forgetMonitors = (
  db: Kysely<Schema>,
  name: 'email' | 'domain',
  value: string,
): Promise<{ readonly monitors: number; readonly receivers: number }> =>
  db.transaction().execute(async (tx) => {
    const wanted = value.toLowerCase()
    const text = forgetPattern({ name, value }, 'text')
    const gone =
      await sql`DELETE FROM mailsonde.monitors WHERE ${name === 'email' ? sql`lower(target)` : sql`domain`} = ${wanted}`.execute(
        tx,
      )
    const isMeant = (mailbox: string) =>
      name === 'email'
        ? sql`lower(${sql.raw(mailbox)}) = ${wanted}`
        : sql`split_part(lower(${sql.raw(mailbox)}), '@', -1) = ${wanted}`
    // A receiver is the mailbox itself, or a URL that names it. Others that ended their mail stay so.
    const isTold = (entry: string) =>
      sql`(${sql.raw(entry)} ->> 'type' = 'mail' AND ${isMeant(`${entry} ->> 'to'`)} OR coalesce(${sql.raw(entry)} ->> 'url', '') ~* ${text})`
    const told = await sql`
      UPDATE mailsonde.monitors SET
        notify = (SELECT coalesce(jsonb_agg(e), '[]') FROM jsonb_array_elements(notify) AS e WHERE NOT ${isTold('e')}),
        unsubscribed = (SELECT coalesce(jsonb_agg(u), '[]') FROM jsonb_array_elements_text(unsubscribed) AS u WHERE NOT ${isMeant('u')})
      WHERE EXISTS (SELECT FROM jsonb_array_elements(notify) AS e WHERE ${isTold('e')})
         OR EXISTS (SELECT FROM jsonb_array_elements_text(unsubscribed) AS u WHERE ${isMeant('u')})`.execute(tx)
    await sql`UPDATE mailsonde.monitors SET contact = '' WHERE ${isMeant('contact')}`.execute(tx)
    await sql`DELETE FROM mailsonde.deliveries WHERE ${isTold('channel')}`.execute(tx)
    await sql`DELETE FROM mailsonde.digest_readers WHERE ${isMeant('address')}`.execute(tx)
    await sql`
      DELETE FROM mailsonde.mail_consents
      WHERE ${name === 'email' ? sql`address` : sql`split_part(address, '@', -1)`} = ${wanted}`.execute(tx)
    if (name === 'domain') await sql`DELETE FROM mailsonde.accepted WHERE domain = ${wanted}`.execute(tx)
    return { monitors: Number(gone.numAffectedRows ?? 0), receivers: Number(told.numAffectedRows ?? 0) }
  })
