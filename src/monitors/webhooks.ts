import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type DeliveryAnswer, eventType, type WebhookAnswer } from '../answers/webhooks.ts'
import { type Owner, owns } from '../names/owner.ts'
import type { Deliveries, DeliveryRow } from '../store/postgres/deliveries.ts'
import type { WebhookRow, Webhooks } from '../store/postgres/webhooks.ts'
import { channel, makeSecret } from './notify/send.ts'
import { webhookError } from './problems.ts'

type Page = { readonly before?: number; readonly limit: number }

/**
 * Webhooks. Every function opens the database when it is first needed, and rejects with AppError `not_found` for a
 * webhook that is not the owner's.
 */
export type WebhookService = ReturnType<typeof webhookService>

/** Maximum number of webhooks per key. */
const MAX_WEBHOOKS = 1_000
const OLD_SECRET_MS = 86_400_000

type WebhookParts = { readonly webhooks: Webhooks; readonly deliveries: Deliveries; readonly wake: () => void }

export function webhookService(parts: () => Promise<WebhookParts>, now: () => number) {
  async function owned(id: string, owner: Owner): Promise<WebhookRow> {
    const row = await (await parts()).webhooks.byId(id)
    if (row && owns(owner, row.owner)) return row
    throw webhookError('unknown')
  }
  /**
   * The webhook of an owner for a URL; if there is none it is created, and its secret returned. Rejects with
   * `limit_reached`.
   */
  async function ensure(url: string, owner: Owner, seed?: string) {
    const secret = makeSecret()
    const id = `wh_${seed ?? randomBytes(16).toString('base64url')}`
    const { webhooks } = await parts()
    const made = await webhooks.ensure({ id, owner: owner.id, url, secret, created_at: new Date(now()) }, MAX_WEBHOOKS)
    if (!made) throw webhookError('too_many', { max: MAX_WEBHOOKS })
    return { webhook: made.webhook, secret: made.isNew || made.webhook.id === id ? made.webhook.secret : undefined }
  }
  return {
    ensure,
    create: async (url: string, owner: Owner, seed?: string): Promise<WebhookAnswer> => {
      const { webhook, secret } = await ensure(url, owner, seed)
      return present(webhook, now(), secret)
    },
    /** Newest first. */
    list: async (page: Page, owner: Owner): Promise<readonly (WebhookAnswer & { readonly number: number })[]> => {
      const rows = await (await parts()).webhooks.list({ ...page, ...(owner.isAdmin ? {} : { owner: owner.id }) })
      return rows.map((row) => ({ ...present(row, now()), number: row.number }))
    },
    show: async (id: string, owner: Owner) => present(await owned(id, owner), now()),
    /** Turns a webhook on or off. Pending messages to one that is turned off are not sent any more. */
    turn: async (id: string, state: 'on' | 'off', owner: Owner): Promise<WebhookAnswer> => {
      const row = await owned(id, owner)
      if (row.state === state) return present(row, now())
      const { webhooks, deliveries } = await parts()
      const turned = await webhooks.setState(row.number, state, state === 'off' ? 'turned off by its owner' : null)
      if (state === 'off') await deliveries.failAll(row.number)
      return present(turned, now())
    },
    remove: async (id: string, owner: Owner): Promise<WebhookAnswer> => {
      const row = await owned(id, owner)
      if (!(await (await parts()).webhooks.remove(id))) throw webhookError('unknown') // another request was faster
      return present(row, now())
    },
    /** Returns a new secret; the previous one is valid for 24 h more. */
    rotate: async (id: string, owner: Owner): Promise<WebhookAnswer> => {
      const { number } = await owned(id, owner)
      const row = await (await parts()).webhooks.rotate(number, makeSecret(), new Date(now() + OLD_SECRET_MS))
      return present(row, now(), row.secret)
    },
    /** Newest first. */
    deliveries: async (
      id: string,
      page: Page,
      owner: Owner,
    ): Promise<readonly (DeliveryAnswer & { readonly number: number })[]> => {
      const { number } = await owned(id, owner)
      const rows = await (await parts()).deliveries.ofWebhook(number, page)
      return rows.map((row) => ({ ...presentDelivery(row), number: row.number }))
    },
    /** Sends a message again, under the same id. */
    replay: async (id: string, delivery: string, owner: Owner): Promise<DeliveryAnswer> => {
      const webhook = await owned(id, owner)
      const { deliveries, wake } = await parts()
      const row = await deliveries.byId(delivery)
      if (!row || row.webhook !== webhook.number) throw webhookError('no_delivery')
      if (webhook.state === 'off') throw webhookError('off')
      const replayed = await deliveries.replay(row.number, new Date(now()))
      wake()
      return presentDelivery(replayed)
    },
    /** Sets the webhook that is called when a job has ended; created if there is none for the URL. */
    callback: async (job: string, url: string, owner: Owner) => {
      const { webhook, secret } = await ensure(url, owner)
      const { deliveries, wake } = await parts()
      await deliveries.setCallback(job, webhook.number)
      wake()
      return { id: webhook.id, secret }
    },
  }
}

const present = (row: WebhookRow, nowMs: number, secret?: string): WebhookAnswer => ({
  id: row.id,
  url: row.url,
  state: row.state === 'off' ? 'off' : 'on',
  reason: row.reason,
  created_at: row.created_at.toISOString(),
  ...(secret !== undefined && { secret }),
  old_secret_until:
    row.old_secret_until !== null && row.old_secret_until.getTime() > nowMs ? row.old_secret_until.toISOString() : null,
})

const attempts = z.array(
  z.strictObject({ time: z.string(), status: z.int().nullable(), error: z.string().nullable(), duration_ms: z.int() }),
)

/** Throws for a message that cannot be sent or shown. */
export function readDelivery(row: Pick<DeliveryRow, 'channel' | 'attempts'>): void {
  channel.parse(row.channel)
  attempts.parse(row.attempts)
}

const presentDelivery = (row: DeliveryRow): DeliveryAnswer => ({
  id: row.id,
  type: eventType.parse(row.type),
  state: z.enum(['pending', 'delivered', 'failed']).parse(row.state),
  created_at: row.created_at.toISOString(),
  next_attempt_at: row.next_attempt?.toISOString() ?? null,
  attempts: attempts.parse(row.attempts),
  body: row.body,
})
