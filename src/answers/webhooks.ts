import { z } from 'zod'
import { type AnswerOf, listOf } from './answer.ts'
import { jobAnswer } from './jobs.ts'
import { monitorKind, monitorPoint, monitorState } from './monitors.ts'
import { change } from './stored.ts'

const time = z.iso.datetime()

/** The types of messages that webhooks carry. */
export const eventType = z.enum(['job.finished', 'monitor.changed', 'monitor.recovered', 'monitor.failing'])

/** A webhook. Its secret is only in the answer that created or rotated it. */
export const webhookAnswer = z
  .strictObject({
    id: z.string(),
    url: z.string(),
    state: z.enum(['on', 'off']),
    reason: z.string().nullable().meta({ description: 'why the webhook is off' }),
    created_at: time,
    secret: z.string().optional(),
    old_secret_until: time.nullable().meta({ description: 'end of the validity of the previous secret' }),
  })
  .meta({ id: 'Webhook' })
export type WebhookAnswer = AnswerOf<typeof webhookAnswer>
export const webhookListAnswer = listOf(webhookAnswer)

/** One message to a webhook, with its attempts. */
export const deliveryAnswer = z
  .strictObject({
    id: z.string().meta({ description: 'the webhook-id header of every attempt' }),
    type: eventType,
    state: z.enum(['pending', 'delivered', 'failed']),
    created_at: time,
    next_attempt_at: time.nullable(),
    attempts: z.array(
      z.strictObject({ time, status: z.int().nullable(), error: z.string().nullable(), duration_ms: z.int() }),
    ),
    body: z.string(),
  })
  .meta({ id: 'WebhookDelivery' })
export type DeliveryAnswer = AnswerOf<typeof deliveryAnswer>
export const deliveryListAnswer = listOf(deliveryAnswer)

/** The content of a message about a monitor: the body of a webhook, and the input of the other templates. */
export const monitorEvent = z.strictObject({
  type: z.enum(['monitor.changed', 'monitor.recovered', 'monitor.failing']),
  timestamp: z.iso.datetime(),
  data: z.strictObject({
    monitor: z.strictObject({
      id: z.string(),
      name: z.string(),
      kind: monitorKind,
      target: z.string(),
      state: monitorState,
    }),
    title: z.string(),
    lines: z.array(z.string()),
    changes: z.array(change),
    count: z.int(),
    last: monitorPoint.nullable(),
    test: z.literal(true).optional(),
  }),
})
export type MonitorEvent = z.output<typeof monitorEvent>

/** The body of a webhook about the end of a job. */
export const jobFinishedEvent = z.strictObject({
  type: z.literal('job.finished'),
  timestamp: z.iso.datetime(),
  data: jobAnswer,
})
