import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import type { Database } from './connect.ts'
import { reportSumsOf } from './report-sums.ts'
import { type NewReport, type ReportRow, reportIntake } from './reports.ts'

let database: Database
beforeAll(async () => {
  database = await labDatabase()
})

const row = (over: Partial<ReportRow> = {}): ReportRow => ({
  name: 'a.example',
  address: '192.0.2.1',
  envelope_from: 'a.example',
  spf_domain: 'a.example',
  spf_result: 'pass',
  spf_aligned: true,
  dkim_domain: '',
  dkim_selector: '',
  dkim_result: '',
  dkim_aligned: null,
  signers: '',
  disposition: 'none',
  reason: '',
  messages: 1,
  ...over,
})
const report = (over: Partial<NewReport> = {}): NewReport => ({
  id: randomUUID(),
  kind: 'dmarc',
  domain: 'a.example',
  organization: 'Reporter',
  reporter: 'reporter.example',
  isKnownReporter: true,
  reportId: 'r1',
  beginMs: Date.UTC(2026, 10, 1),
  endMs: Date.UTC(2026, 10, 2) - 1_000,
  day: '2026-11-01',
  messages: 1,
  policy: { p: 'none' },
  authenticated: null,
  counts: true,
  receivedMs: Date.UTC(2026, 10, 2, 3),
  owner: '',
  ...over,
})
async function keep(rows: readonly ReportRow[], over: Partial<NewReport> = {}) {
  const intake = reportIntake(database.pool)
  for (const one of rows) {
    intake.add(one)
    await intake.flush()
  }
  return intake.commit(report(over))
}
const period = (domain: string, over = {}) => ({
  ...{ domain, from: '2026-10-01', to: '2026-11-30', includeUncounted: false },
  ...over,
})
async function sources(domain: string, over = {}) {
  const sums = reportSumsOf(database.db)
  return (await sums.sources(await sums.namesOf(domain), period(domain, over))).sources
}

describe('a report', () => {
  it('counts once, also a hundred times at the same moment', async () => {
    const domain = 'once.example'
    const stored = await Promise.all(
      Array.from({ length: 100 }, () => keep([row({ name: domain, messages: 7 })], { domain })),
    )
    expect(stored.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    expect(new Set(stored.map(({ id }) => id)).size).toBe(1)
    expect((await sources(domain)).map(({ messages }) => messages)).toEqual([7])
  })
  it('with the same id and other numbers is a duplicate that differs', async () => {
    const domain = 'differs.example'
    await keep([row({ name: domain })], { domain })
    const second = await keep([row({ name: domain, messages: 2 })], { domain })
    expect(second).toMatchObject({ duplicate: true, differs: true })
    expect((await reportSumsOf(database.db).about('dmarc', period(domain))).differing).toBe(1)
  })
  it('that does not count shadows none that does, and is seen only when it is asked for', async () => {
    const domain = 'forged.example'
    await keep([row({ name: domain, messages: 1_000 })], { domain, counts: false, authenticated: false })
    const counted = await keep([row({ name: domain, messages: 3 })], { domain, authenticated: true })
    expect(counted.duplicate).toBe(false)
    expect((await keep([row({ name: domain })], { domain, counts: false })).duplicate).toBe(true)
    expect((await sources(domain)).map(({ messages }) => messages)).toEqual([3])
    expect((await sources(domain, { includeUncounted: true })).map(({ messages }) => messages)).toEqual([1_003])
    expect(await reportSumsOf(database.db).about('dmarc', period(domain))).toMatchObject({ reports: 1, uncounted: 1 })
  })
  it('is not there after an abort', async () => {
    const intake = reportIntake(database.pool)
    for (let i = 0; i < 10_001; i++) {
      intake.add(row({ name: 'aborted.example', address: `10.0.${i >> 8}.${i & 255}` }))
      await intake.flush()
    }
    await intake.abort()
    expect(await sources('aborted.example')).toEqual([])
  })
})

it('sums a report of many rows as it sums one of few', async () => {
  const domain = 'large.example'
  const rows = Array.from({ length: 25_000 }, (_, i) =>
    row({ name: domain, address: `10.1.${(i >> 8) % 100}.${i & 255}` }),
  )
  await keep(rows, { domain, messages: rows.length })
  const found = await sources(domain)
  expect(found.reduce((sum, { messages }) => sum + messages, 0)).toBe(25_000)
  expect(found.length).toBe(new Set(rows.map(({ address }) => address)).size)
})

it('a domain includes the names below it, and not its neighbors', async () => {
  await keep([row({ name: 'b.example' }), row({ name: 'mail.b.example' })], { domain: 'b.example' })
  await keep([row({ name: 'xb.example' })], { domain: 'xb.example' })
  expect((await sources('b.example')).map(({ name }) => name).sort()).toEqual(['b.example', 'mail.b.example'])
  expect((await sources('mail.b.example')).map(({ name }) => name)).toEqual(['mail.b.example'])
})

it('days, reporters and texts of strangers', async () => {
  const domain = 'days.example'
  const strange = row({ name: domain, dkim_selector: 'a\tb\\\n\u0000"', address: '2001:db8::1', spf_aligned: false })
  await keep([strange], { domain, day: '2026-11-01' })
  await keep([strange], {
    domain,
    day: '2026-11-30',
    reporter: 'small.example',
    isKnownReporter: false,
    reportId: 'r2',
  })
  const [only] = await sources(domain)
  expect(only).toMatchObject({
    ...{ first_day: '2026-11-01', last_day: '2026-11-30', messages: 2, is_known: true, recent_days: 1 },
    ...{ address: '2001:db8::1', dkim_selector: 'a\tb\\\n\uFFFD"', spf_aligned: false, dkim_aligned: null },
  })
  expect(only!.first_reporter).not.toBe(only!.last_reporter)
  const sums = reportSumsOf(database.db)
  expect(await sums.days(await sums.namesOf(domain), period(domain), [only!.number])).toEqual([
    { day: '2026-11-01', messages: 1, passing: 0, forwarded: 1 },
    { day: '2026-11-30', messages: 1, passing: 0, forwarded: 1 },
  ])
})

it('is removed by forget, and by the sweep when it is old', async () => {
  const sums = reportSumsOf(database.db)
  for (const domain of ['gone.example', 'sub.gone.example', 'stays.example'])
    await keep([row({ name: domain })], { domain, day: '2026-11-01' })
  expect(await sums.forget('gone.example')).toBe(2)
  expect(await sources('gone.example')).toEqual([])
  expect(await sources('stays.example')).toHaveLength(1)
  await keep([row({ name: 'stays.example', address: '192.0.2.9' })], {
    domain: 'stays.example',
    day: '2025-01-01',
    reportId: 'old',
  })
  await sums.sweep('2025-06-01')
  expect(await sources('stays.example', { from: '2024-01-01' })).toHaveLength(1)
})

it('a look reads the largest sources, as many as its memory may hold, and says what it left out', async () => {
  const [{ number }] = (
    await database.pool.query("INSERT INTO mailsonde.report_names (name) VALUES ('many.example') RETURNING number")
  ).rows
  await database.pool.query(
    `WITH made AS (
       INSERT INTO mailsonde.report_sources (digest, name, address, envelope_from, spf_domain, spf_result, dkim_domain, dkim_selector, dkim_result, signers, disposition, reason)
       SELECT gen_random_uuid(), $1, '10.0.0.0'::inet + n, repeat('e', 250), repeat('d', 250), 'fail', repeat('k', 250), repeat('s', 250), 'fail', repeat('g', 2000), 'none', ''
       FROM generate_series(1, 12000) n RETURNING number, address)
     INSERT INTO mailsonde.report_rows (name, day, source, reporter, counts, passes, messages)
     SELECT $1, '2026-11-01', number, 1, true, false, address - '10.0.0.0'::inet FROM made`,
    [number],
  )
  const sums = reportSumsOf(database.db)
  const { sources: read, leftOut } = await sums.sources(await sums.namesOf('many.example'), period('many.example'))
  const kept = Math.floor((32 * 1_048_576) / 3_300)
  expect([read.length, leftOut.sources, read[0]!.messages]).toEqual([kept, 12_000 - kept, 12_000])
  expect(read.reduce((sum, { messages }) => sum + messages, leftOut.messages)).toBe((12_000 * 12_001) / 2)
})
