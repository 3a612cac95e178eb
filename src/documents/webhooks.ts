import type { DeliveryAnswer, WebhookAnswer } from '../answers/webhooks.ts'
import { counted } from '../base/text.ts'
import { type Block, type Conclusion, code, type Document, type Line, type Mark } from './block.ts'
import { type List, listConclusion, moreBlocks } from './list.ts'
import { footerOf, inWords } from './words.ts'

const STATES: Readonly<Record<WebhookAnswer['state'], { readonly mark: Mark; readonly text: string }>> = {
  on: { mark: 'good', text: 'On' },
  off: { mark: 'bad', text: 'Off' },
}

/** A webhook: its URL, whether it is on, and its secret if the answer has it. */
export function webhookDocument(webhook: WebhookAnswer, version: string): Document {
  const { id, url, state, reason, created_at: created, secret, old_secret_until: until } = webhook
  const conclusion: Conclusion = {
    subject: url,
    mark: STATES[state].mark,
    badge: STATES[state].text,
    words:
      state === 'on'
        ? 'Messages are sent to this URL.'
        : `No messages are sent: ${reason ?? 'the webhook was turned off'}.`,
    notes: [],
  }
  const rows: (readonly [string, Line])[] = [
    ['Id', [code(id)]],
    ['Created', [{ time: created }]],
    ...(until === null ? [] : [['Old secret valid until', [{ time: until }]] as const]),
  ]
  return {
    title: `Webhook: ${url}`,
    blocks: [
      { kind: 'conclusion', conclusion },
      { kind: 'facts', rows },
      ...(secret === undefined ? [] : [{ kind: 'seen', label: 'Secret, shown only once', text: secret } as const]),
    ],
    footer: footerOf(version),
  }
}

/** Webhooks, newest first. */
export const webhookListDocument = (list: List<WebhookAnswer>, version: string): Document => ({
  title: 'Webhooks',
  blocks: [
    listConclusion('Webhooks', list.data.length, 'webhook', list.has_more),
    ...tableOf(
      'Newest first',
      ['Id', 'URL', 'State', 'Created'],
      list.data.map(({ id, url, state, created_at: created }) => [
        [code(id)],
        [code(url)],
        [STATES[state]],
        [{ time: created }],
      ]),
    ),
    ...moreBlocks(list.next_cursor),
  ],
  footer: footerOf(version),
})

const DELIVERY: Readonly<Record<DeliveryAnswer['state'], { readonly mark: Mark; readonly text: string }>> = {
  delivered: { mark: 'good', text: 'Delivered' },
  pending: { mark: 'open', text: 'Pending' },
  failed: { mark: 'bad', text: 'Failed' },
}

/** A delivery: its state, each attempt with the receiver's answer, and its body. */
export function deliveryDocument(delivery: DeliveryAnswer, version: string): Document {
  const { id, type, state, created_at: created, next_attempt_at: next, attempts, body } = delivery
  const { mark, text: badge } = DELIVERY[state]
  const tried = attempts.length === 0 ? 'Not attempted yet.' : `${counted(attempts.length, 'attempt')}.`
  const words = next === null ? tried : `${tried} The next one is due at ${inWords(next)}.`
  return {
    title: `Delivery: ${type}`,
    blocks: [
      { kind: 'conclusion', conclusion: { subject: type, mark, badge, words, notes: [] } },
      {
        kind: 'facts',
        rows: [
          ['Id', [code(id)]],
          ['Created', [{ time: created }]],
        ],
      },
      ...tableOf(
        'Attempts',
        ['Time', 'Answer', 'Duration'],
        attempts.map((one) => [[{ time: one.time }], [outcomeOf(one)], [`${one.duration_ms} ms`]]),
      ),
      { kind: 'seen', label: 'Body', text: body },
    ],
    footer: footerOf(version),
  }
}

const outcomeOf = ({ status, error }: DeliveryAnswer['attempts'][number]): string =>
  error ?? (status === null ? 'no answer' : `HTTP ${status}`)

/** The deliveries of a webhook, newest first. */
export const deliveryListDocument = (list: List<DeliveryAnswer>, version: string): Document => ({
  title: 'Deliveries',
  blocks: [
    listConclusion('Deliveries', list.data.length, 'delivery', list.has_more, 'deliveries'),
    ...tableOf(
      'Newest first',
      ['Created', 'Type', 'State', 'Attempts', 'Last answer', 'Id'],
      list.data.map(({ id, type, state, created_at: created, attempts }) => {
        const last = attempts.at(-1)
        return [
          [{ time: created }],
          [type],
          [DELIVERY[state]],
          [String(attempts.length)],
          [last === undefined ? '–' : outcomeOf(last)],
          [code(id)],
        ]
      }),
    ),
    ...moreBlocks(list.next_cursor),
  ],
  footer: footerOf(version),
})

const tableOf = (caption: string, head: readonly string[], rows: readonly (readonly Line[])[]): Block[] =>
  rows.length === 0 ? [] : [{ kind: 'table', table: { caption, head, rows } }]
