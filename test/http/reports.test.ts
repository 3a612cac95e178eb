import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allOperations } from '../../src/operations/registry.ts'
import { storedReports } from '../../src/operations/reports/shared.ts'
import type { Envelope } from '../../src/reports/reporters.ts'
import { type ReportService, reportService } from '../../src/reports/service.ts'
import { openSite } from '../../src/start/pages.ts'
import { labApp, labDeps, labExecutor, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { labHeavy } from '../lab/heavy.ts'
import { mailWith } from '../lab/hostile-mail.ts'
import { aggregateReport, type LabRow } from '../lab/report-xml.ts'
import { UNBOUNDED } from '../lab/storage.ts'
import { labWorld } from '../lab/world.ts'

const NOW = Date.UTC(2026, 10, 23, 12)
const world = labWorld(
  {
    'a.example': { TXT: ['v=spf1 ip4:45.53.5.1 include:spf.news.example -all'] },
    'spf.news.example': { TXT: ['v=spf1 ip4:45.53.6.0/24 -all'] },
    '1.5.53.45.in-addr.arpa': { PTR: ['mail.a.example'] },
    'mail.a.example': { A: ['45.53.5.1'] },
    'b.example': {},
    'm.example': { MX: [[10, 'mx.m.example']] },
    'mx.m.example': { A: ['45.53.7.1'] },
  },
  { now: () => NOW },
)
const keys = [
  labKey('all', ['reports']),
  labKey('one', ['reports'], { domains: ['a.example'] }),
  labKey('third', ['reports'], { domains: ['beside.example'] }),
  labKey('read', ['read']),
]
let app: FastifyInstance
let service: ReportService
beforeAll(async () => {
  const database = await labDatabase()
  service = reportService({
    heavy: labHeavy,
    storage: UNBOUNDED,
    open: async () => database,
    envelopeOf: async (message) => signedBy(/^From: (\S+)/m.exec(Buffer.from(message).toString())?.[1] ?? ''),
    networkOf: async () => undefined,
    listedOn: async () => undefined,
    keepMs: 400 * 86_400_000,
    maxOctets: 1_048_576,
    now: () => NOW,
    monotonic: () => performance.now(),
    log: world.log,
  })
  const deps = labDeps(world, { reports: async () => service })
  const site = openSite({
    operations: await allOperations(),
    execute: labExecutor(world, deps),
    world,
    version: '0.0.0',
    storedReports: storedReports(deps),
  })
  app = await labApp(world, { deps, keys: () => keys, site })
})
afterAll(() => app.close())

/** Every message is signed by the domain of its author. */
const signedBy = (from: string): Envelope => ({
  from: [from],
  signatures: [{ domain: from.split('@')[1] ?? '', result: 'pass', signsFrom: true, isPartial: false }],
  isTrusted: false,
})
/** A report as mail: what was stored of it. */
async function mail(from: string, about: Parameters<typeof aggregateReport>[0]) {
  const text = `From: ${from}\r\nContent-Type: text/xml\r\n\r\n${report({ email: from, ...about })}\r\n`
  const octets = async function* () {
    yield Buffer.from(text)
  }
  const signal = AbortSignal.timeout(20_000)
  const { reports } = await service.import(octets(), { name: 'lmtp', way: 'mail', signal, accepts: () => 'taken' })
  return reports[0]!
}

async function post(payload: Buffer | string, key = 'all') {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' }
  const response = await app.inject({ method: 'POST', url: '/v1/reports', headers, payload })
  return { status: response.statusCode, body: response.json() }
}
async function get(path: string, key = 'all') {
  const response = await app.inject({ url: path, headers: { authorization: `Bearer ${key}` } })
  return {
    status: response.statusCode,
    body: response.headers['content-type']?.includes('json') ? response.json() : response.body,
  }
}

const own: LabRow = { address: '45.53.5.1', count: 70, spf: 'pass', envelope: 'a.example' }
const news: LabRow = { address: '45.53.6.9', count: 20, spf: 'fail', envelope: 'bounce.news.example' }
const bot: LabRow = { address: '45.99.0.1', count: 10, spf: 'fail', envelope: 'a.example' }
const report = (over: Parameters<typeof aggregateReport>[0] = {}) =>
  aggregateReport({ domain: 'a.example', rows: [own, news, bot], ...over })

/** A report in a mail in an mbox in gzip, so many times. */
const nestedMail = (times: number): Buffer =>
  Array.from({ length: times }).reduce<Buffer>(
    (one, _, n) => gzipSync(`From a\n${mailWith('b.example', `${n}`, one)}`),
    Buffer.from(report({ domain: 'nested.example' })),
  )

const PAGE = { accept: 'text/html', 'sec-fetch-site': 'same-origin' }

describe('a report over HTTP', () => {
  it('in a mail in an mbox in gzip is read', async () => {
    expect((await post(nestedMail(1))).body).toMatchObject({ reports: [{ messages: 100 }], refused: [] })
  })
  it('is stored, and a duplicate when it comes again in another container', async () => {
    const first = await post(report())
    expect(first).toMatchObject({ status: 200, body: { refused: [], failure_reports: 0, foreign_rows: 0 } })
    expect(first.body.reports).toEqual([
      expect.objectContaining({
        kind: 'dmarc',
        domain: 'a.example',
        messages: 100,
        duplicate: false,
        authenticated: null,
      }),
    ])
    const again = await post(gzipSync(report()))
    expect(again.body.reports[0]).toMatchObject({ id: first.body.reports[0].id, duplicate: true })
  })
  it.each<readonly [string, string | Buffer, number, string]>([
    ['nothing', '', 400, 'bad_report'],
    ['a text', 'hello', 400, 'bad_report'],
    ['HTML', '<html><body>hello</body></html>', 400, 'bad_report'],
    ['mail that is no report', 'From: a@b.example\r\nSubject: Lunch\r\n\r\nAt noon?\r\n', 400, 'bad_report'],
    ['billions of laughs', `<feedback>${'&lol;'.repeat(1_000)}</feedback>`, 400, 'bad_report'],
    ['a DTD', `<!DOCTYPE feedback [<!ENTITY a "b">]>${aggregateReport({ domain: 'a.example' })}`, 400, 'bad_report'],
    ['a count below zero', aggregateReport({ domain: 'a.example', rows: [{ ...own, count: -1 }] }), 400, 'bad_report'],
    ['a count of 10^18', aggregateReport({ domain: 'a.example', rows: [{ ...own, count: 1e18 }] }), 400, 'bad_report'],
    [
      'an address that is none',
      aggregateReport({ domain: 'a.example', rows: [{ ...own, address: '999.1.1.1' }] }),
      400,
      'bad_report',
    ],
    ['the year 2300', aggregateReport({ domain: 'a.example', begin: 10_413_792_000 }), 400, 'bad_report'],
    [
      'begin after end',
      aggregateReport({ domain: 'a.example', begin: 1_795_400_000, end: 1_795_300_000 }),
      400,
      'bad_report',
    ],
    ['a depth of 100', `<feedback>${'<a>'.repeat(100)}`, 400, 'bad_report'],
    ['an attribute of 900 kB', `<feedback a="${'x'.repeat(900_000)}"/>`, 400, 'bad_report'],
    ['more than --max-report', `From: a@b.example\r\n\r\n${'x'.repeat(1_100_000)}`, 413, 'payload_too_large'],
    ['gzip of an mbox of a mail with gzip of an mbox', nestedMail(2), 400, 'bad_report'],
    ...(['time', 'memory', 'fault', 'remembered'] as const).map(
      (reason) => [`what ended the lane (${reason})`, `ends-the-lane: ${reason}`, 400, 'bad_report'] as const,
    ),
    ['a full lane', 'ends-the-lane: full', 503, 'overloaded'],
    ['a truncated file', report().slice(0, -200), 400, 'bad_report'],
  ])('%s: %i', async (_, payload, status, code) => {
    const answer = await post(payload)
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })
  it('in an mbox is told beside a failure report and what is no report', async () => {
    const single = 'From: a@b.example\r\n\r\n'
    const feedback = 'Content-Type: message/feedback-report\r\n\r\nFeedback-Type: auth-failure\r\n'
    const mbox = [
      `${single}At noon?\r\n`,
      `${single}${report({ domain: 'mbox.example' })}\r\n`,
      `From: a@b.example\r\n${feedback}`,
    ]
      .map((message) => `From a@b\n${message}\n`)
      .join('')
    expect(await post(mbox)).toMatchObject({
      status: 200,
      body: { reports: [{ messages: 100 }], refused: [{ name: 'body#1', code: 'bad_report' }], failure_reports: 1 },
    })
    const form = new FormData()
    form.set('file', new File([mbox], 'may.mbox'))
    const sent = new Response(form)
    const login = await app.inject({ url: '/reports', headers: { ...PAGE, authorization: 'Bearer all' } })
    const { body } = await app.inject({
      ...{ method: 'POST', url: `/reports?_csrf=${/_csrf=([\w-]+)/.exec(login.body)![1]}` },
      payload: Buffer.from(await sent.bytes()),
      headers: {
        ...{ ...PAGE, authorization: 'Bearer all', cookie: String(login.headers['set-cookie']).split(';')[0] },
        'content-type': sent.headers.get('content-type')!,
      },
    })
    for (const words of ['1 failure report counted and not kept.', 'may.mbox#1', 'there is no report in it'])
      expect(body).toContain(words)
  })
  it('that counts and comes again without proof is a duplicate, and not kept apart', async () => {
    const about = { domain: 'again.example', email: 'a@google.com' }
    expect((await post(report(about))).body.reports[0]).not.toHaveProperty('note')
    const { body } = await post(`From: a@c.example\r\nContent-Type: text/xml\r\n\r\n${report(about)}`)
    expect(body.reports[0]).toMatchObject({ duplicate: true, authenticated: false })
    expect(body.reports[0]).not.toHaveProperty('note')
  })
  it('of 1970 is too old, and that is an answer', async () => {
    const { status, body } = await post(aggregateReport({ domain: 'a.example', begin: 1_000 }))
    expect(status).toBe(200)
    expect(body).toMatchObject({ reports: [], refused: [{ code: 'too_old' }] })
  })
  it('about one message that failed is counted, and nothing of it is kept', async () => {
    const failure = [
      'From: reports@receiver.example',
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=feedback-report; boundary=b',
      '',
      '--b\r\nContent-Type: text/plain\r\n\r\nA message failed.\r\n',
      '--b\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: auth-failure\r\nVersion: 1\r\n',
      '--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: a secret of somebody\r\n\r\nHello\r\n',
      '--b--\r\n',
    ].join('\r\n')
    const before = await get('/v1/reports/domains')
    expect(await post(failure)).toEqual({
      status: 200,
      body: { reports: [], refused: [], failure_reports: 1, foreign_rows: 0 },
    })
    expect((await get('/v1/reports/domains')).body).toEqual(before.body)
  })
  it.each([
    ['UTF-16, little endian', Buffer.from(`\ufeff${report({ domain: 'utf16le.example' })}`, 'utf16le')],
    ['UTF-16, big endian', Buffer.from(`\ufeff${report({ domain: 'utf16be.example' })}`, 'utf16le').swap16()],
  ])('in %s is read', async (_, payload) => {
    const { status, body } = await post(payload)
    expect([status, body.reports[0]?.messages]).toEqual([200, 100])
  })
  it('whose texts are longer than any report needs is stored with their beginnings', async () => {
    // Two pieces of a text; no two characters alike, so that nothing compresses.
    const long = (at: number) => Array.from({ length: 500 }, (_, i) => String.fromCodePoint(at + i * 13)).join('')
    const id = `${long(0x4e00)}<![CDATA[${long(0x4e05)}]]>`
    const strange = aggregateReport({ domain: 'long.example', id, organization: id })
    const { status, body } = await post(strange)
    expect([status, body.reports?.[0]?.duplicate]).toEqual([200, false])
    expect(body.reports[0].organization.length).toBeLessThanOrEqual(512)
    expect((await post(strange)).body.reports[0].duplicate).toBe(true)
  })
  it('is not kept waiting by one key whose uploads do not end', async () => {
    const stop = new AbortController()
    const stalled = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('<feedback>')
      await new Promise((_, reject) => stop.signal.addEventListener('abort', () => reject(stop.signal.reason)))
    }
    const about = { name: 'x', way: 'file', accepts: () => 'taken' as const } as const
    const held = Array.from({ length: 8 }, () =>
      service.import(stalled(), { ...about, owner: 'slow', signal: stop.signal }).catch(() => 'ended'),
    )
    const octets = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from(aggregateReport({ domain: 'held.example', rows: [own] }))
    }
    const { reports } = await service.import(octets(), {
      ...about,
      owner: 'other',
      signal: AbortSignal.timeout(30_000),
    })
    expect(reports).toHaveLength(1)
    stop.abort(new Error('over'))
    expect(await Promise.all(held)).toEqual(Array(8).fill('ended'))
  })
  it('is not kept waiting by slow uploads of several keys', async () => {
    const slow = ['all', 'one'].flatMap((key) =>
      [1, 2].map(() => {
        const payload = new PassThrough()
        payload.write('<feedback>')
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' }
        return { payload, ended: app.inject({ method: 'POST', url: '/v1/reports', headers, payload }) }
      }),
    )
    await new Promise((resolve) => setImmediate(resolve))
    const byHttp = await post(aggregateReport({ domain: 'beside.example', rows: [own] }), 'third')
    expect(byHttp.body.reports).toHaveLength(1)
    for (const { payload } of slow) payload.end()
    expect((await Promise.all(slow.map(({ ended }) => ended))).map(({ statusCode }) => statusCode)).toEqual(
      Array(4).fill(400),
    )
  })
  it('by mail takes no place of an upload', async () => {
    const stop = new AbortController()
    const stalled = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('<feedback>')
      await new Promise((_, reject) => stop.signal.addEventListener('abort', () => reject(stop.signal.reason)))
    }
    const about = { name: 'x', accepts: () => 'taken' as const } as const
    const held = ['a', 'b', 'c'].flatMap((owner) =>
      [1, 2].map(() =>
        service.import(stalled(), { ...about, way: 'file', owner, signal: stop.signal }).catch(() => 'ended'),
      ),
    )
    const octets = Buffer.from(aggregateReport({ domain: 'mail2.example', rows: [own] }))
    const mail = { ...about, way: 'mail', signal: AbortSignal.timeout(10_000) } as const
    expect((await service.import(octets, mail)).reports).toHaveLength(1)
    stop.abort(new Error('over'))
    expect(await Promise.all(held)).toEqual(Array(6).fill('ended'))
  })
  it('is refused from the moment that its key may not bring it any more, beside what was stored until then', async () => {
    const mail = (id: string) =>
      `From a@b Mon\nFrom: x@b.example\nContent-Type: text/xml\n\n${aggregateReport({ id, domain: 'lost.example' })}\n\n`
    async function* mbox(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(mail('1') + mail('2') + mail('3'))
    }
    let asked = 0
    const { reports, refused } = await service.import(mbox(), {
      ...{ name: 'body', way: 'file', owner: 'one', signal: AbortSignal.timeout(5_000) },
      accepts: () => (++asked === 1 ? 'taken' : 'forbidden'),
    })
    expect([reports.map(({ reportId }) => reportId), refused.map(({ code }) => code)]).toEqual([
      ['1'],
      ['forbidden', 'forbidden'],
    ])
  })
  it.each(['all', 'one'])('has no rows about another domain than its own: a key "%s"', async (key) => {
    const rows = [own, { ...own, from: 'mail.a.example' }, { ...own, from: 'victim.example', count: 1_000 }]
    const { status, body } = await post(
      report({ id: `foreign-${key}`, begin: Date.UTC(2026, 2, 1) / 1_000, rows }),
      key,
    )
    expect([status, body.foreign_rows, body.reports[0]]).toEqual([
      200,
      1,
      expect.objectContaining({ messages: 140, foreign_rows: 1 }),
    ])
    const period = 'from=2026-03-01&to=2026-03-02'
    expect((await get(`/v1/reports?domain=victim.example&${period}`)).body).toMatchObject({ messages: 0, senders: [] })
  })
  it('of another domain is refused for a key that is made for one, beside the one that is taken', async () => {
    const { status, body } = await post(report({ domain: 'b.example', id: 'x', rows: [own] }), 'one')
    expect(status).toBe(200)
    expect(body).toMatchObject({ reports: [], refused: [{ code: 'forbidden' }] })
  })
})

describe('questions', () => {
  it('show who sends, with the sums of the report', async () => {
    const { status, body } = await get('/v1/reports?domain=a.example')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{
        domain: 'a.example',
        from: '2026-10-27',
        to: '2026-11-23',
        reports: 1,
        messages: 100,
        passing: 70,
        forwarded: 0,
      },
      ...{ failing: 30, unauthenticated_reports: 0 },
      reporters: [{ name: 'google.com', known: true, reports: 1 }],
      policies: [{ policy: { p: 'none' } }],
      days: [{ date: '2026-11-20', messages: 100, passing: 70, forwarded: 0, failing: 30 }],
    })
    expect(
      body.senders.map((one: { name: string; messages: number; verdict: string }) => [
        one.name,
        one.messages,
        one.verdict,
      ]),
    ).toEqual([
      ['mail.a.example (your own server)', 70, 'authorized'],
      ['spf.news.example', 20, 'unknown'],
      ['unknown senders', 10, 'unknown'],
    ])
  })
  it('list senders with what is seen today', async () => {
    const { body } = await get('/v1/reports/senders?domain=a.example&verdict=authorized')
    expect(body.data).toHaveLength(1)
    expect(body.data[0]).toMatchObject({
      ...{
        addresses: 1,
        messages: 70,
        spf_aligned: 70,
        dkim_aligned: 0,
        dispositions: { none: 70, quarantine: 0, reject: 0 },
      },
      today: { asked: 1, left_out: 0, spf: [{ address: '45.53.5.1', result: 'pass' }] },
    })
  })
  it('page through rows, and give them as CSV without formulas', async () => {
    const first = await get('/v1/reports/rows?domain=a.example&limit=2')
    expect([first.body.data.length, first.body.has_more]).toEqual([2, true])
    const second = await get(`/v1/reports/rows?domain=a.example&limit=2&cursor=${first.body.next_cursor}`)
    expect(second.body).toMatchObject({ has_more: false, data: [{ address: expect.any(String) }] })
    const csv = await get('/v1/reports/rows?domain=a.example&format=csv&csv=spreadsheet')
    expect(csv.body.split('\r\n')).toHaveLength(5)
    expect(csv.body).toMatch(/^date,address,header_from,envelope_from,spf_domain,spf_result,spf_aligned,/)
  })
  it.each([
    ['the scope read', '/v1/reports?domain=a.example', 'read', 403],
    ['a key of another domain', '/v1/reports?domain=b.example', 'one', 403],
    ['a name below its domain', '/v1/reports?domain=x.a.example', 'one', 200],
    ['from after to', '/v1/reports?domain=a.example&from=2026-11-02&to=2026-11-01', 'all', 400],
    ['no date', '/v1/reports?domain=a.example&from=2026-02-30', 'all', 400],
    ['the year 0', '/v1/reports?domain=a.example&from=0000-01-01&to=0000-01-31', 'all', 400],
    ['a period that would begin in the year 0', '/v1/reports?domain=a.example&to=0001-01-01', 'all', 400],
    ['the last day that a date can name', '/v1/reports?domain=a.example&from=9999-11-30&to=9999-12-31', 'all', 200],
    ['a domain without reports', '/v1/reports?domain=b.example', 'all', 200],
  ])('%s: %s as %s is %i', async (_, path, key, status) => {
    expect((await get(path, key)).status).toBe(status)
  })
  it('a domain without reports has none, and that is no statement about mail', async () => {
    const { body } = await get('/v1/reports?domain=b.example')
    expect(body).toMatchObject({ reports: 0, messages: 0, days: [], senders: [], last_report_at: null })
  })
})

describe('whose a sender is', () => {
  const news = 'a.example:include:spf.news.example'
  async function say(id: string, payload: object, key = 'one') {
    const response = await app.inject({
      ...{ method: 'PUT', url: `/v1/reports/senders/${encodeURIComponent(id)}`, payload },
      headers: { authorization: `Bearer ${key}` },
    })
    return { status: response.statusCode, body: response.json() }
  }
  const listed = async (id: string) =>
    (await get('/v1/reports/senders?domain=a.example&today=false')).body.data.find(
      (one: { id: string }) => one.id === id,
    )

  it('is kept with who said it and when, until it is taken back', async () => {
    const said = { ours: true, note: 'the newsletter', by: 'id-of-one', at: '2026-11-23T12:00:00.000Z' }
    const { status, body } = await say(news, { ours: true, note: 'the newsletter' })
    expect([status, body]).toEqual([200, expect.objectContaining({ id: news, verdict: 'needs_setup', said })])
    expect(body.because).toContain('you said on 2026-11-23 that it is yours: the newsletter')
    expect(await listed(news)).toMatchObject({ verdict: 'needs_setup', said })
    expect((await say(news, { ours: false })).body).toMatchObject({
      verdict: 'not_ours',
      said: { note: 'the newsletter' },
    })
    const { body: tried } = await get('/v1/reports/policy?domain=a.example&policy=reject')
    const record = encodeURIComponent('_dmarc TXT v=DMARC1; p=reject')
    const { body: alike } = await get(`/v1/reports/policy?domain=a.example&with=${record}`)
    expect([alike.policy, alike.affected]).toEqual([tried.policy, tried.affected])
    expect(await get('/v1/reports/policy?domain=a.example')).toMatchObject({ body: { code: 'missing_parameter' } })
    expect(tried.affected.map(({ sender }: { sender: string }) => sender)).toEqual(['a.example:unknown:brief'])
    expect((await say(news, { ours: null })).body).toMatchObject({ verdict: 'unknown' })
    expect(await listed(news)).not.toHaveProperty('said')
  })
  it('is kept for the addresses of a sender without a name', async () => {
    const id = 'a.example:unknown:brief'
    expect((await say(id, { ours: false })).body).toMatchObject({ id, verdict: 'not_ours', name: 'senders' })
    expect((await say(id, { ours: null })).status).toBe(200)
  })
  it.each<[string, object, string, number]>([
    ['a.example:provider:nobody', { ours: true }, 'one', 404],
    [news, { ours: true }, 'third', 404], // not even that it exists
    ['provider:mailchimp', { ours: true }, 'all', 404],
    [`${'a'.repeat(63)}.example:${'x'.repeat(600)}`, { ours: true }, 'all', 404],
    [news, { ours: true }, 'read', 403],
    [news, {}, 'one', 400],
    [news, { ours: 'perhaps' }, 'one', 400],
    [news, { ours: true, note: 'a\u0007' }, 'one', 400],
  ])('%s %j of the key %s: %i', async (id, payload, key, status) =>
    expect((await say(id, payload, key)).status).toBe(status),
  )
  it('has buttons on the page of the domain', async () => {
    const html = { accept: 'text/html', 'sec-fetch-site': 'same-origin' }
    const form = { ...html, 'content-type': 'application/x-www-form-urlencoded' }
    const tokenIn = (body: string): string => /name="_csrf" value="([\w-]+)"/.exec(body)![1]!
    const cookieOf = (cookie: unknown): string => String(cookie).split(';')[0]!
    const login = await app.inject({ url: '/login', headers: html })
    const { headers: loggedIn } = await app.inject({
      ...{ method: 'POST', url: '/login', payload: `_csrf=${tokenIn(login.body)}&key=all` },
      headers: { ...form, cookie: cookieOf(login.headers['set-cookie']) },
    })
    const headers = { ...html, cookie: cookieOf(loggedIn['set-cookie']) }
    const { body } = await app.inject({ url: '/reports/a.example', headers })
    // Of so few messages it is not asked; the buttons are beside the evidence.
    expect(body).not.toContain('Is it yours?')
    expect(body).toContain('It is ours')
    const token = tokenIn(body)
    const press = (ours: string) =>
      app.inject({
        ...{ method: 'POST', url: '/reports/a.example/senders' },
        headers: { ...form, ...headers },
        payload: String(new URLSearchParams({ _csrf: token, id: news, ours })),
      })
    const { statusCode, headers: answered } = await press('false')
    expect([statusCode, answered.location]).toEqual([303, '/reports/a.example'])
    expect(await listed(news)).toMatchObject({ verdict: 'not_ours', said: { by: 'id-of-all' } })
    expect((await app.inject({ url: '/reports/a.example', headers })).body).toContain('Take back')
    await press('null')
    expect(await listed(news)).toMatchObject({ verdict: 'unknown' })
  })
})

it('the page of a domain asks about strangers, and not about its own mail host', async () => {
  const host: LabRow = { address: '45.53.7.1', count: 4, envelope: 'm.example' }
  const stranger: LabRow = { address: '45.98.0.1', count: 30, envelope: 'm.example' }
  for (const day of [16, 17, 18, 19]) {
    const begin = Date.UTC(2026, 10, day) / 1_000
    // One reporter, on one day: too little for a verdict about the host.
    const rows = day === 19 ? [host, stranger] : [stranger]
    expect(await post(report({ domain: 'm.example', id: `m${day}`, begin, rows }))).toMatchObject({ status: 200 })
  }
  const { data } = (await get('/v1/reports/senders?domain=m.example&today=false')).body
  expect(data.map(({ name, verdict }: { name: string; verdict: string }) => [name, verdict])).toEqual([
    ['unknown senders in 45.98.0.0/24', 'unknown'],
    ['mx.m.example (your mail host)', 'unknown'],
  ])
  const page = await app.inject({
    url: '/reports/m.example',
    headers: { accept: 'text/html', authorization: 'Bearer all' },
  })
  const asked = /<h2 id="yours">.*?<\/ul>/s.exec(page.body)?.[0] ?? ''
  expect([asked.includes('45.98.0.0/24'), asked.includes('mx.m.example')]).toEqual([true, false])
})

describe('what comes by mail', () => {
  const SINCE = 'from=2026-05-01&to=2026-05-31'
  const DAYS = Array.from({ length: 8 }, (_, day) => Date.UTC(2026, 4, 10 + day) / 1_000)
  const told = async (domain: string) => {
    const [shown, senders] = await Promise.all(
      ['', '/senders'].map((path) => get(`/v1/reports${path}?domain=${domain}&${SINCE}${path && '&today=false'}`)),
    )
    const { reports, messages, passing, days, policies, senders: largest } = shown!.body
    return { reports, messages, passing, days, policies, largest, senders: senders!.body.data }
  }
  const failing = { ...own, count: 400, spf: 'fail', spfResult: 'fail' } as const
  const attacker: LabRow = {
    ...{ address: '45.99.0.9', count: 1_300_000, spf: 'pass', dkim: 'pass', envelope: 'a.example' },
    signatures: [{ domain: 'a.example', selector: 's' }],
  }
  beforeAll(async () => {
    for (const [i, begin] of DAYS.entries())
      await post(report({ domain: 'mail.example', id: `true${i}`, begin, rows: [own, bot] }))
  })
  it.each(['a@nobody.example', 'dmarc77@gmail.com', 'a@outlook.com', 'noreply-dmarc-support@google.com.evil.example'])(
    'from %s changes no sum, no sender and no verdict, and is shown apart',
    async (from) => {
      const before = await told('mail.example')
      const { body: first } = await get(`/v1/reports?domain=mail.example&${SINCE}`)
      for (const [i, begin] of DAYS.entries()) {
        const about = { domain: 'mail.example', id: `${from}${i}`, begin, rows: [failing, attacker] }
        expect(await mail(from, about)).toMatchObject({ counts: false, duplicate: false })
      }
      expect(await told('mail.example')).toEqual(before)
      const { body: after } = await get(`/v1/reports?domain=mail.example&${SINCE}`)
      const apart = (one: typeof after) =>
        one.unauthenticated_reports + one.other_reporters.reduce((n: number, { reports = 0 }) => n + reports, 0)
      expect(apart(after) - apart(first)).toBe(8)
    },
  )
  it('from the exact sender of a known reporter counts, also behind a forged report of the same id', async () => {
    const about = { domain: 'exact.example', id: 'same', rows: [own], organization: 'google.com' }
    const email = 'noreply-dmarc-support@google.com'
    expect(await mail('a@gmail.com', { ...about, email })).toMatchObject({ authenticated: false, counts: false })
    const somebody = await mail('other@google.com', { ...about, id: 'other', email })
    expect(somebody).toMatchObject({ authenticated: true, counts: false })
    expect(await mail(email, about)).toMatchObject({ authenticated: true, counts: true, duplicate: false })
    expect(await mail(email, about)).toMatchObject({ counts: true, duplicate: true })
    expect((await get('/v1/reports?domain=exact.example')).body).toMatchObject({
      ...{ reports: 1, messages: 70, unauthenticated_reports: 1 },
      reporters: [{ name: 'google.com', known: true, reports: 1 }],
      other_reporters: [{ name: 'google.com', reports: 1 }],
    })
  })
})

describe('pages', () => {
  const page = (url: string, key = 'all') =>
    app.inject({
      url,
      headers: { authorization: `Bearer ${key}`, accept: 'text/html', 'sec-fetch-site': 'same-origin' },
    })
  it('list the domains with reports', async () => {
    const { statusCode, body } = await page('/reports')
    expect(statusCode).toBe(200)
    expect(body).toContain('<a href="/reports/a.example">a.example</a>')
  })
  it('show who sends, the days as a drawing with its table, and what a policy would do', async () => {
    const { statusCode, body } = await page('/reports/a.example')
    expect(statusCode).toBe(200)
    for (const text of [
      'mail.a.example (your own server)',
      'class="daybars"',
      'Messages by day',
      'What p=reject would do',
      'The evidence',
    ])
      expect(body).toContain(text)
  })
  it('say what a policy would do before the senders, and fold long tables of who loses mail', async () => {
    const { body } = await page('/reports/a.example')
    // One day of one reporter asks for nothing: no advice stands above it.
    expect(body).not.toContain('id="advice"')
    const at = ['id="policy"', 'id="senders"', 'id="days"'].map((text) => body.indexOf(text))
    expect(at.every((one) => one > 0)).toBe(true)
    expect(at).toEqual(at.toSorted((a, b) => a - b))
  })
  describe('show what comes in while they are open', () => {
    const SAME = { 'sec-fetch-site': 'same-origin', authorization: 'Bearer all' }
    const eventsOf = (body: string) => /data-events="([^"]*)"/.exec(body)![1]!.replaceAll('&amp;', '&')
    it('as events with the content of the page', async () => {
      const path = eventsOf((await page('/reports/live.example?policy=quarantine')).body)
      expect(path).toBe('/reports/live.example/events?policy=quarantine&stored=0')
      const url = await app.listen({ host: '127.0.0.1', port: 0 })
      const left = new AbortController()
      const response = await fetch(`${url}${path}`, { headers: SAME, signal: left.signal })
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      await post(report({ domain: 'live.example', rows: [{ ...own, count: 4_321 }] }))
      let text = ''
      for await (const piece of response.body!) {
        text += Buffer.from(piece).toString()
        if (/event: progress\ndata: .*\n\n$/.test(text)) break
      }
      left.abort()
      const [ready, , , event, data] = text.split('\n')
      expect([ready, event]).toEqual(['event: ready', 'event: progress'])
      const told = JSON.parse(data!.slice('data: '.length))
      expect(Object.keys(told)).toEqual(['state', 'html', 'details'])
      expect(told.html).toContain('4,321 messages')
      expect(told.html).toContain('What p=quarantine would do')
      expect(told.details).toContain('The evidence')
    })
    it.each<[string, Record<string, string>, string, number]>([
      ['of another site', { ...SAME, 'sec-fetch-site': 'cross-site' }, 'a.example', 403],
      ['without a key', { 'sec-fetch-site': 'same-origin' }, 'a.example', 401],
      ['with a key of another scope', { ...SAME, authorization: 'Bearer read' }, 'a.example', 403],
      ['with a key of another domain', { ...SAME, authorization: 'Bearer one' }, 'b.example', 403],
      ['about no domain', SAME, 'x', 400],
    ])('not for a request %s', async (_, headers, domain, status) => {
      const { statusCode } = await app.inject({ url: `/reports/${domain}/events`, headers })
      expect(statusCode).toBe(status)
    })
  })
  it('show no markup and no control characters of a report', async () => {
    const evil = '&lt;img src=x onerror=alert(1)&gt;&#x202e;&#x9b;31m"\'</x>'.replace('</x>', '')
    const rows: readonly LabRow[] = [1, 2, 3].map((n) => ({
      ...{ address: `45.77.0.${n}`, count: 50, envelope: `${evil}.example`, spfResult: evil, disposition: evil },
      ...{ reason: evil, signatures: [{ domain: `${evil}.example`, selector: evil, result: evil }] },
    }))
    const about = { domain: 'evil.example', id: evil, organization: evil, email: `${evil}@google.com`, rows }
    const sent = await post(report({ ...about, policy: `<p>${evil}</p><sp>${evil}</sp>` }))
    expect(sent.status).toBe(200)
    // XML 1.0 has no C0 controls; C1 has some that a terminal obeys.
    const { body: csv } = await get('/v1/reports/rows?domain=evil.example&format=csv')
    expect(csv).toContain('45.77.0.1')
    expect(csv).not.toMatch(/[^\P{Cc}\r\n]/u)
    for (const url of ['/reports/evil.example', '/reports', '/v1/reports/rows?domain=evil.example&format=csv']) {
      const { statusCode, body } = await page(url)
      expect([url, statusCode]).toEqual([url, 200])
      if (url.startsWith('/reports')) expect(body).not.toMatch(/<img|\u202e/)
    }
  })
  it('say how reports come in where there are none', async () => {
    const way = '<a href="/reports#ways">How reports come in</a>'
    const [none, some, index] = await Promise.all(
      ['/reports/none.example', '/reports/a.example', '/reports'].map((url) => page(url)),
    )
    expect([none!.body.includes(way), some!.body.includes(way), index!.body.includes('id="ways"')]).toEqual([
      true,
      false,
      true,
    ])
  })
  it('show only the domains of a key', async () => {
    expect((await page('/reports/b.example', 'one')).statusCode).toBe(403)
  })
})
