import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** The last message that was read of a mailbox, and those up to it that are read again later. */
export type MailboxPlace = {
  readonly validity: string
  readonly uid: number
  readonly deferred: readonly DeferredMessage[]
}
type DeferredMessage = { readonly uid: number; readonly tries: number; readonly nextMs: number }

/** What the owner of a domain said about a sender. */
export type SenderWord = {
  readonly sender: string
  readonly ours: boolean
  readonly note: string
  /** Those that it is about, of a sender that nothing else names; else empty. */
  readonly addresses: readonly string[]
  /** Id of the key that said it; '' without keys. */
  readonly by: string
  readonly at: Date
}

/** Senders of a domain about which its owner says something. */
export const MAX_WORDS = 200
/** Domains that nobody here takes reports of: how many an answer names. */
const MAX_STRANGERS = 200

/** What is remembered beside reports: words of owners, domains that nobody here takes, and how far mail was read. */
export const reportNotesOf = (db: Kysely<Schema>) => ({
  /** What was said about the senders of domains, the newest first. */
  words: async (domains: readonly string[]): Promise<readonly (SenderWord & { readonly domain: string })[]> => {
    const { rows } = await sql<SenderWord & { domain: string }>`
      SELECT domain, sender, ours, note, addresses, said_by AS by, said_at AS at FROM mailsonde.report_words
      WHERE domain = ANY(${domains}::text[]) ORDER BY said_at DESC, sender`.execute(db)
    return rows
  },
  /** Keeps a word in the place of an earlier one. Returns false if there are already {@link MAX_WORDS} others. */
  say: async (domain: string, { sender, ours, note, addresses, by, at }: SenderWord): Promise<boolean> => {
    const { numAffectedRows } = await sql`
      INSERT INTO mailsonde.report_words (domain, sender, ours, note, addresses, said_by, said_at)
      SELECT ${domain}, ${sender}, ${ours}, ${note}, ${addresses}::text[], ${by}, ${at}
      WHERE (SELECT count(*) FROM mailsonde.report_words WHERE domain = ${domain} AND sender <> ${sender}) < ${MAX_WORDS}
      ON CONFLICT (domain, sender) DO UPDATE SET ours = excluded.ours, note = excluded.note,
        addresses = excluded.addresses, said_by = excluded.said_by, said_at = excluded.said_at`.execute(db)
    return numAffectedRows === 1n
  },
  unsay: async (domain: string, sender: string): Promise<void> => {
    await sql`DELETE FROM mailsonde.report_words WHERE domain = ${domain} AND sender = ${sender}`.execute(db)
  },

  /** Domains whose reports came by mail although nobody here takes them. */
  strangers: async (): Promise<
    readonly { readonly domain: string; readonly reports: number; readonly last_at: Date }[]
  > => {
    const { rows } = await sql<{ domain: string; reports: number; last_at: Date }>`
      SELECT domain, reports::float8, last_at FROM mailsonde.report_strangers ORDER BY reports DESC, domain LIMIT ${MAX_STRANGERS}`.execute(
      db,
    )
    return rows
  },

  /** Counts a report about a domain that nobody here takes; at most 1,000 domains. */
  countStranger: async (domain: string, now: Date): Promise<void> => {
    await sql`
      INSERT INTO mailsonde.report_strangers AS s (domain, reports, last_at)
      SELECT ${domain}, 1, ${now} WHERE (SELECT count(*) FROM mailsonde.report_strangers) < 1000
        OR EXISTS (SELECT FROM mailsonde.report_strangers WHERE domain = ${domain})
      ON CONFLICT (domain) DO UPDATE SET reports = s.reports + 1, last_at = excluded.last_at`.execute(db)
  },

  mailboxPlace: async (name: string): Promise<MailboxPlace | undefined> => {
    const { rows } = await sql<MailboxPlace>`
      SELECT validity, uid::float8, deferred FROM mailsonde.report_mailboxes WHERE name = ${name}`.execute(db)
    return rows[0]
  },
  rememberPlace: async (name: string, { validity, uid, deferred }: MailboxPlace): Promise<void> => {
    await sql`
      INSERT INTO mailsonde.report_mailboxes (name, validity, uid, deferred)
      VALUES (${name}, ${validity}, ${uid}, ${JSON.stringify(deferred)}::jsonb)
      ON CONFLICT (name) DO UPDATE
      SET validity = excluded.validity, uid = excluded.uid, deferred = excluded.deferred`.execute(db)
  },

  /** When the message was first waited for. Of 10,000 the oldest are forgotten, and after two days. */
  waitingSince: async (digest: string, now: Date): Promise<Date> => {
    const { rows } = await sql<{ first_at: Date }>`
      INSERT INTO mailsonde.report_waiting AS w (digest, first_at) VALUES (${digest}, ${now})
      ON CONFLICT (digest) DO UPDATE SET first_at = w.first_at RETURNING first_at`.execute(db)
    await sql`
      DELETE FROM mailsonde.report_waiting WHERE first_at < ${now}::timestamptz - interval '2 days'
        OR first_at < (SELECT first_at FROM mailsonde.report_waiting ORDER BY first_at DESC OFFSET 9999 LIMIT 1)`.execute(
      db,
    )
    return rows[0]!.first_at
  },
})
