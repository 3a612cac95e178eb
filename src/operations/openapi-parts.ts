import type { z } from 'zod'
import { jobFinishedEvent, type MonitorEvent, monitorEvent } from '../answers/webhooks.ts'
import { ERRORS, type ErrorCode } from '../base/errors.ts'
import type { Operation } from './operation.ts'
import { pathNames } from './path.ts'

type Schema = Record<string, unknown>

export const PROBLEM: Schema = {
  type: 'object',
  description: 'A problem detail (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code'],
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'page of this service that explains the code' },
    title: { type: 'string', description: 'what kind of problem it is' },
    status: { type: 'integer', description: 'the HTTP status' },
    detail: { type: 'string', description: 'what is wrong, with which value, and what is accepted' },
    instance: { type: 'string', description: 'the X-Request-Id of the request' },
    code: { type: 'string', enum: Object.keys(ERRORS), description: 'stable error code; see docs/errors.md' },
    parameter: { type: 'string', description: 'the invalid parameter, if one caused the problem' },
    received: { type: 'integer', description: 'with wrong_offset: number of records already received' },
    errors: {
      type: 'array',
      description: 'all that is wrong with the input, if it is more than one thing; the problem is the first',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          code: { type: 'string', description: 'as of a problem' },
          parameter: { type: 'string', description: 'the invalid parameter, if one caused the problem' },
          detail: { type: 'string', description: 'what is wrong, in a sentence' },
        },
      },
    },
  },
}

export const HEADERS: Schema = {
  'X-Request-Id': { description: 'Id of the request, as in the log', schema: { type: 'string' } },
  RateLimit: {
    description: 'Remaining requests: `"default";r=50;t=30` means 50 requests within 30 seconds',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'Rate limit: `"default";q=60;w=60` means 60 requests in 60 seconds',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Number of seconds to wait before repeating the request', schema: { type: 'integer' } },
}
const referred = (...names: readonly string[]): Schema =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** The header fields of an answer. */
export const headersOf = ({ scope }: Pick<Operation, 'scope'>): Schema =>
  scope === undefined ? referred('X-Request-Id') : referred('X-Request-Id', 'RateLimit', 'RateLimit-Policy')

/** Causes of a problem: an example of its sentence. */
const DETAILS: Readonly<Partial<Record<ErrorCode, string>>> = {
  invalid_parameter:
    'timeout: "soon" is not a duration: write a number and a unit (ms, s, m, h, d), such as 30s or 1m30s',
  unauthorized: 'give a key as "Authorization: Bearer …" or "X-API-Key: …"',
  forbidden:
    'this needs the scope read, and this key has verify: ask the operator for a key made with --scopes verify,read',
  not_found: 'there is no job "job_AAAAAAAAAAAAAAAAAAAAAA"',
  rate_limited: '60 requests a minute are allowed; try again in 12 s',
  overloaded: '512 requests are in progress; try again in a moment',
}

/** Whether it changes an object whose state may not permit it. */
const hasState = ({ method, path }: Operation): boolean =>
  (method === 'POST' || method === 'PUT') && path.startsWith('/v1/jobs/')

/** The problems that an operation may answer with, by status. */
export function problems(operation: Operation): Schema {
  const { scope, method, path, idempotent } = operation
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const codes: readonly ErrorCode[] = [
    'invalid_parameter',
    ...(scope === undefined ? [] : (['unauthorized', 'forbidden'] as const)),
    ...(pathNames(path).length > 0 ? (['not_found'] as const) : []),
    ...(hasState(operation) ? (['wrong_state'] as const) : []),
    ...(idempotent ? (['idempotency_key_in_use'] as const) : []),
    ...(hasBody ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(path === '/v1/health' ? [] : (['rate_limited', 'internal', 'overloaded', 'timeout'] as const)),
  ]
  const taken = new Set(Object.keys(operation.statuses ?? {}))
  return {
    ...Object.fromEntries(
      codes
        .filter((code) => !taken.has(String(ERRORS[code].status)))
        .map((code) => [ERRORS[code].status, problem(code, ERRORS[code].title)]),
    ),
    default: problem(undefined, 'Another problem; see `code`'),
  }
}

function problem(code: ErrorCode | undefined, description: string): Schema {
  const { status, title } = ERRORS[code ?? 'timeout']
  const waits = status === 429 || status === 503 || status === 409
  const example = {
    type: `/docs/errors#${code ?? 'timeout'}`,
    ...{ title, status, detail: (code && DETAILS[code]) ?? title },
    instance: '6c2c2f3e-5d0a-4f0e-9f61-6a1f6f0a5f0e',
    code: code ?? 'timeout',
  }
  return {
    description,
    headers: referred('X-Request-Id', ...(waits ? ['Retry-After'] : [])),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example } },
  }
}

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

const WEBHOOK_HEADERS = [
  ['webhook-id', 'id of the message; a repeated delivery has the same id', 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W'],
  ['webhook-timestamp', 'time of sending, in seconds since 1970', '1767323045'],
  [
    'webhook-signature',
    'one signature, or two separated by a space: HMAC-SHA-256 of `id.timestamp.body`',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
] as const

/**
 * The messages that the service sends to webhooks (Standard Webhooks): the `webhooks` of the document. `schemaOf`
 * returns the JSON Schema of a body.
 */
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
          parameters: WEBHOOK_HEADERS.map(([name, description, value]) => ({
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
