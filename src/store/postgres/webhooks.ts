import { type Kysely, type Selectable, sql } from 'kysely'
import type { Schema, WebhooksTable } from './schema.ts'

export type WebhookRow = Omit<Selectable<WebhooksTable>, 'stored'>
const WEBHOOK = [
  ...(['number', 'id', 'owner', 'url', 'secret', 'old_secret', 'old_secret_until', 'state', 'reason'] as const),
  'created_at',
] as const satisfies readonly (keyof WebhookRow)[]
export type Webhooks = ReturnType<typeof webhooksOf>
export const webhooksOf = (db: Kysely<Schema>) => ({
  /**
   * The webhook of an owner for a URL; created with `secret` if there is none, unless the owner has `most`: then
   * undefined.
   */
  ensure: async (
    row: Pick<WebhookRow, 'id' | 'owner' | 'url' | 'secret' | 'created_at'>,
    most: number,
  ): Promise<{ readonly webhook: WebhookRow; readonly isNew: boolean } | undefined> => {
    const made = await sql<WebhookRow>`
      INSERT INTO mailsonde.webhooks (id, owner, url, secret, created_at)
      SELECT ${row.id}, ${row.owner}, ${row.url}, ${row.secret}, ${row.created_at}::timestamptz
      WHERE (SELECT count(*) FROM mailsonde.webhooks WHERE owner = ${row.owner}) < ${most}
      ON CONFLICT (owner, url) DO NOTHING RETURNING ${sql.join(WEBHOOK.map((column) => sql.ref(column)))}`.execute(db)
    if (made.rows[0]) return { webhook: made.rows[0], isNew: true }
    const known = await db
      .selectFrom('mailsonde.webhooks')
      .select(WEBHOOK)
      .where('owner', '=', row.owner)
      .where('url', '=', row.url)
      .executeTakeFirst()
    return known && { webhook: known, isNew: false }
  },

  byId: (id: string): Promise<WebhookRow | undefined> =>
    db.selectFrom('mailsonde.webhooks').select(WEBHOOK).where('id', '=', id).executeTakeFirst(),
  byNumber: (number: number): Promise<WebhookRow | undefined> =>
    db.selectFrom('mailsonde.webhooks').select(WEBHOOK).where('number', '=', number).executeTakeFirst(),

  /** Newest first. */
  list: async (page: {
    readonly before?: number
    readonly limit: number
    readonly owner?: string
  }): Promise<readonly WebhookRow[]> => {
    let query = db.selectFrom('mailsonde.webhooks').select(WEBHOOK).orderBy('number', 'desc').limit(page.limit)
    if (page.before !== undefined) query = query.where('number', '<', page.before)
    if (page.owner !== undefined) query = query.where('owner', '=', page.owner)
    return query.execute()
  },

  /** Sets a new secret; the old one signs until `until`. */
  rotate: (number: number, secret: string, until: Date): Promise<WebhookRow> =>
    db
      .updateTable('mailsonde.webhooks')
      .set({ old_secret: sql<string>`secret`, old_secret_until: until, secret })
      .where('number', '=', number)
      .returning(WEBHOOK)
      .executeTakeFirstOrThrow(),

  setState: (number: number, state: 'on' | 'off', reason: string | null): Promise<WebhookRow> =>
    db
      .updateTable('mailsonde.webhooks')
      .set({ state, reason })
      .where('number', '=', number)
      .returning(WEBHOOK)
      .executeTakeFirstOrThrow(),

  /** False if there was none. */
  remove: async (id: string): Promise<boolean> => {
    const gone = await db.deleteFrom('mailsonde.webhooks').where('id', '=', id).executeTakeFirst()
    return gone.numDeletedRows > 0n
  },
})
