import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { Schema, StoredAnswersTable } from './schema.ts'

/** A stored answer without its text. */
export type StoredRow = Omit<Selectable<StoredAnswersTable>, 'answer'>

/** The names under which stored answers are found. */
export type StoredName = 'domain' | 'email' | 'ip'

const ENTRY = [
  ...(['number', 'id', 'kind', 'owner', 'subject', 'domain', 'email', 'ip'] as const),
  ...(['status', 'score', 'saved_at', 'expires_at'] as const),
] as const satisfies readonly (keyof StoredRow)[]

/** How long an expired answer is kept, without its content, ms. */
const TOMBSTONE_MS = 90 * 86_400_000
/** Number of rows per sweep. */
const SWEEP = 1_000

export const storedAnswersOf = (db: Kysely<Schema>) => ({
  /** Stores an answer unless its owner has `most` already; then false. */
  add: async (row: Insertable<StoredAnswersTable>, most: number): Promise<boolean> => {
    const { rows } = await sql`
      INSERT INTO mailsonde.stored_answers (id, kind, owner, subject, domain, email, ip, status, score, saved_at, expires_at, answer)
      SELECT ${row.id}, ${row.kind}, ${row.owner}, ${row.subject}, ${row.domain}::text, ${row.email}::text, ${row.ip}::text, ${row.status}, ${row.score}::int,
             ${row.saved_at}::timestamptz, ${row.expires_at}::timestamptz, ${row.answer}
      WHERE (SELECT count(*) FROM mailsonde.stored_answers WHERE owner = ${row.owner} AND answer IS NOT NULL) < ${most}
      RETURNING id`.execute(db)
    return rows.length > 0
  },

  /** An answer with its text, which is null once it has expired and was swept. */
  byId: async (id: string): Promise<(StoredRow & { readonly answer: string | null }) | undefined> => {
    return db.selectFrom('mailsonde.stored_answers').selectAll().where('id', '=', id).executeTakeFirst()
  },

  /** An answer without its text, and whether that is still there. */
  entry: async (id: string): Promise<(StoredRow & { readonly isWhole: boolean }) | undefined> => {
    return db
      .selectFrom('mailsonde.stored_answers')
      .select(ENTRY)
      .select(sql<boolean>`answer IS NOT NULL`.as('isWhole'))
      .where('id', '=', id)
      .executeTakeFirst()
  },

  /** The unexpired answers about a name, newest first. */
  list: async (
    name: StoredName,
    value: string,
    page: { readonly before?: number; readonly limit: number; readonly owner?: string; readonly now: Date },
  ): Promise<readonly StoredRow[]> => {
    let query = db
      .selectFrom('mailsonde.stored_answers')
      .select(ENTRY)
      .where(name, '=', value)
      .where('expires_at', '>', page.now)
      .where('answer', 'is not', null)
      .orderBy('number', 'desc')
      .limit(page.limit)
    if (page.before !== undefined) query = query.where('number', '<', page.before)
    if (page.owner !== undefined) query = query.where('owner', '=', page.owner)
    return query.execute()
  },

  /** Removes an answer for good. False if there was none. */
  remove: async (id: string): Promise<boolean> => {
    const gone = await db.deleteFrom('mailsonde.stored_answers').where('id', '=', id).executeTakeFirst()
    return gone.numDeletedRows > 0n
  },

  /**
   * Removes the content of expired answers, and the rest of them after 90 days, at most {@link SWEEP} of each; returns
   * whether there may be more.
   */
  sweep: async (now: Date): Promise<boolean> => {
    const expired = await sql`
      UPDATE mailsonde.stored_answers SET answer = NULL, subject = '', domain = NULL, email = NULL, ip = NULL
      WHERE id IN (SELECT id FROM mailsonde.stored_answers WHERE answer IS NOT NULL AND expires_at <= ${now} LIMIT ${SWEEP})`.execute(
      db,
    )
    const before = new Date(now.getTime() - TOMBSTONE_MS)
    const gone = await sql`
      DELETE FROM mailsonde.stored_answers
      WHERE id IN (SELECT id FROM mailsonde.stored_answers WHERE answer IS NULL AND expires_at <= ${before} LIMIT ${SWEEP})`.execute(
      db,
    )
    return Number(expired.numAffectedRows) === SWEEP || Number(gone.numAffectedRows) === SWEEP
  },

  /** Removes every answer about a mailbox, or about a domain and its mailboxes; returns their number. */
  forget: async (name: 'email' | 'domain', value: string): Promise<number> => {
    const gone = await db.deleteFrom('mailsonde.stored_answers').where(name, '=', value).executeTakeFirst()
    return Number(gone.numDeletedRows)
  },
})
