import type { FastifyInstance } from 'fastify'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type MonitorAnswer,
  monitorAnswer,
  monitorChangesAnswer,
  monitorHistoryAnswer,
  monitorRunAnswer,
} from '../../src/answers/monitors.ts'
import {
  deliveryListAnswer,
  type MonitorEvent,
  monitorEvent,
  webhookAnswer,
  webhookListAnswer,
} from '../../src/answers/webhooks.ts'
import { sleep } from '../../src/base/deadline.ts'
import { AppError } from '../../src/base/errors.ts'
import { FetchError } from '../../src/net/fetch.ts'
import type { PostRequest } from '../../src/net/post.ts'
import type { Mail } from '../../src/net/submit-mail.ts'
import blacklistExample from '../../src/operations/examples/blacklist.json' with { type: 'json' }
import { deliveriesOf } from '../../src/store/postgres/deliveries.ts'
import { monitorsOf } from '../../src/store/postgres/monitors.ts'
import { portfolioOf } from '../../src/store/postgres/portfolio.ts'
import { storageError } from '../../src/store/postgres/problems.ts'
import { labApp, labDeps, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { labMonitorServices } from '../lab/monitor-services.ts'
import { labProblem } from '../lab/problem.ts'
import { UNBOUNDED } from '../lab/storage.ts'
import { labWorld } from '../lab/world.ts'

const MINUTE = 60_000
let nowMs = Date.UTC(2026, 0, 2, 12)
const world = labWorld(
  { 'hooks.example': { A: ['45.53.1.1'] }, 'private.example': { A: ['10.0.0.1'] } },
  { now: () => nowMs },
)
const keys = [
  labKey('mine', ['jobs']),
  labKey('other', ['jobs']),
  labKey('reader', ['read']),
  labKey('admin', ['admin']),
]

/** What the lists say of the address, by the run; and what receivers answer. */
let listed = false
let fault: AppError | undefined
/** Runs wait for it. */
let held: Promise<void> | undefined
let isFull = false
let answer: (request: PostRequest) => number = () => 204
const posts: PostRequest[] = []
const mails: Mail[] = []
const ran: string[] = []
let app: FastifyInstance
let stop: () => Promise<void>
let database: Awaited<ReturnType<typeof labDatabase>>
const ended: Record<string, object> = {}

beforeAll(async () => {
  database = await labDatabase()
  const { services, deps } = labMonitorServices(world, database, {
    storage: {
      ...UNBOUNDED,
      admitRun: async () => {
        if (isFull) throw storageError('key', { max: 1_048_576 })
      },
    },
    runOnce: async (_kind, target) => {
      ran.push(target)
      await held
      if (fault) throw fault
      const [first, ...rest] = blacklistExample.results.map((one) => ({
        ...one,
        status: 'not_listed',
        listed: false,
        meaning: [],
      }))
      return {
        ...blacklistExample,
        ip: target,
        results: [{ ...first, status: listed ? 'listed' : 'not_listed', listed }, ...rest],
        answered: 29,
      }
    },
    senders: {
      post: async (request) => {
        posts.push(request)
        const status = answer(request)
        if (status === 0) throw new FetchError('timeout', labProblem('no answer in time'))
        return { status, retryAfter: '' }
      },
      mail: async (mail) => void mails.push(mail),
      publicUrl: 'https://watch.example',
    },
    mailRules: { recipients: ['b.example', 'c.example'], perDay: 5 },
    jobEvent: async (id) => ended[id],
  })
  stop = services.stop
  app = await labApp(world, { deps: labDeps(world, deps), keys: () => keys })
})
afterAll(async () => {
  await app.close()
  await stop()
})
beforeEach(() => {
  listed = false
  fault = undefined
  isFull = false
  answer = () => 204
  posts.length = 0
  mails.length = 0
})

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
async function call(method: Method, url: string, body?: object, key = 'mine') {
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
  return app.inject({ method, url, headers, ...(body && { payload: body }) })
}
let made = 0
async function watch(over: object = {}): Promise<MonitorAnswer> {
  const target = `192.0.2.${++made}`
  const about = { kind: 'blacklist', target, when: ['listed'] }
  const response = await call('POST', '/v1/monitors', { ...about, ...over })
  expect([response.statusCode, response.body]).toEqual([201, expect.any(String)])
  const monitor = monitorAnswer.parse(response.json())
  await until(async () => (await show(monitor)).last !== null)
  return monitor
}
const show = async ({ id }: { id: string }): Promise<MonitorAnswer> =>
  monitorAnswer.parse((await call('GET', `/v1/monitors/${id}`)).json())
/** Runs a monitor so many minutes later. */
async function later(monitor: MonitorAnswer, minutes: number) {
  nowMs += minutes * MINUTE
  const response = await call('POST', `/v1/monitors/${monitor.id}/run`, { wait: true })
  expect([response.statusCode, response.body]).toEqual([200, expect.any(String)])
  return monitorRunAnswer.parse(response.json()).run
}
vi.setConfig({ testTimeout: 60_000 }) // a busy machine
async function until(is: () => Promise<boolean> | boolean): Promise<void> {
  for (const limit = AbortSignal.timeout(30_000); !(await is()); await sleep(20, limit));
}
const quietly = (): Promise<void> => sleep(150, AbortSignal.timeout(1_000))
const HOOK = 'https://hooks.example/mail?x=1'
/** What came about one monitor: messages of other rows may still be under way. */
const postsOf = ({ id }: { id: string }): PostRequest[] => posts.filter(({ body }) => body.includes(id))
const events = (monitor: MonitorAnswer): MonitorEvent[] =>
  postsOf(monitor).map(({ body }) => monitorEvent.parse(JSON.parse(body)))

describe('a monitor', () => {
  it('runs at once, keeps a place of its own in the interval, and shows its state', async () => {
    const monitor = await watch({ name: 'our address', every: '1d' })
    const shown = await show(monitor)
    expect(shown).toMatchObject({
      name: 'our address',
      state: 'ok',
      every: '24h',
      failures: 0,
      last: { status: expect.any(String), score: null, listed: 0 },
    })
    expect(Date.parse(shown.next_run_at) - nowMs).toBe(12 * 60 * MINUTE)
  })

  it('tells once when it is listed, and once when it is well again', async () => {
    const monitor = await watch({ notify: [{ type: 'webhook', url: HOOK }] })
    listed = true
    const run = await later(monitor, 60)
    expect(run).toMatchObject({
      state: 'done',
      point: { listed: 1 },
      lines: [`Blacklists: ${monitor.target} is now on ${blacklistExample.results[0]!.blacklist}`],
    })
    await later(monitor, 60)
    listed = false
    await later(monitor, 60)
    await later(monitor, 60)
    await until(() => postsOf(monitor).length === 2)
    await quietly()
    expect(events(monitor).map(({ type, data }) => [type, data.title, data.monitor.state])).toEqual([
      ['monitor.changed', `${monitor.target}: on a blacklist: ${blacklistExample.results[0]!.blacklist}`, 'bad'],
      ['monitor.recovered', `${monitor.target}: no longer on any blacklist`, 'ok'],
    ])
    const history = monitorHistoryAnswer.parse((await call('GET', `/v1/monitors/${monitor.id}/history`)).json())
    expect(history.data.map((point) => point.listed)).toEqual([0, 1, 1, 0, 0])
    const page = await call('GET', `/v1/monitors/${monitor.id}/history?limit=2`)
    const rest = await call('GET', `/v1/monitors/${monitor.id}/history?cursor=${page.json().next_cursor}`)
    expect(rest.json().data).toEqual(history.data.slice(2))
    const changes = monitorChangesAnswer.parse((await call('GET', `/v1/monitors/${monitor.id}/changes`)).json())
    expect(changes.data.map(({ changes: [one] }) => one!.id)).toEqual(['blacklist.delisted', 'blacklist.listed'])
  })

  it('of a key that stores as much as it may asks nothing, says why, and its history does not grow', async () => {
    const monitor = await watch()
    const before = ran.length
    isFull = true
    const { point } = await later(monitor, 60)
    expect([ran.length, point]).toEqual([before, null])
    const { last } = await show(monitor)
    expect(last).toMatchObject({ status: 'unknown', reason: expect.stringContaining('this key stores 1 MiB') })
    const history = async () =>
      monitorHistoryAnswer.parse((await call('GET', `/v1/monitors/${monitor.id}/history`)).json()).data
    expect(await history()).toHaveLength(1)
    isFull = false
    expect((await later(monitor, 60)).point).toMatchObject({ listed: 0 })
    expect(await history()).toHaveLength(2)
  })
  it('keeps the last known state when it cannot find out, says so, and tells after three in a row', async () => {
    const monitor = await watch({ notify: [{ type: 'webhook', url: HOOK }], every: '1d' })
    fault = new AppError('timeout', labProblem('no answer in time'))
    await later(monitor, 60)
    expect(await show(monitor)).toMatchObject({
      state: 'ok',
      failures: 1,
      last: { status: 'unknown', reason: 'no answer in time', listed: null },
    })
    expect(Date.parse((await show(monitor)).next_run_at) - nowMs).toBe(15 * MINUTE) // tried again sooner
    await later(monitor, 15)
    await later(monitor, 15)
    await until(() => postsOf(monitor).length === 1)
    expect(await show(monitor)).toMatchObject({ state: 'unknown', failures: 3 })
    fault = undefined
    await later(monitor, 15)
    await until(() => postsOf(monitor).length === 2)
    expect(events(monitor).map(({ type }) => type)).toEqual(['monitor.failing', 'monitor.recovered'])
    expect(await show(monitor)).toMatchObject({ state: 'ok', failures: 0 })
  })

  it('is changed, turned off and on, and removed', async () => {
    const monitor = await watch()
    const patch = async (body: object) => (await call('PATCH', `/v1/monitors/${monitor.id}`, body)).json()
    const turned = async (to: string) => (await call('POST', `/v1/monitors/${monitor.id}/${to}`)).json()
    expect(
      await patch({ every: '15m', when: ['changed'], public: true, quiet_hours: { from: '22:00', to: '07:00' } }),
    ).toMatchObject({ every: '15m', when: ['changed'], public: true, quiet_hours: { timezone: 'UTC' } })
    expect(await patch({ quiet_hours: null }).then(() => turned('pause'))).toMatchObject({
      quiet_hours: null,
      enabled: false,
      public: true,
    })
    nowMs += 60 * MINUTE
    expect((await call('POST', `/v1/monitors/${monitor.id}/run`)).json().code).toBe('wrong_state')
    expect(await turned('resume')).toMatchObject({ enabled: true })
    expect((await call('DELETE', `/v1/monitors/${monitor.id}`)).statusCode).toBe(200)
    expect((await call('GET', `/v1/monitors/${monitor.id}`)).statusCode).toBe(404)
  })

  it('runs no sooner because its name was changed', async () => {
    const monitor = await watch({ every: '1d' })
    const { next_run_at: due } = await show(monitor)
    expect((await call('PATCH', `/v1/monitors/${monitor.id}`, { name: 'another' })).statusCode).toBe(200)
    expect(await show(monitor)).toMatchObject({ name: 'another', next_run_at: due })
  })

  it('keeps an interval that is changed while a run is under way', async () => {
    const monitor = await watch({ every: '1d' })
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    const run = later(monitor, 60)
    await until(() => ran.filter((target) => target === monitor.target).length === 2)
    expect((await call('PATCH', `/v1/monitors/${monitor.id}`, { every: '15m' })).statusCode).toBe(200)
    held = undefined
    resolve()
    await run
    const { every, next_run_at, last } = await show(monitor)
    expect([every, Date.parse(next_run_at) - Date.parse(last!.time)]).toEqual(['15m', 15 * MINUTE])
  })

  it('runs at most once a minute, and is a matter of its key', async () => {
    const monitor = await watch()
    const again = await call('POST', `/v1/monitors/${monitor.id}/run`)
    expect([again.statusCode, Number(again.headers['retry-after'])]).toEqual([429, 60])
    const codes = ['mine', 'admin', 'other', 'reader'].map(
      async (key) => (await call('GET', `/v1/monitors/${monitor.id}`, undefined, key)).statusCode,
    )
    expect(await Promise.all(codes)).toEqual([200, 200, 404, 403])
  })

  it('tests its messages, and says that they are a test', async () => {
    const monitor = await watch({
      notify: [
        { type: 'webhook', url: HOOK },
        { type: 'mail', to: 'Ann@b.example' },
        { type: 'slack', url: 'https://hooks.example/services/T/secret' },
        { type: 'ntfy', url: 'https://hooks.example/topic', token: 'tk_x' },
      ],
    })
    answer = ({ url }) => (url.includes('secret') ? 404 : 200)
    const { sent } = (await call('POST', `/v1/monitors/${monitor.id}/test`)).json()
    expect(sent).toEqual([
      { type: 'webhook', to: HOOK, ok: true },
      { type: 'mail', to: 'Ann@b.example', ok: true },
      { type: 'slack', to: 'https://hooks.example/***', ok: false, reason: 'answered 404' },
      { type: 'ntfy', to: 'https://hooks.example/topic', ok: true },
    ])
    for (const { body } of postsOf(monitor)) expect(body).toContain('this is a test')
    expect(mails[0]).toMatchObject({ to: 'Ann@b.example', subject: `${monitor.target}: this is a test` })
    const ntfy = posts.find(({ url }) => url === 'https://hooks.example/')
    expect([JSON.parse(ntfy!.body).topic, ntfy!.headers.authorization]).toEqual(['topic', 'Bearer tk_x'])
    expect(JSON.stringify(await show(monitor))).not.toMatch(/secret|tk_x/)
  })

  it.each<[string, string, object | undefined, number, string | undefined]>([
    ['in the query', '?wait=true', undefined, 200, 'done'],
    ['in the body', '', { wait: true }, 200, 'done'],
    ['in the body, as text', '', { wait: 'true' }, 200, 'done'],
    ['not', '', undefined, 202, 'waiting'],
    ['not, in the query', '?wait=false', undefined, 202, 'waiting'],
    ['twice', '?wait=true', { wait: true }, 400, undefined],
  ])('is waited for if the caller asks for it %s', async (_, query, body, status, state) => {
    const monitor = await watch({})
    nowMs += 2 * MINUTE
    const response = await call('POST', `/v1/monitors/${monitor.id}/run${query}`, body)
    expect([response.statusCode, response.json().run?.state]).toEqual([status, state])
  })

  it('has a badge where it is public', async () => {
    const monitor = await watch({ public: true })
    const json = await call('GET', `/v1/badge/${monitor.id}.json`, undefined, '')
    expect(json.json()).toEqual({ schemaVersion: 1, label: 'blacklists', message: 'on no list', color: 'brightgreen' })
    const image = await app.inject({
      url: `/v1/badge/${monitor.id}.svg`,
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    })
    expect([image.statusCode, image.headers['content-type'], image.headers['cross-origin-resource-policy']]).toEqual([
      200,
      'image/svg+xml; charset=utf-8',
      'cross-origin',
    ])
    expect(image.body).toContain('on no list')
    expect((await call('GET', `/v1/badge/${(await watch()).id}.json`, undefined, '')).statusCode).toBe(404)
  })
})

describe('mail', () => {
  const to = (address: string) => ({ notify: [{ type: 'mail', to: address }] })
  const mailsTo = (address: string) => mails.filter((mail) => mail.to === address)
  const linkIn = (mail: Mail, path: string): string =>
    new RegExp(`https://watch\\.example(/${path}/[\\w-]+)`).exec(mail.text)![1]!

  it('to a stranger begins with a question, and nothing else is sent before consent was given by POST (double opt-in)', async () => {
    const monitor = await watch({ name: 'BUY PILLS at spam.example', ...to('Stranger@s1.example') })
    await until(() => mails.length === 1)
    const [question] = mails
    expect(question!.to).toBe('stranger@s1.example')
    expect(`${question!.subject}${question!.text}`).toContain(monitor.target)
    expect(`${question!.subject}${question!.text}`).not.toContain('PILLS')
    expect(await show(monitor)).toMatchObject({ notify: [{ type: 'mail', consent: 'pending' }] })
    listed = true
    await later(monitor, 60)
    const test = await call('POST', `/v1/monitors/${monitor.id}/test`)
    expect(test.json().sent).toEqual([
      expect.objectContaining({ ok: false, reason: 'the address has not consented yet' }),
    ])
    await quietly()
    expect(mails).toHaveLength(1)

    const link = linkIn(question!, 'v1/consent')
    const page = await app.inject({ url: link, headers: { accept: 'text/html' } }) // scanners follow links
    expect(page.body).toContain('<form method="post"')
    expect(await show(monitor)).toMatchObject({ notify: [{ consent: 'pending' }] })
    const given = await app.inject({
      method: 'POST',
      url: `${link}?format=html`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: '',
    })
    expect([given.statusCode, given.body]).toEqual([200, expect.stringContaining('You will get these messages')])
    expect((await show(monitor)).notify).toEqual([{ type: 'mail', to: 'Stranger@s1.example' }])
    listed = false
    await later(monitor, 60)
    await until(() => mails.length === 2)
    expect(mails[1]!.text).not.toContain('PILLS')
    const other = await watch(to('stranger@s1.example')) // consent is for the key
    await quietly()
    expect([mails.length, (await show(other)).notify]).toEqual([2, [{ type: 'mail', to: 'stranger@s1.example' }]])
  })

  it('is never sent to an address that refused, by any key', async () => {
    await watch(to('no@s2.example'))
    await until(() => mails.length === 1)
    const refused = await app.inject({ method: 'POST', url: linkIn(mails[0]!, 'u') })
    expect(refused.statusCode).toBe(200)
    const target = { kind: 'blacklist', target: '192.0.2.99' }
    expect((await call('POST', '/v1/monitors', { ...target, ...to('no@s2.example') }, 'other')).statusCode).toBe(201)
    nowMs += 8 * 24 * 60 * MINUTE
    expect((await call('POST', '/v1/monitors', { ...target, ...to('no@s2.example') }, 'other')).statusCode).toBe(201)
    await quietly()
    expect(mailsTo('no@s2.example')).toHaveLength(1)
  })

  it('asks an address once a week, and a key a few a day', async () => {
    nowMs += 24 * 60 * MINUTE
    const monitor = await watch(to('slow@s3.example'))
    await until(() => mails.length === 1)
    for (const name of ['one', 'two', 'three', 'four'])
      expect((await call('PATCH', `/v1/monitors/${monitor.id}`, to(`${name}@s3.example`))).statusCode).toBe(200)
    const over = await call('PATCH', `/v1/monitors/${monitor.id}`, to('five@s3.example'))
    expect([over.statusCode, over.json().code, over.headers['retry-after']]).toEqual([429, 'rate_limited', '3600'])
    await until(() => mails.length === 5)
    nowMs += 24 * 60 * MINUTE
    expect((await call('PATCH', `/v1/monitors/${monitor.id}`, to('slow@s3.example'))).statusCode).toBe(200)
    await call('POST', `/v1/monitors/${monitor.id}/test`)
    await quietly()
    expect(mailsTo('slow@s3.example')).toHaveLength(1)
    nowMs += 7 * 24 * 60 * MINUTE
    await call('POST', `/v1/monitors/${monitor.id}/test`)
    await until(() => mailsTo('slow@s3.example').length === 2)
  })

  it('of a test: 3 an hour a monitor; its link ends the mail', async () => {
    nowMs += 24 * 60 * MINUTE
    const monitor = await watch(to('ann@b.example'))
    const test = async () => (await call('POST', `/v1/monitors/${monitor.id}/test`)).statusCode
    expect([await test(), await test(), await test(), await test()]).toEqual([200, 200, 200, 429])
    expect(mails).toHaveLength(3)
    const url = linkIn(mails[0]!, 'u')
    expect((await app.inject({ method: 'POST', url })).statusCode).toBe(200)
    expect(await show(monitor)).toMatchObject({ notify: [{ unsubscribed: true }] })
    nowMs += 61 * MINUTE
    expect(await test()).toBe(200)
    expect(mails).toHaveLength(3)
  })

  it('can be ended with one click, without a key (RFC 8058)', async () => {
    const monitor = await watch({ notify: [{ type: 'mail', to: 'ann@b.example' }] })
    listed = true
    await later(monitor, 60)
    await until(() => mails.length === 1)
    const { headers, text } = mails[0]!
    expect(headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click')
    const url =
      /^<https:\/\/watch\.example(\/u\/msg_[\w-]{22})>, <mailto:watch@watch\.example\?subject=unsubscribe%20mon_/.exec(
        headers['list-unsubscribe']!,
      )![1]!
    expect(text).toContain(url)
    const page = await app.inject({ url, headers: { accept: 'text/html' } })
    expect([page.statusCode, page.body]).toEqual([
      200,
      expect.stringContaining('<form method="post" action="?format=html">'),
    ])
    for (const [type, payload] of [
      ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
      ['multipart/form-data; boundary=x', '--x--'],
    ] as const) {
      const gone = await app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
      expect([gone.statusCode, gone.body]).toEqual([200, '{"unsubscribed":true}'])
    }
    expect(await show(monitor)).toMatchObject({ notify: [{ type: 'mail', to: 'ann@b.example', unsubscribed: true }] })
    listed = false
    await later(monitor, 60)
    await quietly()
    expect(mails).toHaveLength(1)
    expect((await app.inject({ method: 'POST', url: '/u/msg_AAAAAAAAAAAAAAAAAAAAAA' })).statusCode).toBe(404)
  })
})

it('a webhook is told once when a job has ended, in the transaction that takes the wish away', async () => {
  const url = 'https://hooks.example/job'
  const { id } = webhookAnswer.parse((await call('POST', '/v1/webhooks', { url })).json())
  const job = 'job_BBBBBBBBBBBBBBBBBBBBBB'
  ended[job] = { id: job, state: 'done', rows: 3 }
  await database.pool.query(
    `INSERT INTO mailsonde.jobs (id, kind, name, owner, state, options, expires_at, callback)
     SELECT $1, 'verify', '', '', 'done', '{}', now() + interval '1 day', number FROM mailsonde.webhooks WHERE id = $2`,
    [job, id],
  )
  await call('POST', '/v1/monitors', { kind: 'blacklist', target: '192.0.2.250' }) // wakes the engine
  await until(() => posts.some((post) => post.url === url))
  await quietly()
  const told = posts.filter((post) => post.url === url).map(({ body }) => JSON.parse(body))
  expect(told).toEqual([
    { type: 'job.finished', timestamp: expect.any(String), data: { id: job, state: 'done', rows: 3 } },
  ])
})

it('is forgotten with its target, and nobody is told at an address that is forgotten', async () => {
  const kept = await watch({
    notify: [
      { type: 'mail', to: 'Bob@c.example' },
      { type: 'mail', to: 'eve@c.example' },
    ],
  })
  const gone = await call('POST', '/v1/monitors', { kind: 'verify', target: 'Bob@c.example' })
  const forget = async (body: object) => (await call('POST', '/v1/forget', body, 'admin')).json().places
  expect(await forget({ email: 'bob@c.example' })).toMatchObject({ monitors: 1, receivers: 1 })
  expect((await call('GET', `/v1/monitors/${gone.json().id}`)).statusCode).toBe(404)
  expect((await show(kept)).notify).toEqual([{ type: 'mail', to: 'eve@c.example' }])
  expect(await forget({ domain: 'c.example' })).toMatchObject({ monitors: 0, receivers: 1 })
  expect((await show(kept)).notify).toEqual([])
})

it.each(['monitors', 'webhooks'])('of two that remove one of the %s at once, one finds it gone', async (what) => {
  const body =
    what === 'monitors' ? { kind: 'blacklist', target: '192.0.2.249' } : { url: 'https://hooks.example/gone' }
  const { id } = (await call('POST', `/v1/${what}`, body)).json()
  const remove = async () => (await call('DELETE', `/v1/${what}/${id}`)).statusCode
  expect((await Promise.all([remove(), remove()])).sort()).toEqual([200, 404])
})

it('no list or look reads the last known answer of a run, which may have 1 MiB', async () => {
  const { id } = await watch()
  const { db } = database
  const rows = [
    ...(await portfolioOf(db).list({ facts: {} }, { sort: 'newest', limit: 200 })),
    await monitorsOf(db).byId(id),
  ]
  expect(rows.filter((row) => row && ('known' in row || 'notifier' in row))).toEqual([])
})

describe('a webhook', () => {
  const URL_OF = (name: string) => `https://hooks.example/${name}`
  async function hooked(name: string) {
    const monitor = await watch({ notify: [{ type: 'webhook', url: URL_OF(name) }] })
    const [target] = monitor.notify
    if (target?.type !== 'webhook') throw new Error('it tells no webhook')
    return { monitor, id: target.id, secret: target.secret }
  }
  const deliveriesPage = async (id: string, query = '') =>
    deliveryListAnswer.parse((await call('GET', `/v1/webhooks/${id}/deliveries?${query}`)).json())
  const deliveries = async (id: string) => (await deliveriesPage(id)).data
  const verified = ({ headers, body }: PostRequest, secret: string): unknown =>
    new Webhook(secret).verify(body, { ...headers, 'webhook-timestamp': headers['webhook-timestamp']! } as Record<
      string,
      string
    >)

  it('is signed as Standard Webhooks say, by the secret that is told once', async () => {
    const { monitor, id, secret } = await hooked('signed')
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await show(monitor)).notify).toEqual([{ type: 'webhook', url: URL_OF('signed'), id }])
    nowMs = Date.now() // npm's standardwebhooks refuses old timestamps
    listed = true
    await later(monitor, 2)
    nowMs = Date.now()
    await until(() => postsOf(monitor).length === 1)
    const [post] = postsOf(monitor)
    // The time of the fake clock is 2 minutes ahead: within the tolerance of 5.
    expect(verified(post!, secret!)).toMatchObject({ type: 'monitor.changed', data: { monitor: { id: monitor.id } } })
    expect(() => verified({ ...post!, body: post!.body.replace('changed', 'recovered') }, secret!)).toThrow()
    expect(post!.headers['webhook-id']).toBe((await deliveries(id))[0]!.id)
  })

  it.each([
    [200, 'delivered'],
    [404, 'failed'],
  ])('has its test messages among the deliveries: answered %i it is %s', async (status, state) => {
    const { monitor, id } = await hooked(`tested-${status}`)
    answer = () => status
    const { sent } = (await call('POST', `/v1/monitors/${monitor.id}/test`)).json()
    expect(sent).toMatchObject([{ type: 'webhook', ok: status === 200 }])
    expect(await deliveries(id)).toMatchObject([{ type: 'monitor.changed', state, attempts: [{ status }] }])
  })

  it('lists its deliveries page by page, newest first', async () => {
    const { monitor, id } = await hooked('paged')
    answer = () => 200
    for (let n = 0; n < 2; n++) await call('POST', `/v1/monitors/${monitor.id}/test`)
    const all = (await deliveries(id)).map((one) => one.id)
    expect(all).toHaveLength(2)
    const first = await deliveriesPage(id, 'limit=1')
    const second = await deliveriesPage(id, `limit=1&cursor=${first.next_cursor}`)
    expect([...first.data, ...second.data].map((one) => one.id)).toEqual(all)
    expect([first.has_more, second.has_more]).toEqual([true, false])
  })

  it('has two valid secrets for a day after they were rotated', async () => {
    nowMs = Date.now()
    const { monitor, id, secret } = await hooked('rotated')
    const rotated = webhookAnswer.parse((await call('POST', `/v1/webhooks/${id}/rotate`)).json())
    expect([rotated.secret === secret, rotated.old_secret_until]).toEqual([
      false,
      new Date(nowMs + 86_400_000).toISOString(),
    ])
    listed = true
    await later(monitor, 2)
    await until(() => postsOf(monitor).length === 1)
    for (const one of [secret!, rotated.secret!])
      expect(verified(postsOf(monitor)[0]!, one)).toMatchObject({ type: 'monitor.changed' })
    listed = false
    await later(monitor, 1_441)
    await until(() => postsOf(monitor).length === 2)
    expect(postsOf(monitor)[1]!.headers['webhook-signature']!.split(' ')).toHaveLength(1)
  })

  it('is tried again over 75 hours, under the same id, then kept, and sent once more at will', async () => {
    const { monitor, id } = await hooked('dead')
    answer = () => 500
    listed = true
    await later(monitor, 60)
    const waits = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    await call('POST', `/v1/monitors/${monitor.id}/pause`)
    for (const [tries, wait] of waits.entries()) {
      await until(async () => (await deliveries(id))[0]?.attempts.length === tries + 1)
      const [one] = await deliveries(id)
      expect(Date.parse(one!.next_attempt_at!) - nowMs).toBe(wait * 1_000)
      nowMs += wait * 1_000
      await call('POST', `/v1/webhooks`, { url: URL_OF('dead') })
      await call('PATCH', `/v1/monitors/${monitor.id}`, { name: `wakes ${tries}` })
    }
    await until(async () => (await deliveries(id))[0]?.state === 'failed')
    const [failed] = await deliveries(id)
    expect(failed).toMatchObject({ state: 'failed', next_attempt_at: null })
    expect(failed!.attempts.map(({ status, error }) => [status, error])).toEqual(Array(10).fill([500, 'answered 500']))
    expect(new Set(postsOf(monitor).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(postsOf(monitor).map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10)
    answer = () => 200
    const replayed = await call('POST', `/v1/webhooks/${id}/deliveries/${failed!.id}/replay`)
    expect([replayed.statusCode, replayed.json().state]).toEqual([202, 'pending'])
    await until(async () => (await deliveries(id))[0]?.state === 'delivered')
    expect(postsOf(monitor).at(-1)!.headers['webhook-id']).toBe(failed!.id)
  })

  it.each([
    [301, 'answered 301: redirects are not followed'],
    [404, 'answered 404'],
    [0, 'no answer in time'],
  ])('that answers %d is tried again', async (status, error) => {
    const { monitor, id } = await hooked(`answers-${status}`)
    answer = () => status
    listed = true
    await later(monitor, 60)
    await until(async () => (await deliveries(id))[0]?.attempts.length === 1)
    expect((await deliveries(id))[0]).toMatchObject({ state: 'pending', attempts: [{ status: status || null, error }] })
  })

  it('is turned off by 410, and on again', async () => {
    const { monitor, id } = await hooked('gone')
    answer = () => 410
    listed = true
    await later(monitor, 60)
    await until(async () => (await call('GET', `/v1/webhooks/${id}`)).json().state === 'off')
    expect((await call('GET', `/v1/webhooks/${id}`)).json().reason).toContain('410')
    listed = false
    await later(monitor, 60)
    await until(async () => (await deliveries(id)).length === 2 && (await deliveries(id))[0]!.state === 'failed')
    expect(postsOf(monitor)).toHaveLength(1)
    expect(
      (await call('POST', `/v1/webhooks/${id}/deliveries/${(await deliveries(id))[0]!.id}/replay`)).json().code,
    ).toBe('wrong_state')
    expect((await call('POST', `/v1/webhooks/${id}/resume`)).json()).toMatchObject({
      state: 'on',
      reason: null,
    })
  })

  it('a list of its messages reads no more of a body than it shows', async () => {
    const { id } = await hooked('large')
    const body = JSON.stringify({ filler: 'ä'.repeat(100_000) })
    await database.pool.query(
      `INSERT INTO mailsonde.deliveries (id, webhook, channel, type, body, created_at, state)
       SELECT 'msg_large', number, '{"type": "webhook"}', 'monitor.changed', $1, now(), 'delivered' FROM mailsonde.webhooks WHERE id = $2`,
      [body, id],
    )
    const [one] = await deliveries(id)
    expect([one!.body.slice(0, 20), one!.body.at(-1)]).toEqual([body.slice(0, 20), '…'])
    expect(Buffer.byteLength(one!.body)).toBeLessThanOrEqual(4_096)
    const { rows } = await database.pool.query<{ number: string }>(
      `SELECT number FROM mailsonde.webhooks WHERE id = $1`,
      [id],
    )
    const [row] = await deliveriesOf(database.db).ofWebhook(Number(rows[0]!.number), { limit: 1 })
    expect(row!.body.length).toBeLessThanOrEqual(4_097)
  })

  it('is made once for a URL, listed without its secret, and removed', async () => {
    const create = async () => webhookAnswer.parse((await call('POST', '/v1/webhooks', { url: URL_OF('once') })).json())
    const [one, two] = [await create(), await create()]
    expect([one.secret === undefined, two.secret, one.id === two.id]).toEqual([false, undefined, true])
    const { data } = webhookListAnswer.parse((await call('GET', '/v1/webhooks?limit=200')).json())
    expect(data.find(({ id }) => id === one.id)).toEqual(two)
    expect(webhookListAnswer.parse((await call('GET', '/v1/webhooks', undefined, 'other')).json()).data).toEqual([])
    expect((await call('DELETE', `/v1/webhooks/${one.id}`)).statusCode).toBe(200)
    expect((await call('GET', `/v1/webhooks/${one.id}`)).statusCode).toBe(404)
  })

  it('are listed page by page, each once', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await call('POST', '/v1/webhooks', { url: URL_OF(name) })
    const page = async (query: string) => webhookListAnswer.parse((await call('GET', `/v1/webhooks?${query}`)).json())
    const whole = (await page('limit=200')).data.map(({ id }) => id)
    const listed: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, next_cursor } = await page(`limit=1${cursor && `&cursor=${cursor}`}`)
      listed.push(...data.map(({ id }) => id))
      expect(listed.length).toBeLessThanOrEqual(whole.length)
      cursor = next_cursor
    }
    expect(listed).toEqual(whole)
  })
})

it.each<[string, object, string]>([
  ['a private address', { url: 'https://10.0.0.1/x' }, 'invalid_parameter'],
  ['a name of a private address', { url: 'https://private.example/' }, 'invalid_parameter'],
  ['plain HTTP', { url: 'http://hooks.example/' }, 'invalid_parameter'],
  ['a login', { url: 'https://user:pass@hooks.example/' }, 'invalid_parameter'],
  ['this machine', { url: 'https://localhost/' }, 'invalid_parameter'],
  ['another scheme', { url: 'file:///etc/passwd' }, 'invalid_parameter'],
  ['no URL', { url: 'hooks' }, 'invalid_parameter'],
  ['1,900 characters beyond ASCII', { url: `https://hooks.example/${'ü'.repeat(1_900)}` }, 'invalid_parameter'],
])('a webhook of %s is refused', async (_, body, code) => {
  const response = await call('POST', '/v1/webhooks', body)
  expect([response.statusCode, response.json().code]).toEqual([400, code])
  const notify = [{ type: 'webhook', ...body }]
  expect((await call('POST', '/v1/monitors', { kind: 'blacklist', target: '192.0.2.1', notify })).json().code).toBe(
    code,
  )
})

it.each<[string, object, string]>([
  ['no target', {}, 'missing_parameter'],
  ['a target of another kind', { kind: 'check', target: '192.0.2.1' }, 'invalid_domain'],
  ['a target that is no address', { kind: 'blacklist', target: 'a.example' }, 'invalid_ip'],
  ['a target that is no mailbox', { kind: 'verify', target: 'a.example' }, 'invalid_parameter'],
  ['too short an interval', { target: 'a.example', every: '14m' }, 'invalid_duration'],
  ['an unknown condition', { target: 'a.example', when: ['always'] }, 'invalid_parameter'],
  ['a score over 100', { target: 'a.example', when: ['score_below:101'] }, 'invalid_parameter'],
  ['an unknown receiver', { target: 'a.example', notify: [{ type: 'pager', url: HOOK }] }, 'invalid_parameter'],
  ['no mailbox', { target: 'a.example', notify: [{ type: 'mail', to: 'nobody' }] }, 'invalid_parameter'],
  ['no topic', { target: 'a.example', notify: [{ type: 'ntfy', url: 'https://hooks.example/' }] }, 'invalid_parameter'],
  [
    'eleven receivers',
    { target: 'a.example', notify: Array(11).fill({ type: 'webhook', url: HOOK }) },
    'invalid_parameter',
  ],
  [
    'an unknown time zone',
    { target: 'a.example', quiet_hours: { from: '22:00', to: '07:00', timezone: 'Mars/Base' } },
    'invalid_parameter',
  ],
  ['no time of day', { target: 'a.example', quiet_hours: { from: '25:00', to: '07:00' } }, 'invalid_parameter'],
  ['an unknown option', { target: 'a.example', options: { colour: 'red' } }, 'unknown_parameter'],
  ['an option of ours', { target: 'a.example', options: { save: 'true' } }, 'invalid_parameter'],
  [
    'an option that cannot be read',
    { target: 'a.example', kind: 'check', options: { starttls: 'yes' } },
    'invalid_parameter',
  ],
  ['an unknown property', { target: 'a.example', often: true }, 'unknown_parameter'],
])('a monitor with %s is refused', async (_, body, code) => {
  const response = await call('POST', '/v1/monitors', body)
  expect([response.statusCode, response.json().code]).toEqual([400, code])
})

it.each<[string, object, number, readonly object[] | undefined]>([
  ['takes it', {}, 204, [{ type: 'webhook', to: HOOK, ok: true }]],
  ['is dead', {}, 500, [{ type: 'webhook', to: HOOK, ok: false, reason: expect.stringContaining('500') }]],
  ['is not to be tested', { test: false }, 204, undefined],
])('a webhook is tried when the monitor is created; one that %s', async (_, over, status, tested) => {
  answer = () => status
  const notify = [
    { type: 'webhook', url: HOOK },
    { type: 'mail', to: 'user@b.example' },
  ]
  const made = await watch({ notify, test: true, ...over })
  expect([made.tested, posts.length, mails.length]).toEqual([tested, tested ? 1 : 0, 0])
  expect((await show(made)).tested).toBeUndefined()
})
