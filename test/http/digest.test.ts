import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type MonitorDigestAnswer, monitorDigestAnswer } from '../../src/answers/monitors.ts'
import { RETRY_MS } from '../../src/monitors/deliver.ts'
import { makeDigests, nextDigest } from '../../src/monitors/digest.ts'
import { type Mail, MailError } from '../../src/net/submit-mail.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { storedReports } from '../../src/operations/reports/shared.ts'
import { openSite } from '../../src/start/pages.ts'
import { acceptedOf } from '../../src/store/postgres/accepted.ts'
import type { Database } from '../../src/store/postgres/connect.ts'
import { deliveriesOf } from '../../src/store/postgres/deliveries.ts'
import { digestsOf } from '../../src/store/postgres/digests.ts'
import { mailConsentsOf } from '../../src/store/postgres/mail-consents.ts'
import { labApp, labDeps, labExecutor, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { labMonitorServices } from '../lab/monitor-services.ts'
import { labWorld } from '../lab/world.ts'

const DAY_MS = 86_400_000
/** A Saturday. */
const BEGIN = Date.UTC(2026, 0, 3, 12)
/** Owners in a test of many. */
const MANY = Number(process.env.DIGESTS ?? 300)
let nowMs = BEGIN
const world = labWorld({}, { now: () => nowMs })
const mails: Mail[] = []
let refuse: ((mail: Mail) => Error | undefined) | undefined
let app: FastifyInstance
let bare: FastifyInstance
let database: Database
const stops: (() => Promise<void>)[] = []
const keys = [
  labKey('mine', ['jobs']),
  labKey('other', ['jobs']),
  labKey('third', ['jobs']),
  labKey('reader', ['read']),
]

beforeAll(async () => {
  database = await labDatabase()
  const appWith = async (mail: ((mail: Mail) => Promise<void>) | undefined) => {
    const { services, deps: parts } = labMonitorServices(world, database, {
      senders: { mail, publicUrl: 'https://watch.example' },
      mailRules: { recipients: ['law.example', 'art.example'], perDay: 5 },
    })
    stops.push(services.stop)
    const deps = labDeps(world, parts)
    const site = openSite({
      ...{ operations: await allOperations(), execute: labExecutor(world, deps), world, version: '0.0.0' },
      storedReports: storedReports(deps),
    })
    return labApp(world, { deps, keys: () => keys, site })
  }
  app = await appWith(async (mail) => {
    const error = refuse?.(mail)
    if (error) throw error
    mails.push(mail)
  })
  bare = await appWith(undefined)
})
beforeEach(async () => {
  mails.length = 0
  refuse = undefined
  for (const table of ['monitors', 'deliveries', 'digests', 'digest_readers', 'mail_consents', 'mail_uses'])
    await sql`DELETE FROM ${sql.table(`mailsonde.${table}`)}`.execute(database.db)
})
afterAll(async () => {
  await Promise.all([app.close(), bare.close(), ...stops.map((stop) => stop())])
})

async function call(method: 'GET' | 'PUT' | 'POST' | 'PATCH', url: string, payload?: object, key = 'mine', of = app) {
  const headers = { authorization: `Bearer ${key}` }
  return of.inject({ method, url, headers, ...(payload && { payload }) })
}
const digest = async (query = '', key = 'mine'): Promise<MonitorDigestAnswer> =>
  monitorDigestAnswer.parse((await call('GET', `/v1/monitors/digest${query}`, undefined, key)).json())
const arm = (every: string, key = 'mine', of = app) => call('PUT', '/v1/monitors/digest', { every }, key, of)

const changeTo = (policy: string) => [
  { id: 'dmarc.policy', area: 'DMARC', effect: 'better', text: `policy ${policy} instead of none` },
]
type Lab = { readonly target: string; readonly owner: string; readonly key?: string }
/** A monitor that is not due, of which nothing has changed. */
async function add({ target, owner, key = 'mine' }: Lab): Promise<number> {
  const facts = { score: 40, grade: 'F', role: 'mail', provider: 'other', policy: 'none', phase: 'monitoring' }
  const rest = { mta_sts: 'none', dnssec: 'unsigned', findings: [], profiles: {} }
  const worst = { finding: 'spf.no_record', severity: 'high', title: 'No SPF record' }
  const { rows } = await sql<{ number: string }>`
    INSERT INTO mailsonde.monitors (id, owner, name, kind, target, domain, every_ms, options, notify, conditions, is_public, enabled, created_at, next_run, contact, facts)
    VALUES (${`mon_${target}_${key}`}, ${`id-of-${key}`}, 'BUY <b>PILLS</b>', 'report', ${target}, ${target}, 86400000, '{}', '[]', '["changed"]', false, false,
      ${new Date(BEGIN)}, ${new Date(BEGIN)}, ${owner}, ${JSON.stringify({ ...facts, ...rest, worst })}) RETURNING number`.execute(
    database.db,
  )
  return Number(rows[0]!.number)
}
/** A run of a monitor found a change, so many days after the begin. */
async function change(number: number, day: number, policy = 'reject'): Promise<void> {
  const at = new Date(BEGIN + day * DAY_MS)
  await sql`INSERT INTO mailsonde.monitor_points (monitor, at, status, changes)
    VALUES (${number}, ${at}, 'pass', ${JSON.stringify(changeTo(policy))}::jsonb)`.execute(database.db)
  await sql`UPDATE mailsonde.monitors SET changed_at = ${at} WHERE number = ${number}`.execute(database.db)
}
const monday = (week: number): number => Date.UTC(2026, 0, 5 + 7 * week, 6)
/** The clock of the service reaches a time, and it looks for work. */
async function reach(ms: number): Promise<void> {
  nowMs = ms
  await call('PATCH', '/v1/monitors?q=none-has-this', { set: { note: 'x' } }) // wakes the engine
}
const pending = async (): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    SELECT (SELECT count(*) FROM mailsonde.deliveries WHERE state = 'pending' AND next_attempt <= ${new Date(nowMs)})::int
      + (SELECT count(*) FROM mailsonde.digests WHERE next_at <= ${new Date(nowMs)})::int AS n`.execute(database.db)
  return rows[0]!.n
}
/** Waits until the service has nothing to do at this time of its clock. */
const idle = (timeout = 20_000) => vi.waitFor(async () => expect(await pending()).toBe(0), { timeout, interval: 20 })
const startAt = (ms: number) => {
  nowMs = ms
}

it.each([
  ['week', Date.UTC(2026, 0, 3, 12), Date.UTC(2026, 0, 5, 6)],
  ['week', Date.UTC(2026, 0, 5, 5, 59), Date.UTC(2026, 0, 5, 6)],
  ['week', Date.UTC(2026, 0, 5, 6), Date.UTC(2026, 0, 12, 6)],
  ['day', Date.UTC(2026, 0, 5, 6), Date.UTC(2026, 0, 6, 6)],
] as const)('a digest of every %s after %i is at %i', (every, ms, next) => expect(nextDigest(every, ms)).toBe(next))

describe('a digest', () => {
  it('goes once a week to each owner for whom something changed, with what is theirs alone', async () => {
    startAt(BEGIN)
    const [a, b] = [
      await add({ target: 'a.example', owner: 'Ann@law.example' }),
      await add({ target: 'b.example', owner: 'ann@law.example' }),
    ]
    const c = await add({ target: 'c.example', owner: 'bob@art.example' })
    await add({ target: 'd.example', owner: 'eve@art.example' })
    await add({ target: 'e.example', owner: '' })
    await change(c, 0.5)
    expect((await arm('week')).json()).toMatchObject({
      every: 'week',
      next_at: '2026-01-05T06:00:00.000Z',
      owners: 3,
      without_owner: 1,
    })
    await change(a, 1)
    await reach(monday(0))
    await idle()
    expect(mails.map(({ to }) => to).toSorted()).toEqual(['ann@law.example', 'bob@art.example'])
    const ann = mails.find(({ to }) => to === 'ann@law.example')!
    expect(ann.subject).toBe('Mail checks: a.example changed')
    expect(ann.text).toContain(
      '1 of your 2 targets changed since the last digest.\n\na.example, now F, 40 of 100\n  2026-01-04: DMARC: policy reject instead of none',
    )
    expect(ann.text).toContain('Worst now:\n  a.example: F, No SPF record\n  b.example: F, No SPF record')
    expect(ann.text).not.toMatch(/c\.example|PILLS/)
    await change(b, 5)
    await reach(monday(1))
    await idle()
    expect(
      mails.slice(2).map(({ to, text }) => [to, text.includes('b.example, now'), text.includes('a.example, now')]),
    ).toEqual([['ann@law.example', true, false]])
    await reach(monday(2))
    await idle()
    expect(mails).toHaveLength(3)
  })
  it('is ended by one click (RFC 8058): POST without a key, as often as it comes; a GET changes nothing', async () => {
    startAt(BEGIN)
    const a = await add({ target: 'a.example', owner: 'ann@law.example' })
    await change(a, 1)
    await arm('week')
    await reach(monday(0))
    await idle()
    const { headers, text } = mails[0]!
    expect(headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click')
    const url = /^<https:\/\/watch\.example(\/u\/dig_[\w-]{22})>/.exec(headers['list-unsubscribe']!)![1]!
    expect(text).toContain(`https://watch.example${url}`)
    const page = await app.inject({ url, headers: { accept: 'text/html' } })
    expect(page.body).toContain('<form method="post"')
    expect((await digest()).data[0]).toMatchObject({ state: 'ready' })
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    for (let n = 0; n < 2; n++) {
      const post = await app.inject({ method: 'POST', url, headers: form, payload: 'List-Unsubscribe=One-Click' })
      expect([post.statusCode, post.body]).toEqual([200, '{"unsubscribed":true}'])
    }
    expect((await digest()).data[0]).toMatchObject({ state: 'unsubscribed' })
    await change(a, 4)
    await reach(monday(1))
    await idle()
    expect(mails).toHaveLength(1)
    expect((await app.inject({ method: 'POST', url: '/u/dig_AAAAAAAAAAAAAAAAAAAAAA' })).statusCode).toBe(404)
  })
  it('tells a change once, whoever is responsible when a domain moves in the middle of a run', async () => {
    startAt(BEGIN)
    const owners = Array.from({ length: 120 }, (_, n) => `o${String(n).padStart(3, '0')}@law.example`)
    const numbers = await Promise.all(owners.map((owner, n) => add({ target: `t${n}.example`, owner })))
    await Promise.all(numbers.map((number) => change(number, 1)))
    const parts = {
      ...{ database, digests: digestsOf(database.db), deliveries: deliveriesOf(database.db), now: () => nowMs },
      ...{
        consents: mailConsentsOf(database.db),
        accepted: acceptedOf(database.db),
        mailRules: { recipients: ['law.example'], perDay: 5 },
      },
    }
    await digestsOf(database.db).set('id-of-mine', {
      every: 'week',
      next_at: new Date(monday(0)),
      since: new Date(BEGIN),
    })
    refuse = () => new MailError('not now', false)
    nowMs = monday(0)
    const move = (n: number, owner: string) =>
      sql`UPDATE mailsonde.monitors SET contact = ${owner} WHERE number = ${numbers[n]!}`.execute(database.db)
    await makeDigests(parts) // the first hundred
    await move(0, owners[115]!) // told, to one who has his digest still to come
    await move(110, owners[1]!) // not told yet, to one who had his
    // What fails in the middle is as if it had not begun: the process may die there.
    const add2 = async () => {
      throw new Error('killed')
    }
    await expect(makeDigests({ ...parts, deliveries: { ...parts.deliveries, add: add2 } })).rejects.toThrow('killed')
    while (await makeDigests(parts));
    const told = async () => {
      const { rows } = await sql<{ to: string; target: string }>`
        SELECT channel ->> 'to' AS to, c ->> 'target' AS target FROM mailsonde.deliveries,
          jsonb_array_elements(body::jsonb #> '{data,changes}') AS c WHERE type = 'mail.digest'`.execute(database.db)
      return rows
    }
    const first = await told()
    expect(first).toHaveLength(119)
    expect(new Set(first.map(({ target }) => target)).size).toBe(119)
    expect(new Set(first.map(({ to }) => to)).size).toBe(119)
    nowMs = monday(1)
    while (await makeDigests(parts));
    const second = (await told()).slice(119)
    expect(second).toEqual([{ to: owners[1], target: 't110.example' }])
  })
  it('is kept while the server is away, tried 10 times under one id, and given up; others go on', async () => {
    startAt(BEGIN)
    const numbers = [
      await add({ target: 'a.example', owner: 'ann@law.example' }),
      await add({ target: 'b.example', owner: 'bob@art.example' }),
    ]
    for (const number of numbers) await change(number, 1)
    await arm('week')
    const ids: (string | undefined)[] = []
    refuse = (mail) => {
      if (mail.to !== 'ann@law.example') return undefined
      ids.push(mail.id)
      return new MailError('connect ECONNREFUSED', false)
    }
    await reach(monday(0))
    await idle()
    expect(mails.map(({ to }) => to)).toEqual(['bob@art.example'])
    for (const wait of RETRY_MS) {
      await reach(nowMs + wait)
      await idle()
    }
    expect(ids).toHaveLength(10)
    expect(new Set(ids).size).toBe(1)
    const { rows } = await sql<{ state: string; tries: number }>`
      SELECT state, tries FROM mailsonde.deliveries WHERE channel ->> 'to' = 'ann@law.example'`.execute(database.db)
    expect(rows).toEqual([{ state: 'failed', tries: 10 }])
  })
})

describe('many digests', () => {
  it('wait while the server is away: each is tried, none is lost or sent twice', async () => {
    startAt(BEGIN)
    await sql`
      INSERT INTO mailsonde.monitors (id, owner, name, kind, target, domain, every_ms, options, notify, conditions, is_public, enabled, created_at, next_run, contact)
      SELECT 'mon_many' || n, 'id-of-mine', '', 'check', 'd' || n || '.example', 'd' || n || '.example', 86400000, '{}', '[]', '["changed"]', false, false,
        ${new Date(BEGIN)}::timestamptz, ${new Date(BEGIN)}::timestamptz, 'o' || n || '@law.example' FROM generate_series(1, ${MANY}::int) AS n`.execute(
      database.db,
    )
    await sql`INSERT INTO mailsonde.monitor_points (monitor, at, status, changes)
      SELECT number, ${new Date(BEGIN + DAY_MS)}::timestamptz, 'pass', ${JSON.stringify(changeTo('reject'))}::jsonb FROM mailsonde.monitors`.execute(
      database.db,
    )
    await arm('week')
    refuse = () => new MailError('connect ECONNREFUSED', false)
    await reach(monday(0))
    await idle(120_000)
    const { rows } = await sql<{ state: string; tries: number; n: number }>`
      SELECT state, tries, count(*)::int AS n FROM mailsonde.deliveries GROUP BY state, tries`.execute(database.db)
    expect(rows).toEqual([{ state: 'pending', tries: 1, n: MANY }])
    expect(mails).toEqual([])
    refuse = undefined
    await reach(nowMs + RETRY_MS[0]!)
    await idle(120_000)
    expect([mails.length, new Set(mails.map(({ to }) => to)).size]).toEqual([MANY, MANY])
  }, 300_000)
})

describe('who gets digests', () => {
  it('has consented, or is of a domain of --mail-recipients; others are asked, a few a day', async () => {
    startAt(BEGIN)
    const a = await add({ target: 'a.example', owner: 'owner@a.example' })
    const b = await add({ target: 'b.example', owner: 'somebody@elsewhere.test' })
    for (let n = 0; n < 8; n++) await add({ target: `x${n}.example`, owner: `z${n}@x${n}.example` })
    for (let n = 0; n < 8; n++) await add({ target: `a${n}.example`, owner: `a${n}@sub.law.example` })
    for (const number of [a, b]) await change(number, 1)
    expect((await digest()).data.slice(8, 10)).toEqual([
      { address: 'owner@a.example', monitors: 1, changed: 1, state: 'not_asked' },
      { address: 'somebody@elsewhere.test', monitors: 1, changed: 1, state: 'not_asked', foreign: true },
    ])
    await arm('week')
    await idle()
    expect(mails.map(({ subject }) => subject).toSorted()[0]).toBe('Do you want messages about a.example?')
    expect(mails).toHaveLength(5)
    const [, consent] = /https:\/\/watch\.example(\/v1\/consent\/\S+)/.exec(
      mails.find(({ to }) => to === 'owner@a.example')!.text,
    )!
    await app.inject({ method: 'POST', url: consent! })
    mails.length = 0
    await reach(monday(0))
    await idle()
    expect(mails.filter(({ subject }) => subject.startsWith('Mail checks')).map(({ to }) => to)).toEqual([
      'owner@a.example',
    ])
  })
  it('is an address: an import tells the line of any other owner', async () => {
    const payload = 'domain,owner\na.example,no address\nb.example,ann@law.example\n'
    const headers = { authorization: 'Bearer mine', 'content-type': 'text/csv' }
    const answer = await app.inject({ method: 'POST', url: '/v1/monitors?dry_run=true', headers, payload })
    expect(answer.json()).toMatchObject({
      created: 1,
      bad_rows: [{ line: 2, reason: expect.stringContaining('owner: the address has no @') }],
    })
  })
  it('is told by each key of its own monitors alone', async () => {
    startAt(BEGIN)
    const mine = await add({ target: 'a.example', owner: 'ann@law.example' })
    const theirs = await add({ target: 'a.example', owner: 'ann@law.example', key: 'other' })
    for (const number of [mine, theirs]) await change(number, 1)
    await arm('week')
    expect(await digest('', 'other')).toMatchObject({ every: 'off', owners: 1 })
    expect(await digest('', 'third')).toMatchObject({ owners: 0, preview: null })
    await reach(monday(0))
    await idle()
    expect(mails).toHaveLength(1)
    expect((await call('GET', '/v1/monitors/digest', undefined, 'reader')).statusCode).toBe(403)
  })
})

describe('the page of digests', () => {
  const page = async (url: string, of = app) =>
    (
      await of.inject({
        url,
        headers: { authorization: 'Bearer mine', accept: 'text/html', 'sec-fetch-site': 'same-origin' },
      })
    ).body
  it('shows the digest as it would be sent, and escapes everything', async () => {
    startAt(BEGIN)
    const a = await add({ target: 'a.example', owner: 'ann@law.example' })
    await change(a, -1, '<script>alert(1)</script>')
    const shown = await page('/monitors/digest')
    expect(shown).toContain('Send every week')
    expect(shown).toContain('policy &lt;script&gt;')
    expect(shown).toContain('a.example, now F, 40 of 100\n  2026-01-02: DMARC: policy &lt;script&gt;')
    expect(shown).not.toContain('<script>alert')
    const { preview } = await digest()
    expect(shown).toContain(preview!.subject)
    await add({ target: 'b.example', owner: '' })
    await call('PATCH', '/v1/monitors?q=b.example', { set: { add_labels: ['<img src=x>, a'], note: '<i>note</i>' } })
    const list = await page('/monitors')
    expect(list).toContain('href="/monitors/digest"')
    expect(list).toContain('&lt;img src=x&gt;, a</a>')
    expect(list).toContain('href="/monitors?policy=none">not at p=reject</a> 2')
    expect(list).not.toMatch(/<img src=x|<i>note/)
  })
  it('cannot turn them on while there is no submission server, and says what to set', async () => {
    startAt(BEGIN)
    await add({ target: 'a.example', owner: 'ann@law.example' })
    const shown = await page('/monitors/digest', bare)
    expect(shown).toContain('--smtp-url')
    expect(shown).not.toContain('Send every week')
    const refused = await arm('week', 'mine', bare)
    expect([refused.statusCode, refused.json().detail]).toEqual([400, expect.stringContaining('--smtp-url')])
    expect((await arm('off', 'mine', bare)).statusCode).toBe(200)
  })
})
