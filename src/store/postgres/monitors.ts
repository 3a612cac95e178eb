import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import { forgetPattern } from './forget.ts'
import type { ConsentState, MonitorsTable, Schema } from './schema.ts'
import { POINT_OCTETS } from './storage.ts'

/** Columns that only a run reads: the last known answer has up to 1 MiB. */
type OfRuns = 'known' | 'notifier' | 'stored'
/** A stored monitor; the JSON columns are read by the code that wrote them. */
export type MonitorRow = Omit<Selectable<MonitorsTable>, OfRuns>
/** A monitor with what its run reads. */
export type ClaimedMonitor = MonitorRow & Pick<Selectable<MonitorsTable>, 'known' | 'notifier'>
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

export type NewMonitor = Pick<
  MonitorRow,
  | 'id'
  | 'owner'
  | 'name'
  | 'kind'
  | 'target'
  | 'domain'
  | 'every_ms'
  | 'is_public'
  | 'enabled'
  | 'created_at'
  | 'next_run'
> &
  Partial<Pick<MonitorRow, 'organization' | 'labels' | 'contact' | 'note'>> &
  MonitorTexts
/** The columns of JSON as text. */
type MonitorTexts = {
  readonly options: string
  readonly notify: string
  readonly conditions: string
  readonly quiet: string | null
}
export type MonitorEdit = Partial<
  MonitorTexts &
    Pick<MonitorRow, 'name' | 'every_ms' | 'is_public' | 'enabled' | 'next_run' | 'labels' | 'contact' | 'note'>
> & {
  readonly unsubscribed?: string
}

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

/** Number of rows per sweep. */
const SWEEP = 5_000
export type Monitors = ReturnType<typeof monitorsOf>

export const monitorsOf = (db: Kysely<Schema>) => ({
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

  /** Stores a run in a transaction under its claim; false if another claim has followed. */
  write: async (
    tx: Transaction<Schema>,
    { number, fence }: Pick<MonitorRow, 'number' | 'fence'>,
    run: RunWrite,
  ): Promise<boolean> => {
    const { rows } = await sql`
      UPDATE mailsonde.monitors SET leased_until = '-infinity',
        next_run = CASE WHEN every_ms = ${run.everyMs} THEN ${run.nextRun}::timestamptz
                   ELSE ${run.point.at}::timestamptz + every_ms * interval '1 millisecond' END,
        message_due = ${run.messageDue}, ran_at = ${run.point.at},
        state = ${run.state}, failures = ${run.failures}, last = ${run.last}::jsonb, known = coalesce(${run.known ?? null}, known),
        notifier = ${run.notifier}::jsonb, facts = coalesce(${run.facts ?? null}::jsonb, facts),
        changed_at = CASE WHEN ${run.point.changes}::jsonb IS NULL THEN changed_at ELSE ${run.point.at}::timestamptz END,
        stored = stored + CASE WHEN ${run.isKept}::boolean THEN ${POINT_OCTETS}::int + coalesce(octet_length((${run.point.changes}::jsonb)::text), 0) + coalesce(octet_length((${run.facts ?? null}::jsonb)::text), 0) ELSE 0 END
      WHERE number = ${number} AND fence = ${fence} RETURNING number`.execute(tx)
    if (rows.length === 0) return false
    const { at, status, score, listed, reason, changes } = run.point
    if (!run.isKept) return true
    await sql`
      INSERT INTO mailsonde.monitor_points (monitor, at, status, score, listed, reason, changes, facts)
      VALUES (${number}, ${at}, ${status}, ${score}, ${listed}, ${reason}, ${changes}::jsonb, ${run.facts ?? null}::jsonb) ON CONFLICT DO NOTHING`.execute(
      tx,
    )
    return true
  },

  /** Stores the notifier's state, if no run was due. */
  writeNotifier: async (
    tx: Transaction<Schema>,
    { number, fence }: Pick<MonitorRow, 'number' | 'fence'>,
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
    { number, fence }: Pick<MonitorRow, 'number' | 'fence'>,
    to: { readonly at: Date; readonly next: Date; readonly failures: number; readonly last: string },
  ): Promise<void> => {
    await sql`
      UPDATE mailsonde.monitors SET leased_until = '-infinity', next_run = ${to.next}, ran_at = ${to.at}, state = 'unknown',
        failures = ${to.failures}, last = ${to.last}::jsonb,
        message_due = CASE WHEN message_due IS NOT NULL THEN greatest(message_due, ${to.next}::timestamptz) END
      WHERE number = ${number} AND fence = ${fence}`.execute(db)
  },

  /** Releases a claim, without changes. */
  release: async ({ number, fence }: Pick<MonitorRow, 'number' | 'fence'>): Promise<void> => {
    await sql`UPDATE mailsonde.monitors SET leased_until = '-infinity' WHERE number = ${number} AND fence = ${fence}`.execute(
      db,
    )
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

  /**
   * Removes the monitors of a mailbox, or of a domain and its mailboxes, and such mailboxes from the receivers; returns
   * the number of each.
   */
  forget: async (
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
    }),
})

export type { ConsentState } from './schema.ts'

/** How often a key may ask an address again, and the time in which at most {@link MAX_ASKED} keys ask it, ms. */
const ASK_EVERY_MS = 7 * 86_400_000
/** Maximum number of keys whose question one address gets in a week. */
const MAX_ASKED = 3
/** Number of test messages of a monitor in an hour. */
const MAX_TESTS = 3
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** What a key wants to send by mail: questions for consent, or a test of a monitor. */
export type MailUse = {
  readonly owner: string
  readonly mails: number
  /** Id of the monitor that is tested. */
  readonly monitor?: string
}

/** Consents to mail of monitors, for each key and address, and the rates of mail that a key causes at once. */
export type MailConsents = ReturnType<typeof mailConsentsOf>

export const mailConsentsOf = (db: Kysely<Schema>) => ({
  /** The consents of addresses (lower case) to mail of a key's monitors. */
  states: async (owner: string, addresses: readonly string[]): Promise<ReadonlyMap<string, ConsentState>> => {
    if (addresses.length === 0) return new Map()
    const rows = await db
      .selectFrom('mailsonde.mail_consents')
      .select(['address', 'state'])
      .where('owner', '=', owner)
      .where('address', 'in', [...addresses])
      .execute()
    return new Map(rows.map(({ address, state }) => [address, state]))
  },

  /**
   * Notes that an address is asked, under the id of its link; false if it is not to be asked: it has answered, this key
   * asked within a week, so did {@link MAX_ASKED} keys, or it refused the mail of any key.
   */
  ask: async (tx: Transaction<Schema>, owner: string, address: string, id: string, now: Date): Promise<boolean> => {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`mail ${address}`}, 0))`.execute(tx)
    const recently = new Date(now.getTime() - ASK_EVERY_MS)
    const { rows } = await sql`
      INSERT INTO mailsonde.mail_consents AS c (owner, address, id, state, asked_at)
      SELECT ${owner}, ${address}, ${id}, 'asked', ${now}::timestamptz
      WHERE NOT EXISTS (SELECT FROM mailsonde.mail_consents WHERE address = ${address} AND state = 'refused')
        AND (SELECT count(*) FROM mailsonde.mail_consents WHERE address = ${address} AND asked_at > ${recently}) < ${MAX_ASKED}
      ON CONFLICT (owner, address) DO UPDATE SET id = excluded.id, asked_at = excluded.asked_at
      WHERE c.state = 'asked' AND c.asked_at <= ${recently} RETURNING id`.execute(tx)
    return rows.length > 0
  },

  /** The answer of an address by the id of its link. A refusal is valid for all keys. False: no such question. */
  answer: async (id: string, state: 'given' | 'refused', now: Date): Promise<boolean> => {
    const { rows } = await sql`
      UPDATE mailsonde.mail_consents SET state = ${state}, answered_at = ${now}
      WHERE ${state === 'given' ? sql`id = ${id}` : sql`address = (SELECT address FROM mailsonde.mail_consents WHERE id = ${id})`}
      RETURNING id`.execute(db)
    return rows.length > 0
  },

  /**
   * Counts mail of a key, at most `perDay` in 24 hours, and tests of a monitor, at most 3 an hour; says which limit is
   * reached.
   */
  take: ({ owner, mails, monitor }: MailUse, perDay: number, now: Date): Promise<'tests' | 'mails' | undefined> =>
    db.transaction().execute(async (tx) => {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`mails of ${owner}`}, 0))`.execute(tx)
      const { rows } = await sql<{ mails: number; tests: number }>`
        SELECT coalesce(sum(mails), 0)::int AS mails,
          (count(*) FILTER (WHERE monitor = ${monitor ?? ''} AND at > ${new Date(now.getTime() - HOUR_MS)}))::int AS tests
        FROM mailsonde.mail_uses WHERE owner = ${owner} AND at > ${new Date(now.getTime() - DAY_MS)}`.execute(tx)
      const used = rows[0]
      if (monitor !== undefined && (used?.tests ?? 0) >= MAX_TESTS) return 'tests'
      if (mails > 0 && (used?.mails ?? 0) + mails > perDay) return 'mails'
      await sql`INSERT INTO mailsonde.mail_uses (owner, monitor, mails, at) VALUES (${owner}, ${monitor ?? null}, ${mails}, ${now})`.execute(
        tx,
      )
      return undefined
    }),

  /** Removes uses that count no more, and unanswered questions after 90 days. */
  sweep: async (now: Date): Promise<void> => {
    await sql`DELETE FROM mailsonde.mail_uses WHERE at < ${new Date(now.getTime() - DAY_MS)}`.execute(db)
    await sql`DELETE FROM mailsonde.mail_consents WHERE state = 'asked' AND asked_at < ${new Date(now.getTime() - 90 * DAY_MS)}`.execute(
      db,
    )
  },
})
