import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type MessageService, messageService } from '../../answers/monitors.ts'
import { type MonitorEvent, monitorEvent } from '../../answers/webhooks.ts'
import { within } from '../../base/deadline.ts'
import { FetchError } from '../../net/fetch.ts'
import type { Post, PostRequest } from '../../net/post.ts'
import { MailError, type SubmitMail } from '../../net/submit-mail.ts'
import type { Log } from '../../world.ts'
import { monitorError } from '../problems.ts'
import { consentQuestion } from './consent.ts'
import { digestEvent } from './digest.ts'
import { consentMailOf, digestMailOf, mailOf, ntfyOf, slackOf } from './templates.ts'

const mailbox = z.strictObject({ type: z.literal('mail'), to: z.string() })
const service = z.strictObject({ type: messageService, url: z.string(), token: z.string().optional() })

/** A receiver of a monitor, as stored: a webhook by its number. */
export const keptTarget = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('webhook'), url: z.string(), id: z.string(), number: z.int() }),
  mailbox,
  service,
])
export type KeptTarget = z.output<typeof keptTarget>

/** The stored route of a message. A webhook is looked up when the message is sent. */
export const channel = z.discriminatedUnion('type', [z.strictObject({ type: z.literal('webhook') }), mailbox, service])
export type Channel = z.output<typeof channel>
type UrlChannel = Exclude<Channel, { type: 'mail' }>

export type Senders = {
  readonly post: Post
  /** Undefined: the operator has configured no submission server. */
  readonly mail: SubmitMail | undefined
  readonly publicUrl: string | undefined
  /** The sender address of mail, which also receives unsubscription requests. */
  readonly from: string | undefined
  readonly log: Pick<Log, 'error'>
}

/** A message with its signature data. */
type ToSend = {
  readonly id: string
  readonly body: string
  readonly channel: Channel
  readonly webhook?: { readonly url: string; readonly secrets: readonly string[] }
}

/**
 * The result of an attempt. `gone`: the receiver wants no more messages (410); `isFinal`: another attempt would change
 * nothing.
 */
export type Sent = {
  readonly ok: boolean
  readonly status: number | null
  readonly error: string | null
  readonly gone: boolean
  readonly isFinal: boolean
}

const ATTEMPT_MS = 15_000
const MAIL_MS = 30_000

/**
 * Sends a message once. Rejects only with the signal's reason: a fault of ours is the result of the attempt, and logged.
 */
export async function sendOnce(senders: Senders, message: ToSend, nowMs: number, signal: AbortSignal): Promise<Sent> {
  try {
    const { channel: by } = message
    if (by.type === 'mail') return await byMail(senders, message, by.to, within(MAIL_MS, signal))
    const request = requestOf(message, by, nowMs)
    const { status } = await senders.post(request, within(ATTEMPT_MS, signal))
    const ok = status >= 200 && status < 300
    return { ok, status, error: ok ? null : refusalOf(status), gone: status === 410, isFinal: false }
  } catch (error) {
    if (error instanceof MailError) return { ...FAILED, error: error.message.slice(0, 500), isFinal: error.isFinal }
    if (error instanceof FetchError) return { ...FAILED, error: error.message.slice(0, 500) }
    if (signal.aborted) throw error
    return ownFault(senders.log, message.id, error)
  }
}

/** The result of an attempt that failed by a fault of ours, which is logged. */
export function ownFault(log: Pick<Log, 'error'>, id: string, err: unknown): Sent {
  log.error('a message could not be sent: an internal error', { message: id, err })
  return { ...FAILED, error: monitorError('internal').message }
}

const FAILED = { ok: false, status: null, gone: false, isFinal: false } as const

const refusalOf = (status: number): string =>
  status >= 300 && status < 400 ? `answered ${status}: redirects are not followed` : `answered ${status}`

/** The request of each service. */
const REQUESTS: Readonly<Record<MessageService, (event: MonitorEvent, by: z.output<typeof service>) => PostRequest>> = {
  slack: slackOf,
  ntfy: ntfyOf,
}

function requestOf({ id, body, webhook }: ToSend, by: UrlChannel, nowMs: number): PostRequest {
  if (by.type === 'webhook') {
    if (!webhook) throw new Error('a message to a webhook has none')
    return { url: webhook.url, headers: signedHeaders({ id, body }, webhook.secrets, nowMs), body }
  }
  const event = monitorEvent.parse(JSON.parse(body))
  return REQUESTS[by.type](event, by)
}

async function byMail(
  { mail, publicUrl, from }: Senders,
  { id, body }: ToSend,
  to: string,
  signal: AbortSignal,
): Promise<Sent> {
  if (!mail) return { ...FAILED, error: 'this service has no --smtp-url', isFinal: false }
  const message = toMail.parse(JSON.parse(body))
  if (message.type === 'mail.consent' && publicUrl === undefined)
    return { ...FAILED, error: 'this service has no --public-url', isFinal: true }
  const token = message.type === 'mail.digest' ? message.data.token : id
  const links = {
    publicUrl,
    ...(publicUrl !== undefined && { unsubscribe: `${publicUrl}/u/${token}` }),
    ...(from !== undefined && { unsubscribeTo: from }),
  }
  await mail({ ...wordsOf(message, to, links), id }, signal)
  return { ok: true, status: null, error: null, gone: false, isFinal: false }
}

const toMail = z.union([consentQuestion, digestEvent, monitorEvent])

function wordsOf(message: z.output<typeof toMail>, to: string, links: Parameters<typeof mailOf>[2]) {
  if (message.type === 'mail.consent') return consentMailOf(message, to, links)
  return message.type === 'mail.digest' ? digestMailOf(message.data, to, links) : mailOf(message, to, links)
}

const PREFIX = 'whsec_'
/** Octets of a secret (Standard Webhooks: 24 to 64). */
const SECRET_OCTETS = 32

/** A new secret, in the form in which it is returned. */
export const makeSecret = (): string => `${PREFIX}${randomBytes(SECRET_OCTETS).toString('base64')}`

/**
 * The header fields of a message (Standard Webhooks 1.0): `webhook-signature` has one `v1` signature for each valid
 * secret, over id, timestamp and body. `atMs`: the time of sending.
 */
export function signedHeaders(
  message: { readonly id: string; readonly body: string },
  secrets: readonly string[],
  atMs: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${message.id}.${timestamp}.${message.body}`).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
