import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { DeliveriesTable, Schema } from './schema.ts'
import { MESSAGE_OCTETS } from './storage.ts'

export type DeliveryRow = Omit<Selectable<DeliveriesTable>, 'owner'>
export type NewDelivery = {
  readonly id: string
  readonly webhook: number | null
  readonly monitor: number | null
  /** In whose turns it is sent; default: of the webhook's or monitor's key. */
  readonly owner?: string
  readonly channel: string
  readonly type: string
  readonly body: string
  readonly createdAt: Date
  /** When it is sent first; default at once. */
  readonly due?: Date
}

const COLUMNS = [
  ...(['number', 'id', 'webhook', 'monitor', 'channel', 'type', 'created_at', 'state'] as const),
  ...(['next_attempt', 'leased_until', 'attempts', 'tries'] as const),
] as const satisfies readonly (keyof DeliveriesTable)[]
/** Characters of a body in a list: one more than an answer keeps, which marks it as shortened. */
const SHOWN = 4_097

/** Maximum number of messages sent to one recipient at the same time. */
const AT_A_TIME = 4
/** Maximum number of messages of one owner that are sent at the same time: a node has places left for the others. */
const OWNER_AT_A_TIME = 12
/** Maximum number of messages that are read to select them, and how many of each owner are read in any case. */
const LOOKED_AT = 5_000
const LOOKED_AT_OF_OWNER = 100
/** Number of rows per sweep. */
const SWEEP = 5_000

/** Counts new messages with what their monitors store, those about jobs with what their webhooks store. */
async function count(tx: Kysely<Schema>, messages: readonly NewDelivery[]): Promise<void> {
  const sizes = (rows: readonly NewDelivery[], of: 'monitor' | 'webhook') => [
    rows.map((row) => row[of]),
    rows.map(({ body }) => MESSAGE_OCTETS + Buffer.byteLength(body)),
  ]
  const [ofMonitors, ofWebhooks] = [
    messages.filter(({ monitor }) => monitor !== null),
    messages.filter(({ monitor, webhook }) => monitor === null && webhook !== null),
  ]
  for (const [table, [numbers, octets]] of [
    [sql.table('mailsonde.monitors'), sizes(ofMonitors, 'monitor')],
    [sql.table('mailsonde.webhooks'), sizes(ofWebhooks, 'webhook')],
  ] as const)
    if (numbers && numbers.length > 0)
      await sql`
        UPDATE ${table} AS t SET stored = t.stored + g.octets FROM (
          SELECT number, sum(octets) AS octets FROM unnest(${numbers}::bigint[], ${octets}::bigint[]) AS m (number, octets) GROUP BY number) g
        WHERE t.number = g.number`.execute(tx)
}

/** The webhooks that are called when a job has ended. */
const jobCallbacksOf = (db: Kysely<Schema>) => ({
  /**
   * A job that has ended and whose webhook was not called, none of `without`; leased by removing its callback within
   * `tx`.
   */
  endedJob: async (
    tx: Transaction<Schema>,
    without: readonly string[],
  ): Promise<{ readonly id: string; readonly number: number; readonly callback: number } | undefined> => {
    const { rows } = await sql<{ id: string; number: number; callback: number }>`
      WITH ended AS (
        SELECT number, callback FROM mailsonde.jobs
        WHERE callback IS NOT NULL AND state IN ('done', 'canceled', 'failed') AND id <> ALL(${without}::text[])
        ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED)
      UPDATE mailsonde.jobs j SET callback = NULL FROM ended WHERE j.number = ended.number RETURNING j.id, j.number, ended.callback`.execute(
      tx,
    )
    return rows[0]
  },

  /** Sets the webhook that is called when a job has ended; null: none. */
  setCallback: async (job: string, webhook: number | null): Promise<void> => {
    await sql`UPDATE mailsonde.jobs SET callback = ${webhook} WHERE id = ${job}`.execute(db)
  },
})

/** Claims of messages that are due, and what became of them. */
const deliveryClaimsOf = (db: Kysely<Schema>) => ({
  claim: (now: Date, leaseMs: number, limit: number) => claim(db, now, leaseMs, limit),

  /** Makes messages due that a clock which stepped back would delay: they are of the future, or further ahead than any. */
  mendTimes: async (now: Date): Promise<void> => {
    await sql`
      UPDATE mailsonde.deliveries SET next_attempt = ${now}
      WHERE state = 'pending' AND next_attempt > ${now}
        AND (created_at > ${now}::timestamptz + interval '1 minute' OR next_attempt > ${now}::timestamptz + interval '25 hours')`.execute(
      db,
    )
  },

  /** Stores an attempt: delivered, failed permanently (`next` null), or to be repeated at `next`. */
  attempted: async (
    number: number,
    attempt: object,
    outcome: { readonly state: 'pending' | 'delivered' | 'failed'; readonly next: Date | null },
  ): Promise<void> => {
    await sql`
      UPDATE mailsonde.deliveries SET attempts = (CASE WHEN jsonb_array_length(attempts) >= 50 THEN attempts - 0 ELSE attempts END) || ${JSON.stringify([attempt])}::jsonb,
        tries = tries + 1, state = ${outcome.state}, next_attempt = ${outcome.next}, leased_until = '-infinity'
      WHERE number = ${number}`.execute(db)
  },

  /** Which kinds of work are due, in one statement. */
  due: async (now: Date): Promise<Due> => {
    const { rows } = await sql<Due>`
      SELECT EXISTS (SELECT FROM mailsonde.monitors WHERE enabled AND least(next_run, message_due) <= ${now}) AS runs,
        EXISTS (SELECT FROM mailsonde.deliveries WHERE state = 'pending' AND next_attempt <= ${now}) AS messages,
        EXISTS (SELECT FROM mailsonde.digests WHERE next_at <= ${now}) AS digests,
        EXISTS (SELECT FROM mailsonde.accepted WHERE tell_at <= ${now}) AS ends,
        EXISTS (SELECT FROM mailsonde.jobs WHERE callback IS NOT NULL AND state IN ('done', 'canceled', 'failed')) AS jobs`.execute(
      db,
    )
    return rows[0]!
  },
})

/** Runs and held messages of monitors, messages, digests, the ends of acceptances, and ended jobs with a webhook. */
export type Due = Readonly<Record<'runs' | 'messages' | 'digests' | 'ends' | 'jobs', boolean>>

/** The pending and sent messages of a database. */
export type Deliveries = ReturnType<typeof deliveriesOf>
export const deliveriesOf = (db: Kysely<Schema>) => ({
  ...jobCallbacksOf(db),
  ...deliveryClaimsOf(db),
  /** Adds messages in the transaction that causes them; not those whose id is there already. */
  add: async (tx: Transaction<Schema> | Kysely<Schema>, rows: readonly NewDelivery[]): Promise<void> => {
    if (rows.length === 0) return
    const added = await tx
      .insertInto('mailsonde.deliveries')
      .values(
        rows.map(({ createdAt, due = createdAt, webhook, monitor, owner, ...row }) => ({
          ...row,
          webhook: webhook,
          monitor: monitor,
          owner: sql<string>`coalesce(${owner ?? null}, (SELECT owner FROM mailsonde.webhooks WHERE number = ${webhook}::bigint),
            (SELECT owner FROM mailsonde.monitors WHERE number = ${monitor}::bigint), '')`,
          created_at: createdAt,
          next_attempt: due,
        })),
      )
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .execute()
    const ids = new Set(added.map(({ id }) => id))
    await count(
      tx,
      rows.filter(({ id }) => ids.has(id)),
    )
  },

  /** Adds a message that is sent at once, so that the links in it work; returns its number. */
  addSent: async (message: NewDelivery): Promise<number> => {
    const { webhook, monitor, createdAt, due: _, ...row } = message
    const { number } = await db
      .insertInto('mailsonde.deliveries')
      .values({
        ...row,
        webhook: webhook,
        monitor: monitor,
        created_at: createdAt,
        state: 'delivered',
        next_attempt: null,
      })
      .returning('number')
      .executeTakeFirstOrThrow()
    await count(db, [message])
    return number
  },

  byId: (id: string): Promise<DeliveryRow | undefined> =>
    db.selectFrom('mailsonde.deliveries').selectAll().where('id', '=', id).executeTakeFirst(),

  /** Messages to a webhook, newest first. Of a body, no more is read than an answer has of a text: {@link SHOWN}. */
  ofWebhook: async (
    webhook: number,
    page: { readonly before?: number; readonly limit: number },
  ): Promise<readonly DeliveryRow[]> => {
    let query = db
      .selectFrom('mailsonde.deliveries')
      .select([...COLUMNS, sql<string>`left(body, ${SHOWN})`.as('body')])
      .where('webhook', '=', webhook)
      .orderBy('number', 'desc')
      .limit(page.limit)
    if (page.before !== undefined) query = query.where('number', '<', page.before)
    return query.execute()
  },

  /** Sends a message again, with the schedule from its beginning. */
  replay: (number: number, now: Date): Promise<DeliveryRow> =>
    db
      .updateTable('mailsonde.deliveries')
      .set({ state: 'pending', next_attempt: now, tries: 0 })
      .where('number', '=', number)
      .returningAll()
      .executeTakeFirstOrThrow(),

  /** Pending messages to a webhook that was turned off are not sent any more. */
  failAll: async (webhook: number): Promise<void> => {
    await db
      .updateTable('mailsonde.deliveries')
      .set({ state: 'failed', next_attempt: null })
      .where('webhook', '=', webhook)
      .where('state', '=', 'pending')
      .execute()
  },

  /** Removes messages from before a time, at most {@link SWEEP}; returns whether there may be more. */
  sweep: async (before: Date): Promise<boolean> => {
    const { numAffectedRows } = await sql`
      DELETE FROM mailsonde.deliveries WHERE number IN (
        SELECT number FROM mailsonde.deliveries WHERE created_at < ${before} LIMIT ${SWEEP})`.execute(db)
    return Number(numAffectedRows) === SWEEP
  },
})

/**
 * Leases due messages: owners take turns, then their receivers. At most {@link AT_A_TIME} per receiver and
 * {@link OWNER_AT_A_TIME} of an owner are in progress over all nodes.
 */
async function claim(db: Kysely<Schema>, now: Date, leaseMs: number, limit: number): Promise<readonly DeliveryRow[]> {
  const free = sql`(leased_until <= ${now} OR leased_until > ${new Date(now.getTime() + 2 * leaseMs)})`
  const { rows } = await sql<Selectable<DeliveriesTable>>`
    WITH RECURSIVE owners AS (
      SELECT min(owner) AS owner FROM mailsonde.deliveries WHERE state = 'pending'
      UNION ALL
      SELECT (SELECT min(d.owner) FROM mailsonde.deliveries d WHERE state = 'pending' AND d.owner > o.owner)
      FROM owners o WHERE o.owner IS NOT NULL),
    placed AS (
      SELECT due.*, row_number() OVER (PARTITION BY webhook, channel ORDER BY free, next_attempt, number) AS place
      FROM owners o CROSS JOIN LATERAL (
        SELECT number, owner, next_attempt, webhook, channel, ${free} AS free FROM mailsonde.deliveries d
        WHERE d.owner = o.owner AND state = 'pending' AND next_attempt <= ${now} ORDER BY next_attempt, number
        LIMIT greatest(${LOOKED_AT_OF_OWNER}::bigint, ${LOOKED_AT}::bigint / (SELECT count(*) FROM owners))) AS due),
    taken AS (
      SELECT number, next_attempt, free, row_number() OVER (PARTITION BY owner ORDER BY free, place, next_attempt) AS turn
      FROM placed WHERE place <= ${AT_A_TIME})
    UPDATE mailsonde.deliveries SET leased_until = ${new Date(now.getTime() + leaseMs)}
    WHERE ${free} AND state = 'pending' AND number IN (
      SELECT number FROM taken WHERE free AND turn <= ${OWNER_AT_A_TIME} ORDER BY turn, next_attempt LIMIT ${limit}) RETURNING *`.execute(
    db,
  )
  return rows
}
