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
  ['webhook-id', 'id of the message; a repeated delivery has the same id', 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W'],
  ['webhook-timestamp', 'time of sending, in seconds since 1970', '1767323045'],
  [
    'webhook-signature',
    'one signature, or two separated by a space: HMAC-SHA-256 of `id.timestamp.body`',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
] as const

/** The messages that the service sends to webhooks (Standard Webhooks): the `webhooks` of the document. `schemaOf` returns the JSON Schema of a body. */
export function describeWebhooks(operations: readonly Operation[], schemaOf: (schema: z.ZodType) => Schema): Schema {
  const job = operations.find(({ name }) => name === 'jobs show')?.example.output
  const types: readonly (readonly [type: string, summary: string, schema: z.ZodType, example: object])[] = [
    [
      'job.finished',
      'A bulk job has ended',
      jobFinishedEvent,
      { type: 'job.finished', timestamp: TIMESTAMP, data: job },
    ],
    ['monitor.changed', 'The target of a monitor has changed', monitorEvent, EXAMPLE],
    ['monitor.recovered', 'A condition of a monitor no longer holds', monitorEvent, recovered()],
    ['monitor.failing', 'Three runs of a monitor in a row had no result', monitorEvent, failing()],
  ]
  return Object.fromEntries(
    types.map(([type, summary, schema, example]) => [
      type,
      {
        post: {
          operationId: `on-${type.replace('.', '-')}`,
          summary,
          description: `Body of a webhook of type \`${type}\`, sent as Standard Webhooks specifies. After a response other than 2xx, delivery is retried over 75 hours.`,
          tags: ['monitors'],
          security: [{}],
          parameters: HEADERS.map(([name, description, value]) => ({
            ...{ name, in: 'header', required: true, description, schema: { type: 'string' }, example: value },
          })),
          requestBody: { required: true, content: { 'application/json': { schema: schemaOf(schema), example } } },
          responses: {
            200: { description: 'Accepted; any 2xx status does' },
            410: { description: 'No longer wanted: the webhook is turned off' },
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
    title: 'example.org: no longer on any blacklist',
    lines: ['no longer on any blacklist', 'Blacklists: 192.0.2.1 is no longer on SpamCop'],
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
