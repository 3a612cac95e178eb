import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/answers/check.ts'
import { reportService } from '../../src/reports/service.ts'
import { databaseError } from '../../src/store/postgres/problems.ts'
import { labApp, labDeps, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { heavyHere } from '../lab/heavy.ts'
import { LAB_KEY } from '../lab/messages.ts'
import { aggregateReport, type LabRow } from '../lab/report-xml.ts'
import { NO_REPORTS } from '../lab/reports.ts'
import { UNBOUNDED } from '../lab/storage.ts'
import { labWorld } from '../lab/world.ts'

/** What reports add to the check of a domain, and for whom. */
const NOW = Date.UTC(2026, 10, 23, 12)
const KEY = LAB_KEY
const MAIL = {
  '1.5.53.45.in-addr.arpa': { PTR: ['mail.a.example'] },
  'mail.a.example': { A: ['45.53.5.1'] },
  'spf.news.example': { TXT: ['v=spf1 ip4:45.53.6.0/24 -all'] },
} as const
const zone = (domain: string, spf: string) => ({
  [domain]: { MX: [[10, 'mail.a.example']], TXT: [spf] } as const,
  [`_dmarc.${domain}`]: { TXT: [`v=DMARC1; p=none; rua=mailto:d@${domain}`] },
  [`odd77._domainkey.${domain}`]: { TXT: [KEY] },
})
const world = labWorld(
  {
    ...MAIL,
    ...zone('a.example', 'v=spf1 ip4:45.53.5.1 include:spf.news.example -all'),
    ...zone('b.example', 'v=spf1 ip4:45.53.5.1 include:spf.news.example -all'),
    'd.example': { MX: [[0, '.']], TXT: ['v=spf1 -all'] },
    '_dmarc.d.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:d@d.example'] },
    ...zone('c.example', 'v=spf1 ip4:45.53.5.1 -all'),
  },
  { now: () => NOW, dial: () => new Promise(() => {}) },
)
const keys = [
  labKey('both', ['read', 'reports']),
  labKey('other', ['read', 'reports'], { domains: ['b.example'] }),
  labKey('read', ['read']),
  labKey('watcher', ['jobs', 'reports'], { domains: ['a.example'] }),
  labKey('jobs', ['jobs']),
]
const signed = { signatures: [{ domain: 'a.example', selector: 'odd77' }] }
const own: LabRow = { address: '45.53.5.1', count: 900, spf: 'pass', dkim: 'pass', envelope: 'a.example', ...signed }
/** A newsletter service in the SPF record, with its own return path: nothing is aligned. */
const news: LabRow = { address: '45.53.6.9', count: 100, spf: 'fail', envelope: 'bounce.news.example' }

let app: FastifyInstance
let isAway = false
beforeAll(async () => {
  const database = await labDatabase()
  const service = reportService({
    heavy: heavyHere,
    open: async () => database,
    envelopeOf: async () => ({ from: [], signatures: [], isTrusted: false }),
    networkOf: async () => undefined,
    listedOn: async () => undefined,
    storage: UNBOUNDED,
    ...{ keepMs: 400 * 86_400_000, maxOctets: 1_048_576, now: () => NOW, monotonic: () => performance.now() },
    log: world.log,
  })
  const days = Array.from({ length: 29 }, (_, day) => Date.UTC(2026, 9, 25 + day) / 1_000)
  const reports = days.flatMap((begin, day) => [
    aggregateReport({ domain: 'a.example', id: `a${day}`, begin, rows: [own] }),
    aggregateReport({ domain: 'd.example', id: `d${day}`, begin, rows: [{ address: '45.99.0.1', count: 50 }] }),
    aggregateReport({ domain: 'b.example', id: `b${day}`, begin, rows: [{ ...own, envelope: 'b.example' }, news] }),
  ])
  for (const text of reports) {
    const octets = (async function* () {
      yield Buffer.from(text)
    })()
    const signal = AbortSignal.timeout(20_000)
    await service.import(octets, { name: 'x', way: 'file', signal, accepts: () => 'taken' })
  }
  const away = async (): Promise<never> => {
    throw databaseError('not_opened', undefined)
  }
  const deps = labDeps(world, {
    reportsHere: {
      ...NO_REPORTS,
      find: async () => (isAway ? { ...service, selectors: away } : service),
      rua: 'dmarc@reports.example',
    },
  })
  app = await labApp(world, { deps, keys: () => keys })
}, 60_000)
afterAll(() => app.close())

async function check(query: string, key = 'both'): Promise<CheckAnswer> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await app.inject({ url: `/v1/check?plan=true&${query}`, headers })
  expect([response.statusCode, response.statusCode === 200 ? '' : response.body]).toEqual([200, ''])
  return response.json()
}

it.each([
  ['a key of the scope reports', 'domain=a.example', 'both', true],
  ['a key without it', 'domain=a.example', 'read', false],
  ['a key that is made for another domain', 'domain=a.example', 'other', false],
  ['an answer that is stored', 'domain=a.example&save=true', 'both', false],
])('%s', async (_, query, key, isJoined) => {
  const { reports, dkim } = await check(query, key)
  expect([reports !== undefined, dkim.learned, dkim.keys.map(({ selector }) => selector)]).toEqual(
    isJoined ? [true, ['odd77'], ['odd77']] : [false, undefined, []],
  )
})

it('shows who sends, and offers a stricter policy with what it would have done', async () => {
  const { reports, findings, plan } = await check('domain=a.example')
  expect(reports).toMatchObject({
    ...{ from: '2026-10-27', to: '2026-11-23', reports: 27, days: 27, messages: 24_300, passing: 24_300 },
    senders: [{ name: 'mail.a.example (your own server)', verdict: 'authorized' }],
  })
  const none = 'none of your senders would have been set aside as junk'
  const finding = findings.find(({ id }) => id === 'dmarc.policy_none')
  expect(finding?.fix?.value).toContain('p=quarantine')
  // 27 days with reports stand for the month of the first stage.
  const stages = plan!.steps.filter(({ title }) => title.startsWith('DMARC: '))
  expect(
    stages.map(({ title, wait, instructions }) => [title, wait?.slice(0, 16), instructions?.includes(none)]),
  ).toEqual([
    ['DMARC: quarantine', undefined, true],
    ['DMARC: reject', 'At least a month', false],
  ])
})

it('offers no stricter policy while a sender of the domain would lose more than 0.5 % of its mail', async () => {
  const { findings, plan } = await check('domain=b.example')
  const words =
    'Of 27,000 messages from 2026-10-27 to 2026-11-23 (reports of 27 days), 2,700 messages of your senders would have been set aside as junk: spf.news.example (2,700 of 2,700).'
  const finding = findings.find(({ id }) => id === 'dmarc.policy_none')
  expect([finding?.fix, finding?.repair]).toEqual([
    undefined,
    expect.stringContaining(`Not yet: ${words} Set up this sender first.`),
  ])
  expect(plan!.steps.some(({ title }) => title.startsWith('DMARC: '))).toBe(false)
  expect(plan!.left.find(({ finding: id }) => id === 'dmarc.policy_none')?.why).toContain('2,700')
})

it('a domain that sends nothing is not asked about a steady forger, and keeps the address of its reports', async () => {
  const { reports, findings, plan } = await check('domain=d.example')
  expect(reports?.senders).toMatchObject([{ verdict: 'forged', messages: 1_350 }])
  expect(reports?.senders[0]).not.toHaveProperty('to_do')
  const finding = findings.find(({ id }) => id === 'dmarc.rua_unreachable')
  expect([finding?.fix, finding?.repair]).toEqual([undefined, expect.stringContaining('would ask for none')])
  expect(plan!.steps.some(({ title }) => title.startsWith('DMARC'))).toBe(false)
})

it('says how to get reports while there are none, with the record of the other domain', async () => {
  const { reports, findings } = await check('domain=c.example')
  expect(reports).toMatchObject({
    reports: 0,
    how_to_get: {
      rua: 'dmarc@reports.example',
      authorization: { name: 'c.example._report._dmarc.reports.example', type: 'TXT', value: 'v=DMARC1' },
    },
  })
  // Only the plan makes a record of the domain: its policy may be stricter than none.
  expect(reports?.how_to_get).not.toHaveProperty('publish')
  // as without reports
  expect(findings.find(({ id }) => id === 'dmarc.policy_none')?.fix?.value).toContain('p=quarantine')
})

it('is the check without them while the database is away, and says so', async () => {
  isAway = true
  const { reports, findings } = await check('domain=b.example')
  expect(reports).toMatchObject({ reports: 0, unknown: expect.stringContaining('database') })
  expect(reports).not.toHaveProperty('how_to_get')
  expect(findings.find(({ id }) => id === 'dmarc.policy_none')?.fix?.value).toContain('p=quarantine')
})

it.each([
  ['its usual conditions', 'watcher', {}, 201],
  ['a share of failing mail', 'watcher', { when: ['failing_above:5'] }, 201],
  ['a condition of other kinds', 'watcher', { when: ['score_below:80'] }, 400],
  ['a public badge', 'watcher', { public: true }, 400],
  ['a domain that is not for the key', 'watcher', { target: 'b.example' }, 403],
  ['a key without the scope reports', 'jobs', {}, 403],
  ['new senders of another kind', 'watcher', { kind: 'check', when: ['new_sender'] }, 400],
])('a monitor of reports with %s (%s)', async (_, key, input, status) => {
  const headers = { authorization: `Bearer ${key}` }
  const payload = { kind: 'reports', target: 'a.example', ...input }
  const response = await app.inject({ method: 'POST', url: '/v1/monitors', headers, payload })
  expect(response.statusCode).toBe(status)
})
