import type { Deliveries, DeliveryRow } from '../store/postgres/deliveries.ts'
import type { Digests } from '../store/postgres/digests.ts'
import type { MailConsents } from '../store/postgres/mail-consents.ts'
import type { MonitorRow, Monitors } from '../store/postgres/monitors.ts'
import type { ConsentState } from '../store/postgres/schema.ts'
import type { WebhookRow, Webhooks } from '../store/postgres/webhooks.ts'
import { consentsOf, type MailRules } from './notify/consent.ts'
import { digestEvent } from './notify/digest.ts'
import { channel, type Senders, type Sent, sendOnce } from './notify/send.ts'
import { unsubscribedOf } from './present.ts'

export type Delivering = {
  readonly deliveries: Deliveries
  readonly webhooks: Webhooks
  readonly monitors: Pick<Monitors, 'byNumber'>
  readonly consents: MailConsents
  readonly digests: Pick<Digests, 'reader'>
  readonly mailRules: MailRules
  readonly senders: Senders
  readonly now: () => number
}

/** Makes one attempt at a claimed message, and stores the result. A receiver that answers 410 is turned off. */
export async function deliver(parts: Delivering, row: DeliveryRow, signal: AbortSignal): Promise<void> {
  const { deliveries, webhooks, senders, now } = parts
  const webhook = row.webhook === null ? undefined : await webhooks.byNumber(row.webhook)
  const by = channel.parse(row.channel)
  const refusal =
    by.type === 'webhook'
      ? webhook?.state !== 'on' && 'the webhook is off'
      : by.type === 'mail' && row.type !== 'mail.consent' && (await unwantedBy(parts, row, by.to))
  if (refusal) return attemptFailed(parts, row, { status: null, error: refusal, isFinal: true })
  const begunMs = now()
  const begun = performance.now()
  const message = { id: row.id, body: row.body, channel: by }
  const signed = webhook && { url: webhook.url, secrets: secretsOf(webhook, begunMs) }
  const sent = await sendOnce(senders, signed ? { ...message, webhook: signed } : message, begunMs, signal)
  const tookMs = performance.now() - begun
  const delivered = { state: 'delivered', next: null } as const
  if (sent.ok) await deliveries.attempted(row.number, attemptOf(begunMs, tookMs, sent), delivered)
  else await attemptFailed(parts, row, sent, begunMs, tookMs)
  if (sent.gone && webhook) {
    await webhooks.setState(webhook.number, 'off', 'the recipient answered 410: it accepts no more messages')
    await deliveries.failAll(webhook.number)
  }
}

/** Stores an attempt that failed: it is repeated at its time, or the message is given up. */
export async function attemptFailed(
  { deliveries, now }: Pick<Delivering, 'deliveries' | 'now'>,
  { number, tries }: Pick<DeliveryRow, 'number' | 'tries'>,
  sent: Pick<Sent, 'status' | 'error' | 'isFinal'> & Partial<Pick<Sent, 'gone'>>,
  begunMs: number = now(),
  tookMs = 0,
): Promise<void> {
  const nextMs = sent.isFinal || sent.gone ? undefined : nextAttempt(tries + 1, now())
  await deliveries.attempted(number, attemptOf(begunMs, tookMs, sent), {
    state: nextMs === undefined ? 'failed' : 'pending',
    next: nextMs === undefined ? null : new Date(nextMs),
  })
}

/** Why mail about a monitor is not sent to an address; undefined if it may be. */
async function unwantedBy(parts: Delivering, row: DeliveryRow, to: string): Promise<string | undefined> {
  const { monitors, consents, mailRules } = parts
  if (row.type === 'mail.digest') return unwantedDigest(parts, row, to)
  const { monitor: number } = row
  const monitor = number === null ? undefined : await monitors.byNumber(number)
  if (!monitor) return 'the monitor was deleted'
  return mailRefusal(monitor, to, await consentsOf(consents, mailRules, monitor.owner, [to]))
}

async function unwantedDigest(
  { digests, consents, mailRules }: Delivering,
  { body }: DeliveryRow,
  to: string,
): Promise<string | undefined> {
  const reader = await digests.reader(digestEvent.parse(JSON.parse(body)).data.token)
  if (!reader || reader.isStopped) return 'the address has unsubscribed'
  return consentRefusal((await consentsOf(consents, mailRules, reader.owner, [to])).get(to))
}

/** Why an address gets no mail of a monitor; undefined if it gets it. `consents` as of {@link consentsOf}. */
export function mailRefusal(
  monitor: MonitorRow,
  to: string,
  consents: ReadonlyMap<string, ConsentState>,
): string | undefined {
  const address = to.toLowerCase()
  if (unsubscribedOf(monitor).includes(address)) return 'the address has unsubscribed'
  return consentRefusal(consents.get(address))
}

function consentRefusal(state: ConsentState | undefined): string | undefined {
  if (state === undefined || state === 'given') return undefined
  return state === 'asked' ? 'the address has not consented yet' : 'the address refused mail of this service'
}

/** An attempt as it is stored. */
export const attemptOf = (atMs: number, tookMs: number, { status, error }: Pick<Sent, 'status' | 'error'>): object => ({
  time: new Date(atMs).toISOString(),
  status,
  error,
  duration_ms: Math.round(tookMs),
})

/** The secrets that sign: the present one, and the one before it for a day after it was rotated. */
export const secretsOf = ({ secret, old_secret, old_secret_until }: WebhookRow, nowMs: number): readonly string[] =>
  old_secret !== null && old_secret_until !== null && old_secret_until.getTime() > nowMs
    ? [secret, old_secret]
    : [secret]

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]

/** Delays before the second and later attempts, ms: 75 h 35 min in total, the example schedule of Standard Webhooks. */
export const RETRY_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const

/** When a message is sent again after this number of attempts, or undefined: not any more. */
export const nextAttempt = (tries: number, nowMs: number): number | undefined => {
  const wait = RETRY_MS[tries - 1]
  return wait === undefined ? undefined : nowMs + wait
}
