import { z } from 'zod'
import {
  type DeliveryAnswer,
  deliveryAnswer,
  deliveryListAnswer,
  type WebhookAnswer,
  webhookAnswer,
  webhookListAnswer,
} from '../../answers/webhooks.ts'
import { parsed, problem } from '../../base/problem.ts'
import { valueProblem } from '../../base/value-problems.ts'
import {
  deliveryDocument,
  deliveryListDocument,
  webhookDocument,
  webhookListDocument,
} from '../../documents/webhooks.ts'
import { ownerOf } from '../../names/owner.ts'
import { defineOperation, ok } from '../operation.ts'
import { cursorParam, limitParam, pageOf, textParam } from '../params.ts'
import { deliveryIdParam, exampleWebhook, readReceiver, webhookIdParam } from './shared.ts'

const example: WebhookAnswer = {
  ...exampleWebhook,
  url: 'https://hooks.example.org/mail',
  state: 'on',
  reason: null,
  created_at: '2026-01-01T03:04:05.000Z',
  old_secret_until: null,
}
const withSecret: WebhookAnswer = { ...example, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }
export const delivery: DeliveryAnswer = {
  id: 'msg_AAAAAAAAAAAAAAAAAAAAAA',
  type: 'monitor.changed',
  state: 'delivered',
  created_at: '2026-01-02T03:04:05.000Z',
  next_attempt_at: null,
  attempts: [{ time: '2026-01-02T03:04:05.000Z', status: 204, error: null, duration_ms: 81 }],
  body: '{"type":"monitor.changed","timestamp":"2026-01-02T03:04:05.000Z","data":{}}',
}

const urlParam = textParam<string>(
  'invalid_parameter',
  (text) => (text.length <= 2_000 ? parsed(text) : problem(valueProblem('too_long', { max: 2_000 }))),
  { description: 'https URL that messages are posted to', example: example.url },
)

export const webhookCreate = defineOperation({
  name: 'webhooks create',
  method: 'POST',
  path: '/v1/webhooks',
  summary: 'Create a webhook; its secret is shown once',
  scope: 'jobs',
  idempotent: true,
  params: { url: urlParam },
  document: webhookDocument,
  answer: webhookAnswer,
  statuses: { 201: 'the webhook exists already' },
  example: { input: { url: example.url }, output: withSecret },
  uses: ['webhooks', 'mayCall'],
  run: async (ctx, deps, input) => {
    const url = await readReceiver(ctx, deps, input.url, 'url')
    return { status: 201, answer: await (await deps.webhooks()).create(url, ownerOf(ctx), ctx.seed) }
  },
})

export const webhookList = defineOperation({
  name: 'webhooks list',
  method: 'GET',
  path: '/v1/webhooks',
  summary: 'List your webhooks, newest first (all with scope admin)',
  scope: 'jobs',
  params: { limit: limitParam({ max: 200, fallback: 50 }), cursor: cursorParam(z.int()) },
  document: webhookListDocument,
  answer: webhookListAnswer,
  example: { input: {}, output: { data: [example], has_more: false, next_cursor: null } },
  uses: ['webhooks'],
  run: async (ctx, { webhooks }, { limit, cursor }) => {
    const page = { limit: limit + 1, ...(cursor !== undefined && { before: cursor }) }
    const rows = await (await webhooks()).list(page, ownerOf(ctx))
    return ok(pageOf(rows, limit, 'number', ({ number: _, ...webhook }) => webhook))
  },
})

const common = {
  scope: 'jobs',
  params: { id: webhookIdParam },
  document: webhookDocument,
  answer: webhookAnswer,
  example: { input: exampleWebhook, output: example },
  uses: ['webhooks'],
} as const

export const webhookShow = defineOperation({
  ...common,
  name: 'webhooks show',
  method: 'GET',
  path: '/v1/webhooks/{id}',
  summary: 'Show a webhook',
  run: async (ctx, { webhooks }, { id }) => ok(await (await webhooks()).show(id, ownerOf(ctx))),
})

const turnOf = <const Action extends 'pause' | 'resume'>(action: Action, summary: string) =>
  defineOperation({
    ...common,
    name: `webhooks ${action}`,
    method: 'POST',
    path: `/v1/webhooks/{id}/${action}` as const,
    summary,
    run: async (ctx, { webhooks }, { id }) =>
      ok(await (await webhooks()).turn(id, action === 'pause' ? 'off' : 'on', ownerOf(ctx))),
  })

export const webhookPause = turnOf('pause', 'Turn a webhook off; pending messages are not sent')
export const webhookResume = turnOf('resume', 'Turn a webhook on again')

export const webhookRotate = defineOperation({
  ...common,
  name: 'webhooks rotate',
  method: 'POST',
  path: '/v1/webhooks/{id}/rotate',
  summary: 'Replace the secret; the old one is valid for 24 hours',
  example: { input: exampleWebhook, output: { ...withSecret, old_secret_until: '2026-01-03T03:04:05.000Z' } },
  run: async (ctx, { webhooks }, { id }) => ok(await (await webhooks()).rotate(id, ownerOf(ctx))),
})

export const webhookDelete = defineOperation({
  ...common,
  name: 'webhooks delete',
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  summary: 'Delete a webhook with its deliveries',
  run: async (ctx, { webhooks }, { id }) => ok(await (await webhooks()).remove(id, ownerOf(ctx))),
})

export const webhookDeliveries = defineOperation({
  name: 'webhooks deliveries',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List the deliveries of the last 90 days, newest first',
  scope: 'jobs',
  params: { id: webhookIdParam, limit: limitParam({ max: 100, fallback: 20 }), cursor: cursorParam(z.int()) },
  document: deliveryListDocument,
  answer: deliveryListAnswer,
  example: { input: exampleWebhook, output: { data: [delivery], has_more: false, next_cursor: null } },
  uses: ['webhooks'],
  run: async (ctx, { webhooks }, { id, limit, cursor }) => {
    const page = { limit: limit + 1, ...(cursor !== undefined && { before: cursor }) }
    const rows = await (await webhooks()).deliveries(id, page, ownerOf(ctx))
    return ok(pageOf(rows, limit, 'number', ({ number: _, ...one }) => one))
  },
})

export const webhookReplay = defineOperation({
  name: 'webhooks replay',
  method: 'POST',
  path: '/v1/webhooks/{id}/deliveries/{delivery}/replay',
  summary: 'Send a delivery again with the same id',
  scope: 'jobs',
  params: { id: webhookIdParam, delivery: deliveryIdParam },
  document: deliveryDocument,
  answer: deliveryAnswer,
  statuses: { 202: 'the delivery is queued' },
  example: { input: { ...exampleWebhook, delivery: delivery.id }, output: delivery },
  uses: ['webhooks'],
  run: async (ctx, { webhooks }, { id, delivery: message }) => ({
    status: 202,
    answer: await (await webhooks()).replay(id, message, ownerOf(ctx)),
  }),
})
