import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReportsProvidersAnswer } from '../../src/answers/reports.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { storedReports } from '../../src/operations/reports/shared.ts'
import { reportService } from '../../src/reports/service.ts'
import { openSite } from '../../src/start/pages.ts'
import type { Database } from '../../src/store/postgres/connect.ts'
import { labApp, labDeps, labExecutor, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { labHeavy } from '../lab/heavy.ts'
import { aggregateReport, type LabRow } from '../lab/report-xml.ts'
import { UNBOUNDED } from '../lab/storage.ts'
import { labWorld } from '../lab/world.ts'

const NOW = Date.UTC(2026, 10, 23, 12)
const world = labWorld(
  {
    '9.2.53.45.in-addr.arpa': { PTR: ['out.agency.example'] },
    'out.agency.example': { A: ['45.53.2.9'] },
    '1.0.99.45.in-addr.arpa': { PTR: ['pool-1.dial.example'] },
    'pool-1.dial.example': { A: ['45.99.0.1'] },
  },
  { now: () => NOW },
)
let app: FastifyInstance
let database: Database
beforeAll(async () => {
  database = await labDatabase()
  const service = reportService({
    ...{ heavy: labHeavy, storage: UNBOUNDED, open: async () => database, now: () => NOW, log: world.log },
    envelopeOf: async () => ({ from: [], signatures: [], isTrusted: false }),
    networkOf: async () => undefined,
    listedOn: async () => undefined,
    ...{ keepMs: 400 * 86_400_000, maxOctets: 1_048_576, monotonic: () => performance.now() },
  })
  const deps = labDeps(world, { reports: async () => service })
  const site = openSite({
    ...{ operations: await allOperations(), execute: labExecutor(world, deps), world, version: '0.0.0' },
    storedReports: storedReports(deps),
  })
  const keys = [
    labKey('all', ['reports']),
    labKey('some', ['reports'], { domains: ['d1.example', 'd2.example'] }),
    labKey('read', ['read']),
  ]
  app = await labApp(world, { deps, keys: () => keys, site })
  for (let n = 1; n <= DOMAINS; n++)
    for (const day of [20, 21])
      await ask('/v1/reports', 'all', {
        ...{ method: 'POST', headers: { 'content-type': 'application/octet-stream' } },
        payload: aggregateReport({
          ...{ domain: `d${n}.example`, id: `${n} ${day}`, begin: Date.UTC(2026, 10, day) / 1_000, rows: rowsOf(n) },
        }),
      })
})
afterAll(() => app.close())

const DOMAINS = 12
const signed = (domain: string, selector: string) => ({ signatures: [{ domain, selector }] })
/** Mailchimp sends for all: aligned for every second one. An agency's host for 3; a forger for all; a forwarder. */
const rowsOf = (n: number): readonly LabRow[] => [
  n % 2 === 0
    ? {
        ...{ address: '198.2.128.10', count: 10 * n, dkim: 'pass', envelope: 'mail1.mcsv.net' },
        signatures: [
          { domain: `d${n}.example`, selector: 'k2' },
          { domain: 'mcsv.net', selector: 'k2' },
        ],
      }
    : { address: '198.2.128.10', count: 10 * n, envelope: 'mail1.mcsv.net', ...signed('mcsv.net', 'k2') },
  ...(n <= 3
    ? [
        {
          address: '45.53.2.9',
          count: 7,
          spf: 'pass',
          envelope: `www.d${n}.example`,
          from: `www.d${n}.example`,
        } as const,
      ]
    : []),
  { address: '45.99.0.1', count: 3, envelope: `d${n}.example` },
  { address: '45.98.0.1', count: 2, envelope: 'gmx.net', reason: 'forwarded' },
]

type Inject = { readonly method?: 'POST'; readonly headers?: object; readonly payload?: string }
async function ask(url: string, key = 'all', { headers, ...more }: Inject = {}) {
  const authorization = `Bearer ${key}`
  return app.inject({ url, ...more, headers: { authorization, ...headers } })
}
const providers = async (query = '', key = 'all'): Promise<ReportsProvidersAnswer> =>
  (await ask(`/v1/reports/providers${query}`, key)).json()

/** Messages of the sources of a condition, by SQL. */
async function counted(where: string): Promise<number> {
  const { rows } = await sql<{ messages: string }>`
    SELECT coalesce(sum(r.messages), 0) AS messages FROM mailsonde.report_rows r
    JOIN mailsonde.report_sources s ON s.number = r.source JOIN mailsonde.report_names n ON n.number = r.name
    WHERE r.counts AND ${sql.raw(where)}`.execute(database.db)
  return Number(rows[0]!.messages)
}

describe('senders across domains', () => {
  it('have a row each, and every number is that of the rows', async () => {
    const { data, domains, messages, other_messages: others } = await providers()
    expect(domains).toBe(DOMAINS)
    expect(messages).toBe(await counted('true'))
    expect(data.map(({ name, domains: n, failing_domains: f }) => [name, n, f])).toEqual([
      ['Mailchimp', DOMAINS, DOMAINS / 2],
      ['agency.example', 3, 0],
    ])
    for (const [one, where] of [
      [data[0]!, "s.signers LIKE '%mcsv.net%'"],
      [data[1]!, "s.address = '45.53.2.9'"],
    ] as const) {
      expect(one.messages).toBe(await counted(where))
      expect(one.passing).toBe(await counted(`r.passes AND ${where}`))
      expect(one.failing).toBe(await counted(`NOT r.passes AND ${where}`))
      for (const at of one.at) {
        const own = `${where} AND (n.name = '${at.domain}' OR n.name LIKE '%.${at.domain}')`
        expect([at.messages, at.passing]).toEqual([await counted(own), await counted(`r.passes AND ${own}`)])
      }
    }
    expect(others).toBe(await counted("s.address IN ('45.99.0.1', '45.98.0.1')"))
  })
  it('name the domains that lose most first, a name below one as that one', async () => {
    const [mailchimp, agency] = (await providers()).data
    expect(mailchimp!.at[0]).toEqual({ domain: 'd11.example', messages: 220, passing: 0, verdict: 'needs_setup' })
    expect(agency!.at.map(({ domain }) => domain).toSorted()).toEqual(['d1.example', 'd2.example', 'd3.example'])
  })
  it('are those of the days that are asked for', async () => {
    const { messages, from, to } = await providers('?from=2026-11-21&to=2026-11-21')
    expect([messages, from, to]).toEqual([await counted("r.day = '2026-11-21'"), '2026-11-21', '2026-11-21'])
    expect(await providers('?to=2025-01-01')).toMatchObject({ messages: 0, domains: 0, data: [] })
  })
  it('of a key that is made for domains are of these alone', async () => {
    const { messages, data, domains } = await providers('', 'some')
    expect(domains).toBe(2)
    expect(messages).toBe(await counted("n.name ~ '(^|[.])d[12][.]example$'"))
    expect(data.flatMap(({ at }) => at.map(({ domain }) => domain))).not.toContain('d3.example')
    expect((await ask('/v1/reports/providers', 'read')).statusCode).toBe(403)
    const { data: own } = (await ask('/v1/reports/domains', 'some')).json() as { data: { domain: string }[] }
    expect(own.map(({ domain }) => domain).toSorted()).toEqual(['d1.example', 'd2.example'])
  })
  it('leave out who is said not to be ours', async () => {
    const say = (ours: boolean | null) =>
      app.inject({
        ...{ method: 'PUT', url: `/v1/reports/senders/${encodeURIComponent('d11.example:provider:mailchimp')}` },
        ...{ headers: { authorization: 'Bearer all' }, payload: { ours } },
      })
    expect((await say(false)).statusCode).toBe(200)
    expect((await providers()).data[0]!.at.map(({ domain }) => domain)).not.toContain('d11.example')
    await say(null)
  })
  it('are a page, a document and a CSV in which no cell is a formula', async () => {
    const headers = { accept: 'text/html', 'sec-fetch-site': 'same-origin' }
    const { body: page } = await ask('/reports/providers', 'all', { headers })
    for (const text of ['2 senders send', 'Mailchimp', '<a href="/reports/d11.example">d11.example</a>'])
      expect(page).toContain(text)
    expect((await ask('/reports', 'all', { headers })).body).toContain('href="/reports/providers"')
    expect((await ask('/v1/reports/providers?format=markdown')).body).toMatch(/Mailchimp.*\| 12 \|/)
    const { body: csv } = await ask('/v1/reports/providers?format=csv&csv=spreadsheet')
    const lines = csv.trim().split('\r\n')
    expect(lines).toHaveLength(1 + DOMAINS + 3)
    expect(lines[1]).toBe('Mailchimp,d11.example,220,0,220,needs_setup')
  })
})
