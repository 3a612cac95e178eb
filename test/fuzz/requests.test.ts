import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sleep } from '../../src/base/deadline.ts'
import { isJsonRecord, type JsonRecord } from '../../src/base/json.ts'
import { storedService } from '../../src/monitors/stored.ts'
import { FetchError } from '../../src/net/fetch.ts'
import blacklistExample from '../../src/operations/examples/blacklist.json' with { type: 'json' }
import { idempotencyKeysOf } from '../../src/store/postgres/idempotency-keys.ts'
import { labApp, labDeps } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { jobsOver } from '../lab/jobs.ts'
import { labMonitorServices } from '../lab/monitor-services.ts'
import { labProblem } from '../lab/problem.ts'
import { UNBOUNDED } from '../lab/storage.ts'
import { labWorld } from '../lab/world.ts'

/**
 * Whole requests, made from the OpenAPI document and then bent: whatever a caller sends, the answer is never a fault of
 * the service. `FUZZ_REQUESTS=1000000` makes a long run, `FUZZ_SEED` repeats one.
 */
const RUNS = Number(process.env.FUZZ_REQUESTS ?? 1_500)
const SEED = process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) }
/** Statuses of the service that are answers about others: what it needs is not there, or took too long. */
const NO_FAULT: readonly number[] = [502, 503, 504, 507]

let app: FastifyInstance
let stop: () => Promise<void>
let document: JsonRecord
beforeAll(async () => {
  const database = await labDatabase()
  const open = async () => database
  const world = labWorld({ 'hooks.example': { A: ['45.53.1.1'] } })
  const jobs = jobsOver(open, { log: world.log, maxUpload: 4_000_000 })
  const { services, deps: parts } = labMonitorServices(world, database, {
    runOnce: async () => blacklistExample,
    senders: { mail: async () => {}, publicUrl: 'https://watch.example' },
    mailRules: { recipients: ['example.org'], perDay: 1_000_000 },
  })
  const stored = storedService({ open, storage: UNBOUNDED, now: Date.now, log: world.log })
  const deps = labDeps(world, {
    jobs,
    stored: async () => stored,
    ...parts,
    idempotencyKeys: idempotencyKeysOf(async () => database.db),
    call: async () => {
      throw new FetchError('timeout', labProblem('the node does not answer'))
    },
  })
  app = await labApp(world, { deps })
  stop = async () => {
    await app.close()
    await services.stop()
    await jobs.stop()
  }
  document = (await app.inject({ url: '/openapi.json' })).json()
}, 60_000)
afterAll(() => stop())

/** Values that have broken something somewhere. */
const hostile = fc.constantFrom<unknown>(
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    '2147483648',
    '9223372036854775808',
    '99999999999999999999',
    'null',
    'true',
    '[]',
    '{}',
  ],
  ...[
    '\0',
    'a\0b',
    '\ud800',
    '\uFFFD',
    '\u202e',
    'ü'.repeat(1_900),
    `https://hooks.example/${'ü'.repeat(1_900)}`,
    'x'.repeat(70_000),
  ],
  ...[
    '../../x',
    "'; DROP TABLE jobs; --",
    '%00',
    '%ff',
    '%',
    '0000-01-01T00:00:00Z',
    '+275760-09-13T00:00:00.001Z',
    '9999-12-31T23:59:59Z',
  ],
  ...[
    'a@b.example',
    'a.example',
    '192.0.2.1',
    '::1',
    '"a b"@a.example',
    'job_AAAAAAAAAAAAAAAAAAAAAA',
    'AAAAAAAAAAAAAAAAAAAAAA',
  ],
  ...[0, -1, 1.5, 1e308, true, null, [], {}, [[[[]]]], { a: { b: {} } }],
)
const cursors = fc
  .oneof(
    fc.constantFrom<unknown>(
      0,
      -1,
      2 ** 31,
      2 ** 53,
      1e300,
      'x',
      null,
      [],
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59.999Z',
    ),
    fc.integer(),
  )
  .map((after) => Buffer.from(JSON.stringify({ after })).toString('base64url'))

type Schema = JsonRecord
const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A value that a schema describes, now and then one that it does not. */
function described(schema: unknown, name: string, depth = 0): fc.Arbitrary<unknown> {
  const fitting = fittingOf(isJsonRecord(schema) ? schema : {}, name, depth)
  return fc.oneof({ weight: 4, arbitrary: fitting }, { weight: 1, arbitrary: hostile })
}

function fittingOf(schema: Schema, name: string, depth: number): fc.Arbitrary<unknown> {
  if (name === 'cursor') return cursors
  const choices = itemsOf(schema.enum)
  if (choices.length > 0) return fc.constantFrom(...choices)
  if ('const' in schema) return fc.constant(schema.const)
  const others = [...itemsOf(schema.anyOf), ...itemsOf(schema.oneOf)]
  if (others.length > 0) return fc.oneof(...others.map((one) => described(one, '', depth)))
  const examples = [schema.example, ...itemsOf(schema.examples), schema.default].filter((one) => one !== undefined)
  const example = examples.length > 0 ? [fc.constantFrom(...examples)] : []
  const { type } = schema
  if (type === 'integer' || type === 'number') return fc.oneof(...example, fc.integer({ min: -2, max: 2 ** 31 }))
  if (type === 'boolean') return fc.boolean()
  if (type === 'array' && depth < 4)
    return fc.oneof(...example, fc.array(described(schema.items, '', depth + 1), { maxLength: 4 }))
  if (type === 'object' && depth < 4) {
    const fields = Object.entries(isJsonRecord(schema.properties) ? schema.properties : {})
    const shaped = fc.record(
      Object.fromEntries(fields.map(([field, one]) => [field, described(one, field, depth + 1)])),
      { requiredKeys: [] },
    )
    return fc.oneof(...example, shaped, fc.dictionary(fc.string({ maxLength: 8 }), hostile, { maxKeys: 3 }))
  }
  return fc.oneof(...example, fc.string({ unit: 'grapheme', maxLength: 30 }))
}

const listOf = fc.oneof(
  fc.constantFrom(
    ...[
      'email\na@a.example\n',
      'a@a.example',
      '',
      '"',
      '\0',
      '{"items":["a@a.example"]}',
      '{"items":[',
      '"a@a.example"\n{',
    ],
    ...[
      'x\n'.repeat(400_000),
      ','.repeat(100_000),
      '"'.repeat(100_001),
      '['.repeat(5_000),
      `{"email":"a@a.example","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    ],
    ...[
      `email,${'n'.repeat(2_000)}\na@a.example,1`,
      '\ufeffemail\r\na@a.example\r\n',
      'PK\u0003\u0004',
      '%PDF-1.7',
      'a\0b@a.example\n',
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
)
const types = fc.constantFrom('text/csv', 'text/plain', 'application/x-ndjson', 'application/json', 'image/png', '')

type Ask = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly payload?: string
}
const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
const wellFormed = (value: unknown): string => encodeURIComponent(textOf(value).toWellFormed())

/** One request of an operation of the document. */
function requestOf(path: string, method: string, operation: Schema): fc.Arbitrary<Ask> {
  const parameters = itemsOf(operation.parameters).filter(isJsonRecord)
  const named = Object.fromEntries(
    parameters.map((one) => {
      const schema = isJsonRecord(one.schema)
        ? { ...one.schema, ...(one.example !== undefined && { example: one.example }) }
        : {}
      const name = String(one.name)
      const value = described(schema, name)
      return [`${String(one.in)} ${name}`, one.in === 'path' ? value : fc.option(value, { nil: undefined })]
    }),
  )
  const body = isJsonRecord(operation.requestBody) ? operation.requestBody : undefined
  const content = body && isJsonRecord(body.content) ? body.content : {}
  const json = isJsonRecord(content['application/json']) ? content['application/json'] : undefined
  const isUpload = body !== undefined && Object.keys(content).length > 1
  const payload = isUpload
    ? listOf
    : json
      ? described(
          {
            ...(isJsonRecord(json.schema) ? json.schema : {}),
            ...(json.example !== undefined && { example: json.example }),
          },
          '',
        ).map(textOf)
      : fc.constant(undefined)
  const stray = fc.option(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 5 }), hostile), {
    nil: undefined,
    freq: 12,
  })
  const asked = fc.record({
    given: fc.record(named),
    payload,
    type: types,
    stray,
    accept: fc.constantFrom('*/*', 'text/html', 'application/json', 'text/event-stream', 'x'),
  })
  return asked.map(({ given, payload: text, type, stray: other, accept }) => {
    let url = path
    const query: string[] = []
    const headers: Record<string, string> = { accept }
    for (const [key, value] of Object.entries(given)) {
      const [place = '', name = ''] = key.split(' ')
      if (value === undefined) continue
      if (place === 'path') url = url.replace(`{${name}}`, wellFormed(value).slice(0, 400) || 'x')
      else if (place === 'header')
        headers[name.toLowerCase()] = textOf(value)
          .replaceAll(/[^\x20-\x7e]/g, '?')
          .slice(0, 300)
      else query.push(`${name}=${wellFormed(value).slice(0, 12_000)}`)
    }
    if (other) query.push(`${wellFormed(other[0])}=${wellFormed(other[1]).slice(0, 500)}`)
    if (text !== undefined) headers['content-type'] = isUpload ? type : 'application/json'
    if (path.endsWith('/events')) query.push('format=json') // a stream does not end
    const whole = query.length === 0 ? url : `${url}?${query.join('&')}`
    return {
      method: method.toUpperCase() as Ask['method'],
      url: whole,
      headers,
      ...(text !== undefined && { payload: text }),
    }
  })
}

/** Paths that wait for others, or that stop what the test needs. */
const LEFT_OUT: readonly string[] = ['/v1/doctor', '/v1/self-check']

it('whatever is sent, the answer is never a fault of the service', async () => {
  const paths = isJsonRecord(document.paths) ? document.paths : {}
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    LEFT_OUT.includes(path) || !isJsonRecord(methods)
      ? []
      : Object.entries(methods).flatMap(([method, one]) => (isJsonRecord(one) ? [requestOf(path, method, one)] : [])),
  )
  expect(all.length).toBeGreaterThan(40)
  await fc.assert(
    fc.asyncProperty(fc.oneof(...all), async (request) => {
      const answer = await Promise.race([app.inject(request), sleep(20_000, new AbortController().signal)])
      if (!answer) throw new Error('no answer within 20 s')
      if (answer.statusCode >= 500 && !NO_FAULT.includes(answer.statusCode))
        throw new Error(`${answer.statusCode}: ${answer.body.slice(0, 500)}`)
    }),
    { numRuns: RUNS, endOnFailure: true, ...SEED },
  )
}, 36_000_000)
