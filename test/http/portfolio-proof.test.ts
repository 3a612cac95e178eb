import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CheckAnswer, checkAnswer } from '../../src/answers/check.ts'
import { monitorDigestAnswer, monitorListAnswer, monitorSummaryAnswer } from '../../src/answers/monitors.ts'
import { makeDigests } from '../../src/monitors/digest.ts'
import { factsOf } from '../../src/monitors/facts.ts'
import example from '../../src/operations/examples/check.json' with { type: 'json' }
import { acceptedOf } from '../../src/store/postgres/accepted.ts'
import type { Database } from '../../src/store/postgres/connect.ts'
import { deliveriesOf } from '../../src/store/postgres/deliveries.ts'
import { digestsOf } from '../../src/store/postgres/digests.ts'
import { mailConsentsOf } from '../../src/store/postgres/mail-consents.ts'
import { labApp, labDeps, labKey } from '../lab/app.ts'
import { labDatabase } from '../lab/database.ts'
import { labMonitorServices } from '../lab/monitor-services.ts'
import { labWorld } from '../lab/world.ts'

/**
 * 5,000 names of eleven archetypes: each number of the summary, of each filter, of the export and of the digests is what
 * a plain statement counts.
 */

const NOW = Date.UTC(2026, 5, 1, 12) // a Monday
const world = labWorld({}, { now: () => NOW })
const answer = checkAnswer.parse(example)
const NAMES = 5_000
const OWNERS = 60

type Over = Partial<CheckAnswer>
const { pct: _, ...plain } = answer.dmarc
const dmarc = (over: Partial<CheckAnswer['dmarc']>): Over => ({
  dmarc: { ...plain, valid: true, inherited: false, status: 'pass', ...over },
})
const graded = (grade: string | null, score: number): Over => ({ grade, score }) as Over
const ARCHETYPES: readonly Over[] = [
  { ...graded('F', 21), ...dmarc({ valid: false, policy: '', effective_policy: '' }) },
  { ...graded('C', 70), ...dmarc({ policy: 'none', effective_policy: 'none' }) },
  { ...graded('B', 81), ...dmarc({ policy: 'quarantine', effective_policy: 'quarantine', pct: 20 }) },
  { ...graded('A', 92), ...dmarc({ policy: 'quarantine', effective_policy: 'quarantine' }) },
  { ...graded('A+', 99), ...dmarc({ policy: 'reject', effective_policy: 'reject' }) },
  { ...graded('A+', 100), domain_role: { name: 'parked', because: '' }, mx: [], mx_kind: 'null', findings: [] },
  { ...graded('A', 90), ...dmarc({ policy: 'reject', effective_policy: 'reject', inherited: true }) },
  { ...graded('D', 55), ...dmarc({ policy: 'none', effective_policy: 'none', inherited: true }) },
  { ...graded(null, 0), ...dmarc({ status: 'unknown', valid: false, policy: '' }), mx: [], mx_status: 'unknown' },
  { ...graded('B', 84), mx: [{ ...answer.mx[0]!, host: 'aspmx.l.google.com' }] },
  { ...graded('C', 74), dnssec: { ...answer.dnssec, bogus: true }, mx: [{ ...answer.mx[0]!, host: 'mx.a.example' }] },
]
const FACTS = ARCHETYPES.map((over) => {
  const made: CheckAnswer = { ...answer, ...over }
  return { score: made.grade === null ? null : made.score, grade: made.grade, ...factsOf(made) }
})

let app: FastifyInstance
let stop: () => Promise<void>
let database: Database
beforeAll(async () => {
  database = await labDatabase()
  const { services, deps } = labMonitorServices(world, database, {
    runOnce: async () => ({}),
    senders: { mail: async () => {}, publicUrl: 'https://watch.example' },
    mailRules: { recipients: ['law.example'], perDay: 5 },
  })
  stop = services.stop
  app = await labApp(world, { deps: labDeps(world, deps), keys: () => [labKey('mine', ['jobs', 'reports'])] })
  const rows = Array.from({ length: NAMES }, (_, n) => {
    const name = n % 5 === 4 ? `sub${n}.org${n - 1}.example` : `org${n}.example`
    return `${name},faculty-${n % 7};all,o${n % OWNERS}@law.example`
  })
  const payload = ['domain,labels,owner', ...rows].join('\n')
  const headers = { authorization: 'Bearer mine', 'content-type': 'text/csv' }
  const imported = await app.inject({ method: 'POST', url: '/v1/monitors?kind=check', headers, payload })
  expect(imported.json()).toMatchObject({ created: NAMES, bad_rows: [] })
  // What has begun to run writes nothing any more: its claim is over.
  await sql`UPDATE mailsonde.monitors SET enabled = false, fence = fence + 1`.execute(database.db)
  // A run of each: by its number one of the archetypes, every thirteenth with a change of this week.
  await sql`
    UPDATE mailsonde.monitors m SET facts = a.facts, state = CASE WHEN number % 3 = 0 THEN 'bad' ELSE 'ok' END,
      changed_at = CASE WHEN number % 13 = 0 THEN ${new Date(NOW - 86_400_000)}::timestamptz END
    FROM jsonb_array_elements(${JSON.stringify(FACTS)}::jsonb) WITH ORDINALITY AS a (facts, place)
    WHERE a.place = 1 + m.number % ${FACTS.length}`.execute(database.db)
  await sql`
    INSERT INTO mailsonde.monitor_points (monitor, at, status, changes)
    SELECT number, changed_at, 'pass', ${JSON.stringify([{ id: 'spf.terms', area: 'SPF', effect: 'neutral', text: 'a term was added' }])}::jsonb
    FROM mailsonde.monitors WHERE changed_at IS NOT NULL`.execute(database.db)
}, 120_000)
afterAll(async () => {
  await app.close()
  await stop()
})

const get = async (path: string) => (await app.inject({ url: path, headers: { authorization: 'Bearer mine' } })).body
async function counted(where: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM mailsonde.monitors WHERE ${sql.raw(where)}`.execute(database.db)
  return rows[0]!.n
}
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

const DIMENSIONS = {
  grade: (value: string) =>
    value === 'unknown' ? "facts ->> 'grade' IS NULL" : `facts ->> 'grade' = ${quoted(value)}`,
  phase: (value: string) => `facts ->> 'phase' = ${quoted(value)}`,
  policy: (value: string) => `facts ->> 'policy' = ${quoted(value)}`,
  mta_sts: (value: string) => `facts ->> 'mta_sts' = ${quoted(value)}`,
  dnssec: (value: string) => `facts ->> 'dnssec' = ${quoted(value)}`,
  provider: (value: string) => `facts ->> 'provider' = ${quoted(value)}`,
  role: (value: string) => `facts ->> 'role' = ${quoted(value)}`,
  state: (value: string) => `state = ${quoted(value)}`,
  findings: (value: string) => `facts -> 'findings' ? ${quoted(value)}`,
} as const

describe('5,000 names of eleven archetypes', () => {
  it('are counted by the summary as by SQL, each name once', async () => {
    const summary = monitorSummaryAnswer.parse(JSON.parse(await get('/v1/monitors/summary')))
    expect(summary.total).toBe(NAMES)
    expect(summary.organizations).toBe(NAMES * 0.8)
    expect(summary.below).toBe(NAMES * 0.2)
    for (const [name, where] of Object.entries(DIMENSIONS)) {
      const values = summary[name as keyof typeof DIMENSIONS]
      expect(values.length, name).toBeGreaterThan(0)
      for (const { value, count } of values)
        expect([name, value, count]).toEqual([name, value, await counted(where(value))])
      if (name !== 'findings') expect(values.reduce((sum, { count }) => sum + count, 0)).toBe(NAMES)
    }
    expect(new Set(summary.phase.map(({ value }) => value)).size).toBe(7)
  })
  it.each([
    ['phase=none', "facts ->> 'phase' = 'none'"],
    ['phase=inherited&label=faculty-3', "facts ->> 'phase' = 'inherited' AND 'faculty-3' = ANY (labels)"],
    ['grade=unknown', "facts ->> 'grade' IS NULL"],
    ['owner=O7@LAW.example&state=ok', "contact = 'o7@law.example' AND state = 'ok'"],
    [
      'provider=Google%20Workspace&dnssec=unsigned',
      "facts ->> 'provider' = 'Google Workspace' AND facts ->> 'dnssec' = 'unsigned'",
    ],
    ['organization=org3.example', "target LIKE '%org3.example'"],
    ['changed_since=2026-05-31', "changed_at >= '2026-05-31'"],
    ['q=sub9', "target LIKE '%sub9%'"],
  ])('%s selects in list, export and counts what SQL selects', async (query, where) => {
    const expected = await counted(where)
    expect(expected).toBeGreaterThan(0)
    const listed: string[] = []
    for (let cursor = ''; ; ) {
      const { data, next_cursor: next } = monitorListAnswer.parse(
        JSON.parse(await get(`/v1/monitors?${query}&limit=200&sort=domain${cursor}`)),
      )
      listed.push(...data.map(({ id }) => id))
      if (next === null) break
      cursor = `&cursor=${next}`
    }
    expect(new Set(listed).size).toBe(expected)
    expect((await get(`/v1/monitors?${query}&format=csv`)).trimEnd().split('\r\n')).toHaveLength(expected + 1)
    expect(JSON.parse(await get(`/v1/monitors/summary?${query}`)).total).toBe(expected)
  })
  it('are in the digests of their owners as SQL has them, in each run once', async () => {
    const { owners, data } = monitorDigestAnswer.parse(JSON.parse(await get('/v1/monitors/digest?limit=500')))
    expect([owners, data.length]).toEqual([OWNERS, OWNERS])
    for (const one of data) {
      const of = `contact = ${quoted(one.address)}`
      expect([one.monitors, one.changed]).toEqual([
        await counted(of),
        await counted(`${of} AND changed_at IS NOT NULL`),
      ])
    }
    const due = new Date(NOW - 6 * 3_600_000)
    await digestsOf(database.db).set('id-of-mine', {
      every: 'week',
      next_at: due,
      since: new Date(NOW - 7 * 86_400_000),
    })
    const parts = {
      ...{ database, digests: digestsOf(database.db), deliveries: deliveriesOf(database.db), now: () => NOW },
      ...{
        consents: mailConsentsOf(database.db),
        accepted: acceptedOf(database.db),
        mailRules: { recipients: ['law.example'], perDay: 5 },
      },
    }
    while (await makeDigests(parts));
    const { rows } = await sql<{ to: string; targets: number; changed: number }>`
      SELECT channel ->> 'to' AS to, (body::jsonb #> '{data,targets}')::int AS targets, (body::jsonb #> '{data,changed}')::int AS changed
      FROM mailsonde.deliveries WHERE type = 'mail.digest'`.execute(database.db)
    expect(rows).toHaveLength(data.filter(({ changed }) => changed > 0).length)
    for (const { to, ...counts } of rows) {
      const { monitors: targets, changed } = data.find(({ address }) => address === to)!
      expect([to, counts]).toEqual([to, { targets, changed }])
    }
    expect(rows.reduce((sum, { changed }) => sum + changed, 0)).toBe(await counted('changed_at IS NOT NULL'))
  })
})
