import type { DeliveryAnswer, WebhookAnswer } from '../answers/webhooks.ts'
import { counted } from '../base/text.ts'
import { code, conclude, type Document, facts, type Marked, table } from './block.ts'
import { type List, listDocument } from './list.ts'
import { documentOf, inWords } from './words.ts'

const STATES: Readonly<Record<WebhookAnswer['state'], Marked>> = {
  on: { mark: 'good', text: 'On' },
  off: { mark: 'bad', text: 'Off' },
}

/** A webhook: its URL, whether it is on, and its secret if the answer has it. */
export function webhookDocument(webhook: WebhookAnswer, version: string): Document {
  const { id, url, state, reason, created_at: created, secret, old_secret_until: until } = webhook
  const { mark, text: badge } = STATES[state]
  const words =
    state === 'on'
      ? 'Messages are sent to this URL.'
      : `No messages are sent: ${reason ?? 'the webhook was turned off'}.`
  return documentOf(
    `Webhook: ${url}`,
    version,
    conclude(url, mark, badge, words),
    facts(
      ['Id', code(id)],
      ['Created', { time: created }],
      until !== null && ['Old secret valid until', { time: until }],
    ),
    secret !== undefined && { kind: 'seen', label: 'Secret, shown only once', text: secret },
  )
}

/** Webhooks, newest first. */
export const webhookListDocument = (list: List<WebhookAnswer>, version: string): Document =>
  listDocument(
    { title: 'Webhooks', one: 'webhook' },
    list,
    version,
    table(
      'Newest first',
      list.data,
      ['Id', ({ id }) => code(id)],
      ['URL', ({ url }) => code(url)],
      ['State', ({ state }) => STATES[state]],
      ['Created', (one) => ({ time: one.created_at })],
    ),
  )

const DELIVERY: Readonly<Record<DeliveryAnswer['state'], Marked>> = {
  delivered: { mark: 'good', text: 'Delivered' },
  pending: { mark: 'open', text: 'Pending' },
  failed: { mark: 'bad', text: 'Failed' },
}

/** A delivery: its state, each attempt with the receiver's answer, and its body. */
export function deliveryDocument(delivery: DeliveryAnswer, version: string): Document {
  const { id, type, state, created_at: created, next_attempt_at: next, attempts, body } = delivery
  const { mark, text: badge } = DELIVERY[state]
  const tried = attempts.length === 0 ? 'Not attempted yet.' : `${counted(attempts.length, 'attempt')}.`
  return documentOf(
    `Delivery: ${type}`,
    version,
    conclude(type, mark, badge, next === null ? tried : `${tried} The next one is due at ${inWords(next)}.`),
    facts(['Id', code(id)], ['Created', { time: created }]),
    table(
      'Attempts',
      attempts,
      ['Time', ({ time }) => ({ time })],
      ['Answer', outcomeOf],
      ['Duration', (one) => `${one.duration_ms} ms`],
    ),
    { kind: 'seen', label: 'Body', text: body },
  )
}

const outcomeOf = ({ status, error }: DeliveryAnswer['attempts'][number]): string =>
  error ?? (status === null ? 'no answer' : `HTTP ${status}`)

/** The deliveries of a webhook, newest first. */
export const deliveryListDocument = (list: List<DeliveryAnswer>, version: string): Document =>
  listDocument(
    { title: 'Deliveries', one: 'delivery', many: 'deliveries' },
    list,
    version,
    table(
      'Newest first',
      list.data,
      ['Created', (one) => ({ time: one.created_at })],
      ['Type', ({ type }) => type],
      ['State', ({ state }) => DELIVERY[state]],
      ['Attempts', ({ attempts }) => attempts.length],
      ['Last answer', ({ attempts }) => lastOf(attempts)],
      ['Id', ({ id }) => code(id)],
    ),
  )

function lastOf(attempts: DeliveryAnswer['attempts']): string {
  const last = attempts.at(-1)
  return last === undefined ? '–' : outcomeOf(last)
}
