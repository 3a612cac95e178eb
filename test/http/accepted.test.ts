import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AcceptedAnswer, acceptedAnswer, acceptedListAnswer } from '../../src/answers/accepted.ts'
import { type CheckAnswer, checkAnswer } from '../../src/answers/check.ts'
import { type MonitorAnswer, monitorAnswer, monitorListAnswer } from '../../src/answers/monitors.ts'
import { sleep } from '../../src/base/deadline.ts'
import type { MonitorServices } from '../../src/monitors/open.ts'
import example from '../../src/operations/examples/check.json' with { type: 'json' }
import { labApp, labDeps, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { labMonitorServices } from '../lab/monitor-services.ts'
import { labWorld } from '../lab/world.ts'

/** Accepted findings from the API to checks, monitors, the portfolio and messages, over a real database. */

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 10, 12)
let nowMs = START_MS
const ZONE = {
  'a.example': { TXT: ['v=spf1 -all'], MX: [[10, 'm.a.example']] },
  'm.a.example': { A: ['45.53.5.1'] },
  'b.example': { TXT: ['v=spf1 -all'], MX: [[10, 'm.a.example']] },
} as const
const world = labWorld(ZONE, { now: () => nowMs })
const keys = [
  labKey('mine', ['read', 'jobs', 'reports']),
  labKey('other', ['read', 'jobs', 'reports']),
  { ...labKey('law', ['read', 'jobs', 'reports']), domains: ['law.example'] },
  labKey('admin', ['admin']),
]
const answer = checkAnswer.parse(example)
const none = {
  ...{ id: 'dmarc.no_record', severity: 'high', title: 'No DMARC record', detail: 'There is none.' },
  reference: 'RFC 9989 §4.10',
} as const
/** A check whose DMARC fails by one finding. */
const failing = {
  ...answer,
  ...{
    status: 'fail',
    spf: { ...answer.spf, status: 'pass' },
    dmarc: { ...answer.dmarc, status: 'fail' },
    findings: [none],
  },
} as const

/** The same domain before: it passes. */
const passing = {
  ...answer,
  ...{ status: 'pass', score: 100, grade: 'A+', score_breakdown: [], findings: [] },
  ...{ spf: { ...answer.spf, status: 'pass' }, dmarc: { ...answer.dmarc, status: 'pass' } },
  ...{ dkim: { ...answer.dkim, status: 'pass' }, ptr: { ...answer.ptr, status: 'pass' }, mx_status: 'pass' },
} as const
const worse = {
  ...passing,
  ...{ status: 'fail', dmarc: failing.dmarc, findings: [none] },
  ...{ score: 70, grade: 'B' },
  score_breakdown: [{ component: 'dmarc', finding: none.id, kind: 'deduction', points: 30 }],
} as const
const later = new Map<string, typeof passing | typeof worse>()

let app: FastifyInstance
let services: MonitorServices
let database: Awaited<ReturnType<typeof labDatabase>>
const told: { url: string; title: string; lines: string[] }[] = []
beforeAll(async () => {
  database = await labDatabase()
  const lab = labMonitorServices(world, database, {
    runOnce: async (_kind, domain) => ({ ...(later.get(domain) ?? failing), domain }),
    senders: {
      post: async ({ url, body }) => {
        const { data } = JSON.parse(body)
        told.push({ url, title: data.title, lines: data.lines })
        return { status: 204, retryAfter: '' }
      },
    },
  })
  services = lab.services
  const deps = labDeps(world, { ...lab.deps, mayCall: () => true })
  app = await labApp(world, { deps, keys: () => keys })
})
afterAll(async () => {
  await app.close()
  await services.stop()
})

type Method = 'GET' | 'POST' | 'DELETE'
const ask = async (method: Method, url: string, body?: object, key = 'mine') =>
  app.inject({ method, url, headers: { authorization: `Bearer ${key}` }, ...(body && { payload: body }) })
const accept = (body: object, key?: string) => ask('POST', '/v1/accepted', body, key)
async function accepted(body: object, key?: string): Promise<AcceptedAnswer> {
  const response = await accept({ reason: 'known', ...body }, key)
  expect([response.statusCode, response.body]).toEqual([201, expect.any(String)])
  return acceptedAnswer.parse(response.json())
}
const list = async (query = '', key = 'mine') =>
  acceptedListAnswer.parse((await ask('GET', `/v1/accepted${query}`, undefined, key)).json()).data
const removeAll = () => sql`DELETE FROM mailsonde.accepted`.execute(database.db)
const checked = async (domain: string, key = 'mine'): Promise<CheckAnswer> =>
  checkAnswer.parse((await ask('GET', `/v1/check?domain=${domain}&plan=false`, undefined, key)).json())
async function ran(): Promise<void> {
  for (let n = 0; n < 600; n++) {
    const { rows } = await sql<{ open: boolean }>`
      SELECT EXISTS (SELECT FROM mailsonde.monitors WHERE enabled AND next_run <= ${new Date(nowMs)})
        OR EXISTS (SELECT FROM mailsonde.deliveries WHERE state = 'pending')
        OR EXISTS (SELECT FROM mailsonde.accepted WHERE tell_at <= ${new Date(nowMs)}) AS open`.execute(database.db)
    if (!rows[0]?.open) return
    await services.monitors.start()
    await sleep(50, AbortSignal.timeout(5_000))
  }
  throw new Error('the monitors did not run')
}
async function watch(target: string, more: object = {}, key = 'mine'): Promise<string> {
  const response = await ask('POST', '/v1/monitors', { kind: 'check', target, ...more }, key)
  expect([response.statusCode, response.body]).toEqual([201, expect.any(String)])
  await ran()
  return monitorAnswer.parse(response.json()).id
}
const shown = async (id: string): Promise<MonitorAnswer> =>
  monitorAnswer.parse((await ask('GET', `/v1/monitors/${id}`)).json())

describe('an acceptance', () => {
  it.each<[what: string, body: object, status: number, code: string]>([
    ['of an unknown finding', { finding: 'dmarc.nonsense', domain: 'a.example' }, 400, 'invalid_parameter'],
    ['of everything', { finding: '*', domain: 'a.example' }, 400, 'invalid_parameter'],
    ['for every domain', { finding: 'dmarc.no_record', domain: '*' }, 400, 'invalid_domain'],
    ['for nothing', { finding: 'dmarc.no_record' }, 400, 'invalid_parameter'],
    [
      'for a domain and a label',
      { finding: 'dmarc.no_record', domain: 'a.example', label: 'x' },
      400,
      'invalid_parameter',
    ],
    ['without a reason', { finding: 'dmarc.no_record', domain: 'a.example', reason: ' ' }, 400, 'missing_parameter'],
    [
      'with a reason of 2 kB',
      { finding: 'dmarc.no_record', domain: 'a.example', reason: 'x'.repeat(2_048) },
      400,
      'invalid_parameter',
    ],
    [
      'with a reason that steers a terminal',
      { finding: 'dmarc.no_record', domain: 'a.example', reason: '\u001b[2J' },
      400,
      'invalid_parameter',
    ],
    [
      'until a day that has passed',
      { finding: 'dmarc.no_record', domain: 'a.example', until: '2026-01-09' },
      400,
      'invalid_parameter',
    ],
    [
      'until no day',
      { finding: 'dmarc.no_record', domain: 'a.example', until: '2026-02-31' },
      400,
      'invalid_parameter',
    ],
    [
      'for more than five years',
      { finding: 'dmarc.no_record', domain: 'a.example', until: '2031-01-11' },
      400,
      'invalid_parameter',
    ],
    ['of a critical finding without an end', { finding: 'spf.plus_all', domain: 'a.example' }, 400, 'until_required'],
    [
      'of a critical finding for two years',
      { finding: 'spf.plus_all', domain: 'a.example', until: '2028-01-01' },
      400,
      'until_required',
    ],
    ['with an unknown field', { finding: 'dmarc.no_record', domain: 'a.example', x: 1 }, 400, 'unknown_parameter'],
  ])('%s is refused', async (_, body, status, code) => {
    const response = await accept({ reason: 'known', ...body })
    expect([response.statusCode, response.json().code]).toEqual([status, code])
    expect(await list()).toEqual([])
  })

  it('has an end, whoever accepts, and is changed by another one', async () => {
    const html = '<b>"=1+1"</b> & more'
    const one = await accepted({
      finding: 'dmarc.no_record',
      domain: 'A.Example',
      until: '2026-06-30',
      reason: html,
      by: 'joe',
    })
    expect(one).toMatchObject({
      domain: 'a.example',
      label: null,
      by: 'joe',
      reason: html,
      state: 'active',
      severity: 'high',
    })
    expect(one.until).toBe('2026-06-30T23:59:59.999Z')
    const again = await accept({ finding: 'dmarc.no_record', domain: 'a.example', reason: 'moved' })
    expect([again.statusCode, again.json()]).toMatchObject([
      200,
      { id: one.id, reason: 'moved', by: 'id-of-mine', until: '2031-01-10T23:59:59.999Z' },
    ])
    const critical = await accepted({ finding: 'spf.plus_all', domain: 'a.example', until: '2027-01-10' })
    expect(await list()).toEqual([critical, again.json()])
    expect((await ask('DELETE', `/v1/accepted/${critical.id}`)).statusCode).toBe(200)
    expect((await ask('DELETE', `/v1/accepted/${critical.id}`)).statusCode).toBe(404)
    await removeAll()
  })

  it('belongs to its key: another key with the same domain has its own', async () => {
    const mine = await accepted({ finding: 'dmarc.no_record', domain: 'a.example', reason: 'ours' })
    await accepted({ finding: 'dmarc.no_record', domain: 'a.example', reason: 'theirs' }, 'other')
    expect((await list('', 'other')).map(({ reason }) => reason)).toEqual(['theirs'])
    expect((await list('', 'admin')).map(({ reason }) => reason)).toEqual(['theirs', 'ours'])
    expect((await ask('DELETE', `/v1/accepted/${mine.id}`, undefined, 'other')).statusCode).toBe(404)
    expect(await list()).toEqual([mine])
    await removeAll()
  })

  it('of a key with domains is for these alone', async () => {
    await accepted({ finding: 'dmarc.no_record', domain: 'law.example' }, 'law')
    for (const subject of [{ domain: 'a.example' }, { label: 'law' }])
      expect((await accept({ finding: 'dmarc.no_record', reason: 'x', ...subject }, 'law')).statusCode).toBe(403)
    await removeAll()
  })
})

describe('a check', () => {
  it('shows what its caller accepted, and has the score and status of before', async () => {
    const before = await checked('a.example')
    const { id } = await accepted({
      finding: 'dmarc.no_record',
      domain: 'a.example',
      reason: 'a pilot',
      by: 'joe',
      until: '2026-02-01',
    })
    const after = await checked('a.example')
    const mark = { by: 'joe', reason: 'a pilot', until: '2026-02-01T23:59:59.999Z' }
    const marked = after.findings.filter((one) => one.accepted)
    expect(marked).toEqual([{ ...before.findings.find((one) => one.id === 'dmarc.no_record'), accepted: mark }])
    expect([after.score, after.grade, after.status]).toEqual([before.score, before.grade, before.status])
    for (const other of [await checked('b.example'), await checked('a.example', 'other')])
      expect(other.findings.filter((one) => one.accepted)).toEqual([])
    await ask('DELETE', `/v1/accepted/${id}`)
    expect((await checked('a.example')).findings.filter((one) => one.accepted)).toEqual([])
  })
})

describe('a monitor', () => {
  it('is bad until its finding is accepted, and again when that has ended; both are told once', async () => {
    const notify = [{ type: 'webhook', url: 'https://hooks.a.example/x' }]
    const id = await watch('a.example', { notify, labels: ['law'] })
    await watch('b.example', { notify, labels: ['law'] })
    const other = await watch('a.example', {}, 'other')
    expect((await shown(id)).state).toBe('bad')
    const until = new Date(nowMs + 30 * DAY_MS).toISOString()
    nowMs += 120_000
    await accepted({ finding: 'dmarc.no_record', label: 'law', until, by: 'dean' })
    await ran()
    const now = await shown(id)
    expect([now.state, now.accepted]).toEqual([
      'ok',
      [{ finding: 'dmarc.no_record', by: 'dean', reason: 'known', until }],
    ])
    const admin = monitorListAnswer.parse((await ask('GET', '/v1/monitors?accepted=true', undefined, 'admin')).json())
    expect(admin.data.map(({ target }) => target)).toEqual(['b.example', 'a.example'])
    expect(admin.data.map((one) => one.id)).not.toContain(other)
    expect(told).toEqual([])
    nowMs += 17 * DAY_MS
    await ran()
    const soon =
      'dmarc.no_record is accepted until 2026-02-09, here and at the other monitors with its label; then it counts again'
    expect(told.map(({ lines }) => lines)).toEqual([[soon]])
    nowMs += DAY_MS
    await ran()
    expect(told).toHaveLength(1)
    nowMs += 14 * DAY_MS
    await ran()
    expect(told.map(({ lines }) => lines[0])).toEqual([
      soon,
      expect.stringContaining('no longer accepted since 2026-02-09'),
    ])
    const after = await shown(id)
    expect([after.state, after.accepted]).toEqual(['bad', []])
    expect((await list())[0]?.state).toBe('ended')
  })

  it('is told of what makes its domain worse, and not of what was accepted before it came', async () => {
    const notify = [{ type: 'webhook', url: 'https://hooks.a.example/worse' }]
    const worsened = (): readonly string[] => told.flatMap(({ url, title }) => (url.endsWith('/worse') ? [title] : []))
    later.set('known.example', passing).set('news.example', passing)
    const id = await watch('known.example', { notify, when: ['worse'] })
    await watch('news.example', { notify, when: ['worse'] })
    const { id: acceptance } = await accepted({ finding: none.id, domain: 'known.example' })
    later.set('known.example', worse).set('news.example', worse)
    nowMs += DAY_MS
    await ran()
    expect(worsened()).toEqual(['news.example: worse than before: fail instead of pass, score 70 instead of 100'])
    const now = await shown(id)
    expect([now.state, now.last?.score, now.accepted.map(({ finding }) => finding)]).toEqual(['ok', 70, [none.id]])
    // It counts again: the state says so, and the domain itself is no worse than it was.
    await ask('DELETE', `/v1/accepted/${acceptance}`)
    nowMs += DAY_MS
    await ran()
    expect([(await shown(id)).state, worsened().length]).toEqual(['bad', 1])
  })
})
