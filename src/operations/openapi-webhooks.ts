import type { z } from 'zod'
import { jobFinishedEvent, type MonitorEvent, monitorEvent } from '../answers/events.ts'
import type { Operation } from './operation.ts'

type Schema = Record<string, unknown>

const TIMESTAMP = '2026-01-02T03:04:05.000Z'

const EXAMPLE: MonitorEvent = {
  type: 'monitor.changed',
  timestamp: TIMESTAMP,
  data: {
    monitor: {
      id: 'mon_3vK0aYx1Qh2b',
      name: 'our domain',
      kind: 'check',
      target: 'example.org',
      state: 'bad',
    },
    title: 'example.org: SPF: include of mail.example gone; 7 lookups instead of 12',
    lines: ['SPF: include of mail.example gone; 7 lookups instead of 12'],
    changes: [],
    count: 1,
    last: null,
  },
}

const HEADERS = [
  ['webhook-id', 'the id of the message; the same when it is sent again', 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W'],
  ['webhook-timestamp', 'when it was sent, in seconds since 1970', '1767323045'],
  [
    'webhook-signature',
    'one signature or two by space: HMAC-SHA-256 of `id.timestamp.body`',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
] as const

/** What the service sends to webhooks (Standard Webhooks): the `webhooks` of the document. `schemaOf` gives the JSON Schema of a body. */
export function describeWebhooks(operations: readonly Operation[], schemaOf: (schema: z.ZodType) => Schema): Schema {
  const job = operations.find(({ name }) => name === 'jobs show')?.example.output
  const types: readonly (readonly [type: string, summary: string, schema: z.ZodType, example: object])[] = [
    [
      'job.finished',
      'A bulk job has ended',
      jobFinishedEvent,
      { type: 'job.finished', timestamp: TIMESTAMP, data: job },
    ],
    ['monitor.changed', 'What a monitor watches has changed', monitorEvent, EXAMPLE],
    ['monitor.recovered', 'A condition of a monitor holds no more', monitorEvent, recovered()],
    ['monitor.failing', 'A monitor could not find out, three times in a row', monitorEvent, failing()],
  ]
  return Object.fromEntries(
    types.map(([type, summary, schema, example]) => [
      type,
      {
        post: {
          operationId: `on-${type.replace('.', '-')}`,
          summary,
          description: `The body of a webhook of type \`${type}\`, sent by Standard Webhooks. Anything but 2xx is sent again over 75 hours.`,
          tags: ['monitors'],
          security: [{}],
          parameters: HEADERS.map(([name, description, value]) => ({
            ...{ name, in: 'header', required: true, description, schema: { type: 'string' }, example: value },
          })),
          requestBody: { required: true, content: { 'application/json': { schema: schemaOf(schema), example } } },
          responses: {
            200: { description: 'Taken; any 2xx will do' },
            410: { description: 'Not wanted any more: the webhook is turned off' },
          },
        },
      },
    ]),
  )
}

const recovered = (): MonitorEvent => ({
  ...EXAMPLE,
  type: 'monitor.recovered',
  data: {
    ...EXAMPLE.data,
    title: 'example.org: on no blacklist any more',
    lines: ['on no blacklist any more', 'Blacklists: 192.0.2.1 is no longer on SpamCop'],
  },
})
const failing = (): MonitorEvent => ({
  ...EXAMPLE,
  type: 'monitor.failing',
  data: {
    ...EXAMPLE.data,
    title: 'example.org: the mail setup could not be checked 3 times in a row',
    lines: ['could not be checked 3 times in a row: SPF: no name server answered'],
    count: 1,
  },
})
