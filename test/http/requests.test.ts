import { connect } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { endSlowBodies } from '../../src/http/bodies.ts'
import { createLogger } from '../../src/log.ts'
import { defineOperation, ok } from '../../src/operations/operation.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { labApp } from '../lab/app.ts'
import { labWorld } from '../lab/world.ts'

const operations = await allOperations()

let app: FastifyInstance | undefined
afterEach(async () => {
  await app?.close()
  app = undefined
})

/** What a server answers to bytes on a socket, until it closes. */
function exchange(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let said = ''
    socket.on('data', (chunk) => (said += chunk))
    socket.on('close', () => resolve(said))
    socket.on('error', reject)
  })
}

const start = async (options: Parameters<typeof labApp>[1] = {}): Promise<string> => {
  app = await labApp(labWorld(), options)
  return app.listen({ host: '127.0.0.1', port: 0 })
}

it.each<[string, string, number, string]>([
  [
    'headers of 64 KiB',
    `GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX-A: ${'a'.repeat(65_536)}\r\n\r\n`,
    413,
    'payload_too_large',
  ],
  ['no HTTP', 'EHLO a.example\r\n\r\n', 400, 'invalid_parameter'],
  [
    'two lengths (request smuggling)',
    'POST /v1/peer/register HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    400,
    'invalid_parameter',
  ],
  [
    'two Host fields',
    'GET /v1/health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    400,
    'invalid_parameter',
  ],
  [
    'a Host with a login',
    'GET /v1/ready HTTP/1.1\r\nHost: evil.com@localhost\r\nConnection: close\r\n\r\n',
    400,
    'invalid_parameter',
  ],
  [
    'a Host that is a path',
    'GET /v1/ready HTTP/1.1\r\nHost: localhost/v1\r\nConnection: close\r\n\r\n',
    400,
    'invalid_parameter',
  ],
  [
    'a target for another host',
    'GET http://evil.example/v1/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    400,
    'invalid_parameter',
  ],
  [
    'a coding before chunked that is not known (request smuggling)',
    'POST /v1/peer/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: xchunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    400,
    'invalid_parameter',
  ],
  [
    'chunked twice (request smuggling)',
    'POST /v1/peer/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    400,
    'invalid_parameter',
  ],
])('%s: a problem like any other', async (_, bytes, status, code) => {
  const said = await exchange(await start(), bytes)
  const [head = '', body = ''] = said.split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toMatch(/^content-type: application\/problem\+json/im)
  expect(JSON.parse(body)).toMatchObject({ status, code, instance: /^x-request-id: (\S+)/im.exec(head)![1] })
})

it.each([
  ['a host and a port', 'Host: localhost:8080'],
  ['an IPv6 literal', 'Host: [::1]:8080'],
  ['a target in absolute form', 'Host: localhost', 'http://localhost/v1/ready'],
])('%s is taken', async (_, host, target = '/v1/ready') => {
  const said = await exchange(await start(), `GET ${target} HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`)
  expect(said).toMatch(/^HTTP\/1\.1 200 /)
})

// Bound: src/http/server.ts BODY_LIMIT
it.each<[string, string, string, number, string]>([
  ['a body over 64 KiB', 'application/json', JSON.stringify({ url: 'a'.repeat(65_536) }), 413, 'payload_too_large'],
  ['a body that is no JSON', 'application/json', '{', 400, 'invalid_parameter'],
  ['a body that is a list', 'application/json', '[]', 400, 'invalid_parameter'],
  ['a body that reaches for the prototype', 'application/json', '{"__proto__":{"a":1}}', 400, 'invalid_parameter'],
  ['an empty body', 'application/json', '', 400, 'missing_parameter'],
  ['text', 'text/plain', '{}', 415, 'unsupported_media_type'],
  ['a form', 'application/x-www-form-urlencoded', 'url=a', 415, 'unsupported_media_type'],
])('%s', async (_, type, payload, status, code) => {
  app = await labApp(labWorld())
  const url = '/v1/peer/register'
  const response = await app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
  expect([response.statusCode, response.json().code]).toEqual([status, code])
})

it.each([
  ['/v1/peer/register', 65_536],
  ['/v1/check', 1_089_536], // an overlay of 512 kB, every character of it escaped
])('a body of %s over %i bytes is refused, with the bound in words', async (url, limit) => {
  app = await labApp(labWorld())
  const headers = { 'content-type': 'application/json' }
  const response = await app.inject({ method: 'POST', url, headers, payload: `"${'a'.repeat(limit)}"` })
  expect(response.json()).toMatchObject({
    status: 413,
    code: 'payload_too_large',
    detail: `the body is larger than ${limit} bytes`,
  })
})

it('takes an overlay of 512 kB in a body, and no more', async () => {
  app = await labApp(labWorld({ 'a.example': {} }))
  const line = '; "a comment"\n'
  const zone = (length: number) => `@ A 45.53.5.1\n${line.repeat(40_000)}`.slice(0, length)
  const post = (length: number) =>
    app!.inject({ method: 'POST', url: '/v1/check', payload: { domain: 'a.example', zone: zone(length) } })
  expect((await post(512_000)).statusCode).toBe(200)
  const refused = await post(512_001)
  expect(refused.json()).toMatchObject({
    status: 413,
    code: 'payload_too_large',
    detail: expect.stringContaining('512000'),
  })
})

it.each<['GET' | 'POST' | 'DELETE', string, number, string]>([
  ['GET', '/v1/nowhere', 404, 'not_found'],
  ['GET', '/v1/peer/register', 405, 'method_not_allowed'],
  ['POST', '/v1/verify', 405, 'method_not_allowed'],
  ['DELETE', '/v1/peer/heartbeat', 405, 'method_not_allowed'],
  ['GET', '/v1/check%', 400, 'invalid_parameter'],
])('%s %s: %d', async (method, url, status, code) => {
  app = await labApp(labWorld())
  const response = await app.inject({ method, url })
  expect([response.statusCode, response.json().code]).toEqual([status, code])
  expect(response.json().instance).toBe(response.headers['x-request-id'])
})

it('names all that is wrong with an input, and the page of this service that explains it', async () => {
  app = await labApp(labWorld())
  const response = await app.inject({ url: '/v1/verify?timeout=soon&free=maybe&emial=x' })
  expect(response.json()).toMatchObject({
    type: '/docs/errors#unknown_parameter',
    code: 'unknown_parameter',
    parameter: 'emial',
    errors: [
      { code: 'unknown_parameter', parameter: 'emial' },
      { code: 'missing_parameter', parameter: 'email' },
      { code: 'invalid_duration', parameter: 'timeout' },
      { code: 'invalid_parameter', parameter: 'free' },
    ].map((one) => ({ ...one, detail: expect.any(String) })),
  })
  expect((await app.inject({ url: '/v1/verify?email=' })).json()).not.toHaveProperty('errors')
})

it.each([
  ['/v1/health', 200],
  ['/v1/check?domain=a.example', 200],
  ['/v1/check', 400],
  ['/v1/peer/register', 405],
])('HEAD %s: %d, without a body', async (url, status) => {
  app = await labApp(labWorld())
  const response = await app.inject({ method: 'HEAD', url })
  expect([response.statusCode, response.body]).toEqual([status, ''])
})

it.each(['/static/../../package.json', '/static/%2e%2e/%2e%2e/package.json', '/static/..%2f..%2fpackage.json'])(
  'leads nowhere out of the files of its page: %s',
  async (path) => {
    const lead = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    const [head, body] = (await exchange(await start(), lead)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1.1 404 /)
    expect(JSON.parse(body!)).toMatchObject({ code: 'not_found' })
  },
)

it('gives the head of a request 30 s, and its body a time of its own', async () => {
  await start()
  expect(app!.server).toMatchObject({ headersTimeout: 30_000, requestTimeout: 0 })
})

it('ends a request whose body trickles', async () => {
  const slow = fastify()
  endSlowBodies(slow, 50)
  slow.post('/', async () => ({}))
  const url = await slow.listen({ host: '127.0.0.1', port: 0 })
  const lead = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'
  const answer = await exchange(url, lead)
  await slow.close()
  expect(answer).toContain('the body was not received within 0.05 s')
})

it('names HEAD beside GET in Allow', async () => {
  app = await labApp(labWorld())
  const response = await app.inject({ method: 'POST', url: '/v1/verify' })
  expect(response.headers.allow).toBe('GET, HEAD')
})

/** An operation that waits until its signal fires, or until it is let go. */
function waiting() {
  const seen = { began: () => {}, ended: '' }
  const begun = new Promise<void>((resolve) => void (seen.began = resolve))
  let letGo = (): void => {}
  const held = new Promise<void>((resolve) => void (letGo = resolve))
  const operation = defineOperation({
    name: 'wait',
    method: 'GET',
    path: '/v1/wait',
    summary: 'waits',
    scope: 'read',
    params: {},
    answer: z.strictObject({ ended: z.string() }),
    uses: [],
    example: { input: {}, output: {} },
    deadlineMs: 10_000,
    run: async ({ signal }) => {
      seen.began()
      await Promise.race([held, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      seen.ended = signal.aborted ? String(signal.reason.name) : 'let go'
      return ok({ ended: seen.ended })
    },
  })
  return { operation, begun, letGo: () => letGo(), seen }
}

it('a caller that hangs up stops the work', async () => {
  const { operation, begun, seen } = waiting()
  const url = await start({ operations: [...operations, operation] })
  const controller = new AbortController()
  const asked = fetch(`${url}/v1/wait`, { signal: controller.signal }).catch(() => 'gone')
  await begun
  expect(app!.underWay()).toBe(1)
  controller.abort()
  expect(await asked).toBe('gone')
  await expect.poll(() => [seen.ended, app!.underWay()]).toEqual(['AbortError', 0])
})

it('while it stops, what runs is answered and nothing new but health', async () => {
  let draining = false
  const { operation, begun, letGo } = waiting()
  const url = await start({ operations: [...operations, operation], draining: () => draining })
  const asked = fetch(`${url}/v1/wait`)
  await begun
  draining = true
  const late = await fetch(`${url}/v1/peer/geo?ip=192.0.2.1`)
  expect([late.status, ((await late.json()) as { code: string }).code]).toEqual([503, 'overloaded'])
  expect((await fetch(`${url}/v1/ready`)).status).toBe(503)
  expect((await fetch(`${url}/v1/health`)).status).toBe(200)
  const closed = app!.close()
  letGo()
  expect(await (await asked).json()).toEqual({ ended: 'let go' })
  await closed
})

/** Processor time of this thread, which is what counts: a busy machine holds the event loop too. */
const threadMs = (): number => (process.threadCpuUsage ?? process.cpuUsage)().user / 1_000

it('names in the log the operation that held the event loop', async () => {
  const lines: string[] = []
  const operation = defineOperation({
    name: 'hold',
    method: 'GET',
    path: '/v1/wait',
    summary: 'holds the event loop',
    scope: 'read',
    params: {},
    answer: z.strictObject({}),
    uses: [],
    example: { input: {}, output: {} },
    deadlineMs: 10_000,
    run: async () => {
      for (const end = threadMs() + 200; threadMs() < end; );
      return ok({})
    },
  })
  const url = await start({ operations: [operation], onLine: (line) => lines.push(line) })
  await expect
    .poll(
      async () => {
        await (await fetch(`${url}/v1/wait`)).text()
        return lines
          .filter((line) => line.includes('the event loop was blocked'))
          .map((line) => JSON.parse(line).operations)[0]
      },
      { timeout: 15_000 }, // 200 ms of processor time take seconds on a busy machine
    )
    .toEqual(['/v1/wait'])
})

it('takes no more than it may have under way', async () => {
  const { operation, begun, letGo } = waiting()
  const url = await start({ operations: [...operations, operation], maxConcurrency: 1 })
  const asked = fetch(`${url}/v1/wait`)
  await begun
  const second = await fetch(`${url}/v1/wait`)
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1'])
  letGo()
  await asked
})

it('masks mail addresses in its log, and logs neither query nor key', async () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'debug', format: 'json', addresses: false }, (line) => lines.push(line))
  app = await labApp(labWorld(), { logger })
  await app.inject({ url: '/v1/verify?email=joe.bloggs@a.example', headers: { 'x-api-key': 'very-secret' } })
  await app.inject({ url: '/v1/nowhere/joe.bloggs@a.example' })
  logger.warn({ email: 'joe.bloggs@a.example' }, 'refused joe.bloggs@a.example')
  await app.close() // refusals are logged together
  expect(lines.length).toBeGreaterThan(2)
  expect(lines.join()).not.toMatch(/joe\.bloggs|very-secret/)
  expect(lines.join()).toContain('j***@a.example')
})

it.each([
  ['all is well', undefined, 200, 'ready', 'ok'],
  ['no resolver answers', 'no answer in time', 503, 'not_ready', 'failed'],
])('ready: %s', async (_, reason, status, word, resolver) => {
  const world = labWorld()
  const { labDeps } = await import('../lab/app.ts')
  const probes = { resolver: async () => reason, store: async () => undefined, queue: async () => undefined }
  app = await labApp(world, { deps: labDeps(world, { probes }) })
  const response = await app.inject({ url: '/v1/ready' })
  expect(response.statusCode).toBe(status)
  expect(response.json()).toMatchObject({
    status: word,
    dependencies: [
      { name: 'resolver', status: resolver },
      { name: 'store', status: 'ok' },
      { name: 'queue', status: 'ok' },
    ],
  })
})
