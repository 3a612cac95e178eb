import { type Kysely, sql, type Transaction } from 'kysely'
import type { ConsentState, Schema } from './schema.ts'

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
