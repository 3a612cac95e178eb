import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient, MailsondeError } from './client.ts'

let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {}
const asked: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    asked.push({ method: request.method!, url: request.url!, headers: request.headers, body })
    answer(request, response)
  })
})
let url = ''
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
beforeAll(() => void (url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/below/`))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const client = () => createClient({ url, key: 'secret' })
const says = (value: unknown, status = 200): void => {
  answer = (_, response) => response.writeHead(status).end(typeof value === 'string' ? value : JSON.stringify(value))
}
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

it.each<[why: string, call: () => Promise<unknown>, request: string, body: string]>([
  [
    'a query',
    () => client().check({ domain: 'a.example', starttls: true }),
    'GET /below/v1/check?domain=a.example&starttls=true',
    '',
  ],
  [
    'what is undefined is left out',
    () => client().verify({ email: 'a+b@a.example', timeout: undefined as never }),
    'GET /below/v1/verify?email=a%2Bb%40a.example',
    '',
  ],
  ['a path', () => client().jobs.show('../x y'), 'GET /below/v1/jobs/..%2Fx%20y', ''],
  [
    'a body',
    () => client().whatIf({ domain: 'a.example', records: [] }),
    'POST /below/v1/check',
    '{"domain":"a.example","records":[]}',
  ],
  ['a path and a body', () => client().jobs.pause('j'), 'POST /below/v1/jobs/j/pause', '{}'],
  [
    'a path, a body and an id',
    () => client().monitors.change('m', { every: '12h' }),
    'PATCH /below/v1/monitors/m',
    '{"every":"12h"}',
  ],
  ['nothing', () => client().health(), 'GET /below/v1/health', ''],
  [
    'an upload',
    () => client().jobs.submit({ kind: 'check' }, 'domain\na.example\n'),
    'POST /below/v1/jobs?kind=check',
    'domain\na.example\n',
  ],
  [
    'JSON in place of a stream',
    () => client().probe({ target: 'a.example' }),
    'GET /below/probe?format=json&target=a.example',
    '',
  ],
])('%s', async (_, call, request, body) => {
  says({ fine: true })
  expect(await call()).toEqual({ fine: true })
  const last = asked.at(-1)!
  expect([`${last.method} ${last.url}`, last.body]).toEqual([request, body])
  expect(last.headers.authorization).toBe('Bearer secret')
})

it('uploads a stream, with its types and its name', async () => {
  says({ id: 'j' })
  const list = new Blob(['email\n', 'joe@a.example\n']).stream()
  await client().jobs.submit({}, list, { contentType: 'text/plain', contentEncoding: 'gzip', idempotencyKey: 'once' })
  const { headers, body } = asked.at(-1)!
  expect(body).toBe('email\njoe@a.example\n')
  expect(headers).toMatchObject({ 'content-type': 'text/plain', 'content-encoding': 'gzip', 'idempotency-key': 'once' })
})

it.each<[why: string, status: number, body: unknown, error: object]>([
  [
    'a problem',
    403,
    { code: 'forbidden', detail: 'not you', instance: 'r1' },
    { code: 'forbidden', status: 403, message: 'not you', requestId: 'r1' },
  ],
  ['a page', 502, '<html>', { code: 'unreadable', status: 502 }],
  ['no JSON', 200, 'well', { code: 'unreadable', status: 200 }],
  ['a problem that is none', 400, [1], { code: 'unreadable', message: 'the service answered 400' }],
])('%s rejects', async (_, status, body, error) => {
  says(body, status)
  const rejected = client().health()
  await expect(rejected).rejects.toBeInstanceOf(MailsondeError)
  await expect(rejected).rejects.toMatchObject(error)
})

it('tells when to ask again', async () => {
  answer = (_, response) => response.writeHead(429, { 'retry-after': '7' }).end('{"code":"rate_limited"}')
  await expect(client().health()).rejects.toMatchObject({ retryAfter: 7 })
})

it('reads lines as they come, however they are cut', async () => {
  answer = (_, response) => {
    for (const piece of ['{"ip":"1"}\n{"i', 'p":"ä', '"}\r\n', '{"ip":"3"}']) response.write(piece)
    response.end()
  }
  expect(await all(client().blacklistBulk({ ips: ['x'] }))).toEqual([{ ip: '1' }, { ip: 'ä' }, { ip: '3' }])
})

it('reads events, and ends with the problem of one', async () => {
  answer = (_, response) =>
    response.end(
      ': hello\n\nevent: part\ndata: {"spf":{}}\n\nevent: answer\ndata: {"score":\ndata: 9}\n\nevent: answer\ndata: {"cut',
    )
  expect(await all(client().live('check', { domain: 'a.example' }))).toEqual([
    { event: 'part', data: { spf: {} } },
    { event: 'answer', data: { score: 9 } },
  ])
  expect(asked.at(-1)!.headers.accept).toBe('text/event-stream')
  answer = (_, response) => response.end('event: error\ndata: {"code":"timeout","detail":"late"}\n\n')
  await expect(all(client().live('check', { domain: 'a.example' }))).rejects.toMatchObject({ code: 'timeout' })
})

it('goes on behind the last row where a download breaks off', async () => {
  answer = (request, response) => {
    const after = Number(new URL(request.url!, 'http://x').searchParams.get('cursor') ?? 1)
    response.write(`{"line":${after + 1}}\n{"line":${after + 2}}\n`)
    if (after < 5) setTimeout(() => response.destroy(), 10)
    else response.end()
  }
  const rows = await all(client().rows('j', { result: 'accepted' }))
  expect(rows.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7])
  expect(asked.at(-1)!.url).toBe('/below/v1/jobs/j/results?format=ndjson&result=accepted&cursor=5')
})

it('gives up a download that never gets on, and one that is refused', async () => {
  let asks = 0
  answer = (_, response) => {
    asks++
    response.write('{"line":2}\n')
    setTimeout(() => response.destroy(), 5)
  }
  await expect(all(client().rows('j'))).rejects.toThrow()
  expect(asks).toBe(6)
  says({ code: 'not_found', detail: 'no such job' }, 404)
  await expect(all(client().rows('j'))).rejects.toMatchObject({ code: 'not_found' })
})

it('stops when it is told to', async () => {
  answer = () => {}
  const stop = new AbortController()
  const asking = client().health({}, { signal: stop.signal })
  setTimeout(() => stop.abort(), 10)
  await expect(asking).rejects.toMatchObject({ name: 'AbortError' })
})

it('needs nothing but the platform: no package, no module of Node.js, no global of one runtime', () => {
  const folder = import.meta.dirname
  for (const name of readdirSync(folder).filter((one) => !one.endsWith('.test.ts'))) {
    const text = readFileSync(`${folder}/${name}`, 'utf8')
    for (const [, from] of text.matchAll(/from '([^']+)'/g)) expect(from).toMatch(/^\.\/\w+\.ts$/)
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    expect(code).not.toMatch(/\b(?:process|Buffer|require|Deno|Bun|window|document|setImmediate)\b/)
  }
})

it('says in words that a service cannot be reached', async () => {
  const away = createClient({ url: 'http://127.0.0.1:9' }).health()
  await expect(away).rejects.toMatchObject({
    name: 'MailsondeError',
    code: 'unreachable',
    status: 0,
    message: expect.stringMatching(/^the service at http:\/\/127.0.0.1:9 cannot be reached: ./),
  })
})
