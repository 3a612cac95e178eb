import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changesAnswer, historyAnswer, type Saved, saved } from '../../src/answers/stored.ts'
import { storedService } from '../../src/monitors/stored.ts'
import { DialError } from '../../src/net/smtp/dial.ts'
import { labApp, labDeps, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { labProblem } from '../lab/problem.ts'
import { UNBOUNDED } from '../lab/storage.ts'
import { labWorld } from '../lab/world.ts'

const DAY_MS = 86_400_000
let nowMs = Date.UTC(2026, 0, 2, 3, 4, 5)
const world = labWorld(
  {
    'a.example': { MX: [[10, 'mx.a.example']], TXT: ['v=spf1 -all'] },
    '_dmarc.a.example': { TXT: ['v=DMARC1; p=none; rua=mailto:reports@a.example'] },
    'mx.a.example': { A: ['45.53.5.1'] },
  },
  { now: () => nowMs, dial: () => Promise.reject(new DialError('connect_refused', labProblem('nobody is there'))) },
)
const keys = [labKey('mine', ['read', 'verify']), labKey('other', ['read', 'verify']), labKey('admin', ['admin'])]
let inForce = keys
let app: FastifyInstance
let database: Awaited<ReturnType<typeof labDatabase>>
beforeAll(async () => {
  database = await labDatabase()
  const stored = storedService({
    open: async () => database,
    storage: UNBOUNDED,
    now: () => nowMs,
    log: world.log,
    maxStored: 12,
  })
  app = await labApp(world, { deps: labDeps(world, { stored: async () => stored }), keys: () => inForce })
})
afterAll(() => app.close())

type Asked = {
  readonly key?: string | undefined
  readonly accept?: string
  readonly method?: 'GET' | 'DELETE' | 'POST'
}
async function call(url: string, { key = 'mine', accept, method = 'GET' }: Asked = {}, payload?: object) {
  const headers = { ...(key !== '' && { authorization: `Bearer ${key}` }), ...(accept && { accept }) }
  return app.inject({ method, url, headers, ...(payload && { payload }) })
}
async function stored(url: string): Promise<Saved> {
  const response = await call(url)
  expect([response.statusCode, response.body]).toEqual([200, expect.stringContaining('"saved"')])
  return saved.parse(response.json().saved)
}

const CHECK = '/v1/check?domain=a.example&save=true'
const VERIFY = '/v1/verify?email=Joe.Doe@a.example&save=true'

it('is the answer as it was, with its id and date; the id has 128 random bits', async () => {
  const response = await call(CHECK)
  const { saved: place, ...answer } = response.json()
  expect(place).toEqual({
    id: expect.stringMatching(/^[\w-]{22}$/),
    url: `/r/${place.id}`,
    expires_at: '2026-04-02T03:04:05.000Z',
  })
  const kept = await call(place.url)
  const { kind, id, saved_at, expires_at, ...rest } = kept.json()
  expect(rest).toEqual(answer)
  expect([kind, id, saved_at, expires_at]).toEqual(['check', place.id, '2026-01-02T03:04:05.000Z', place.expires_at])
  expect(kept.headers).toMatchObject({
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
    vary: expect.stringContaining('Accept'),
  })
})

it.each([
  ['check', CHECK, 'a.example'],
  ['report', '/v1/report?domain=a.example&save=true', 'a.example'],
  ['verify', VERIFY, 'J***@a.example'],
  ['blacklist', '/v1/blacklist?ip=45.53.9.9&save=true', '45.53.9.9'],
])('%s: HTML, Markdown and JSON by Accept or format, without a key', async (kind, url, shown) => {
  const place = await stored(url)
  const html = await call(place.url, { key: '', accept: 'text/html,*/*;q=0.8' })
  expect(html.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'x-robots-tag': 'noindex, nofollow',
  })
  expect(html.body).toMatch(/Stored answer of <time [^>]*>2026-01-02 03:04 UTC</)
  expect(html.body).toContain(shown)
  expect((await call(`${place.url}?format=markdown`, { key: '' })).headers['content-type']).toContain('text/markdown')
  expect((await call(`${place.url}?format=json`, { key: '', accept: 'text/html' })).json().kind).toBe(kind)
})

it('what-if too, by its body', async () => {
  const body = {
    domain: 'a.example',
    records: [{ name: '@', type: 'TXT', value: 'v=spf1 a -all' }],
    save: true,
    expires_in: '30d',
  }
  const response = await call('/v1/check', { method: 'POST' }, body)
  expect(response.json().saved?.expires_at, response.body).toBe('2026-02-01T03:04:05.000Z')
  expect((await call(response.json().saved.url)).json()).toMatchObject({ kind: 'what-if', before: {}, after: {} })
})

describe('who reads it', () => {
  it('sees mailboxes with a key only', async () => {
    const place = await stored(VERIFY)
    for (const format of ['json', 'html', 'markdown'])
      expect((await call(`${place.url}?format=${format}`, { key: '' })).body).not.toMatch(/joe|doe@/i)
    expect((await call(place.url, { key: 'other' })).json().email).toMatch(/^joe\.doe@a\.example$/i)
  })
  it('sees who wrote a message with a key only', async () => {
    const payload = 'From: "Joe Doe, via doe@b.example" <joe.doe@c.example>\r\nSubject: A call for Joe\r\n\r\nx\r\n'
    const headers = { authorization: 'Bearer mine', 'content-type': 'message/rfc822' }
    const response = await app.inject({ method: 'POST', url: '/v1/message?save=true', headers, payload })
    const { url } = saved.parse(response.json().saved)
    for (const format of ['json', 'html', 'markdown']) {
      expect((await call(`${url}?format=${format}`, { key: '' })).body).not.toMatch(/\b(?:joe|doe)\b/i)
      expect((await call(`${url}?format=${format}`)).body).toMatch(/Joe Doe/)
    }
    expect((await call(url, { method: 'DELETE' })).statusCode).toBe(200)
  })
  it.each<[string, string, Record<string, string>, RegExp]>([
    ['this machine', '127.0.0.1', {}, /joe\.doe/i],
    ['another machine', '45.53.1.1', {}, /j\*\*\*@/i],
    ['behind a proxy on this machine', '127.0.0.1', { 'x-forwarded-for': '45.53.1.1' }, /j\*\*\*@/i],
  ])('sees mailboxes while no key is in force: %s', async (_, remoteAddress, headers, email) => {
    const { url } = await stored(VERIFY)
    inForce = []
    const read = await app.inject({ url: `${url}?format=json`, remoteAddress, headers })
    inForce = keys
    await call(url, { method: 'DELETE' })
    expect(read.json().email).toMatch(email)
  })
  it('needs no key, and not a wrong one', async () => {
    const { url } = await stored(CHECK)
    const codes = ['', 'mine', 'other', 'nonsense'].map(async (key) => (await call(url, { key })).statusCode)
    expect(await Promise.all(codes)).toEqual([200, 200, 200, 401])
  })
  it('may come by a link from anywhere, and not by an image', async () => {
    const { url } = await stored(CHECK)
    const from = (dest: string, mode: string) =>
      app.inject({ url, headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode, 'sec-fetch-dest': dest } })
    expect((await from('document', 'navigate')).statusCode).toBe(200)
    expect((await from('image', 'no-cors')).statusCode).toBe(403)
  })
})

it('is removed by the key that stored it, or an admin', async () => {
  const [one, two] = [await stored(CHECK), await stored(CHECK)]
  const remove = async (url: string, key: string) => (await call(url, { key, method: 'DELETE' })).statusCode
  expect([await remove(one.url, ''), await remove(one.url, 'other'), await remove(one.url, 'mine')]).toEqual([
    401, 404, 200,
  ])
  expect(await remove(two.url, 'admin')).toBe(200)
  const three = await stored(CHECK) // of two that remove it at once, one finds it gone
  expect((await Promise.all([remove(three.url, 'mine'), remove(three.url, 'mine')])).sort()).toEqual([200, 404])
  expect((await call(one.url)).statusCode).toBe(404)
})

it('has a history by name, for its key alone', async () => {
  const list = async (query: string, key = 'mine') =>
    historyAnswer.parse((await call(`/v1/history?${query}`, { key })).json())
  const { data } = await list('domain=a.example')
  expect(new Set(data.map(({ kind }) => kind))).toEqual(new Set(['check', 'report', 'verify', 'what-if']))
  expect((await list('email=joe.doe@A.example')).data[0]).toMatchObject({
    kind: 'verify',
    status: 'unreachable',
    score: null,
  })
  expect((await list('ip=45.53.9.9')).data).toHaveLength(1)
  expect((await list('domain=a.example', 'other')).data).toEqual([])
  expect((await list('domain=a.example', 'admin')).data).toHaveLength(data.length)
  const first = await list('domain=a.example&limit=1')
  expect(first).toMatchObject({ has_more: true, data: [data[0]] })
  expect((await list(`domain=a.example&limit=1&cursor=${first.next_cursor}`)).data).toEqual([data[1]])
})

it.each([
  ['/v1/history', 'missing_parameter'],
  ['/v1/history?domain=a.example&ip=45.53.9.9', 'invalid_parameter'],
  ['/v1/history?email=nobody', 'invalid_parameter'],
  ['/v1/check?domain=a.example&expires_in=30d', 'invalid_parameter'],
  ['/v1/check?domain=a.example&save=yes', 'invalid_parameter'],
  ['/v1/check?domain=a.example&save=true&expires_in=731d', 'invalid_duration'],
  ['/v1/check?domain=a.example&save=true&expires_in=1s', 'invalid_duration'],
  ['/r/nonsense', 'not_found'],
  ['/r/AAAAAAAAAAAAAAAAAAAAAA', 'not_found'],
])('%s is %s', async (url, code) => expect((await call(url)).json().code).toBe(code))

// Bound: src/monitors/stored.ts MAX_STORED
it('keeps no more than so many of a key', async () => {
  let response = await call(CHECK)
  for (let i = 0; i < 20 && response.statusCode === 200; i++) response = await call(CHECK)
  expect([response.statusCode, response.json().code]).toEqual([409, 'limit_reached'])
  expect((await call(CHECK, { key: 'other' })).statusCode).toBe(200)
})

it('is gone when it has expired: the content at once, and the id after 90 days more', async () => {
  const response = await call(`${CHECK}&expires_in=1h`, { key: 'other' })
  const { url } = response.json().saved
  nowMs += 3_600_001
  expect((await call(url)).json().code).toBe('gone')
  const rows = async () =>
    (await database.pool.query('SELECT answer FROM mailsonde.stored_answers WHERE id = $1', [url.slice(3)])).rows
  await call(CHECK, { key: 'admin' }) // the next one that is stored sweeps
  for (let i = 0; i < 50 && (await rows())[0]?.answer !== null; i++) await new Promise((done) => setTimeout(done, 20))
  expect(await rows()).toEqual([{ answer: null }])
  expect((await call(url)).json().code).toBe('gone')
  nowMs += 91 * DAY_MS
  await call(CHECK, { key: 'admin' })
  for (let i = 0; i < 50 && (await rows()).length > 0; i++) await new Promise((done) => setTimeout(done, 20))
  expect((await call(url)).json().code).toBe('not_found')
})

it('says in words what differs between two answers about the same thing', async () => {
  const place = async (url: string) => saved.parse((await call(url, { key: 'admin' })).json().saved).id
  const as = async (value: string) => {
    const body = { domain: 'a.example', records: [{ name: '@', type: 'TXT', value }], save: true }
    return saved.parse((await call('/v1/check', { method: 'POST', key: 'admin' }, body)).json().saved).id
  }
  const [one, two] = [await as('v=spf1 -all'), await as('v=spf1 ip4:45.53.5.1 ~all')]
  const compared = await call(`/v1/changes?from=${one}&to=${two}`)
  expect(changesAnswer.parse(compared.json())).toMatchObject({
    from: { id: one, kind: 'what-if' },
    lines: expect.arrayContaining([expect.stringContaining('SPF: the record ends in "~all" instead of "-all"')]),
  })
  const codes = [await place(CHECK), await place('/v1/check?domain=b.example&save=true')]
  for (const [from, to] of [
    [one, codes[0]],
    [codes[0], codes[1]],
  ] as const) {
    const refused = await call(`/v1/changes?from=${from}&to=${to}`)
    expect([refused.statusCode, refused.json().code]).toEqual([400, 'invalid_parameter'])
  }
})
