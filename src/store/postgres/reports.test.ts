import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import { digestOf, linesOf } from '../../../test/lab/report-lines.ts'
import type { Database } from './connect.ts'
import { MAX_WORDS } from './report-notes.ts'
import type { ReportRow } from './report-rows.ts'
import { reportSumsOf } from './report-sums.ts'
import { sumDays } from './report-tables.ts'
import { type NewReport, reportIntake } from './reports.ts'

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
  digest: '',
  authenticated: null,
  counts: true,
  receivedMs: Date.UTC(2026, 10, 2, 3),
  owner: '',
  ...over,
})
async function keep(rows: readonly ReportRow[], over: Partial<NewReport> = {}) {
  const intake = reportIntake(database.pool, 'dmarc')
  for (const lines of linesOf(rows)) await intake.add(lines)
  return intake.commit(report({ digest: digestOf(rows), ...over }))
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
    expect(second).toMatchObject({ duplicate: true })
    expect((await reportSumsOf(database.db).about('dmarc', period(domain))).differing).toBe(1)
  })
  it('that does not count shadows none that does, and is seen only when it is asked for', async () => {
    const domain = 'forged.example'
    await keep([row({ name: domain, messages: 1_000 })], { domain, counts: false, authenticated: false })
    const counted = await keep([row({ name: domain, messages: 3 })], { domain, authenticated: true })
    expect(counted.duplicate).toBe(false)
    expect((await keep([row({ name: domain })], { domain, counts: false })).duplicate).toBe(true)
    expect((await sources(domain)).map(({ messages }) => messages)).toEqual([3])
    expect((await sources(domain, { includeUncounted: true })).map(({ messages }) => messages)).toEqual([1_000, 3])
    expect(await reportSumsOf(database.db).about('dmarc', period(domain))).toMatchObject({ reports: 1, uncounted: 1 })
  })
  it('that does not count takes nothing from the name of its reporter', async () => {
    const domain = 'named.example'
    const of = { domain, reporter: 'named-reporter.example' }
    await keep([row({ name: domain })], { ...of, reportId: 'true' })
    await keep([row({ name: domain })], { ...of, reportId: 'forged', isKnownReporter: false, counts: false })
    expect((await sources(domain)).map(({ known_messages }) => known_messages)).toEqual([1])
    const again = await keep([row({ name: domain })], { ...of, reportId: 'true', isKnownReporter: false })
    expect(again.duplicate).toBe(true)
  })
  it.each([
    ['few', 1],
    ['many', 6_000],
  ])(
    'of %s rows keeps those about its domain, the names below it and nobody, and counts the others',
    async (size, n) => {
      const domain = `${size}-rows.example`
      const names = [
        domain,
        `mail.${domain}`,
        '',
        `not${domain}`,
        'victim.example',
        'example',
        `${domain}.evil.example`,
      ]
      const rows = names.flatMap((name) =>
        Array.from({ length: n }, (_, i) => row({ name, address: `10.3.${i >> 8}.${i & 255}` })),
      )
      const stored = await keep(rows, { domain, messages: rows.length })
      expect(stored).toMatchObject({ messages: 3 * n, foreignRows: 4 * n })
      expect(await keep(rows, { domain })).toMatchObject({ duplicate: true, messages: 3 * n, foreignRows: 4 * n })
      const found = await sources(domain)
      expect([...new Set(found.map(({ name }) => name))].sort()).toEqual([domain, `mail.${domain}`].sort())
      expect(found.reduce((sum, { messages }) => sum + messages, 0)).toBe(3 * n)
      for (const other of ['victim.example', `not${domain}`, 'evil.example']) expect(await sources(other)).toEqual([])
    },
  )
  it('that does not count is summed by network and result, its largest rows alone, without its texts', async () => {
    const domain = 'coarse.example'
    const rows = Array.from({ length: 20_000 }, (_, i) =>
      row({
        ...{
          name: `n${i % 3}.${domain}`,
          address: `10.${i >> 12}.${(i >> 4) & 255}.${i & 15}`,
          spf_aligned: i % 2 === 0,
        },
        ...{
          envelope_from: `e${i}.example`,
          dkim_selector: `s${i}`,
          signers: `d:${i}`,
          disposition: `x${i}`,
          reason: 'r',
        },
        messages: i < 16 ? 1_000 : 1,
      }),
    )
    await keep([...rows, row({ name: domain, address: '2001:db8:1:2::3', messages: 900 })], {
      ...{ domain, counts: false, isKnownReporter: false },
    })
    const found = await sources(domain, { includeUncounted: true })
    expect(found).toHaveLength(100)
    expect(found.slice(0, 7).map(({ address, messages }) => `${address} ${messages}`)).toEqual([
      ...['3000', '3000', '3000', '3000', '2000', '2000'].map((n) => `10.0.0.0 ${n}`),
      '2001:db8:1:: 900',
    ])
    for (const one of found)
      expect(one).toMatchObject({ envelope_from: '', dkim_selector: '', signers: '', disposition: 'none', reason: '' })
  })
  it('is not there after an abort', async () => {
    const intake = reportIntake(database.pool, 'dmarc')
    const rows = Array.from({ length: 20_001 }, (_, i) =>
      row({ name: 'aborted.example', address: `10.0.${i >> 8}.${i & 255}` }),
    )
    for (const lines of linesOf(rows)) await intake.add(lines)
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
    ...{ first_day: '2026-11-01', last_day: '2026-11-30', messages: 2 },
    ...{ known_messages: 1, first_known: '2026-11-01', last_known: '2026-11-01', recent_days: 0 },
    ...{ address: '2001:db8::1', dkim_selector: 'a\tb\\\n\uFFFD"', spf_aligned: false, dkim_aligned: null },
  })
  expect(only!.first_reporter).toBe(only!.last_reporter)
  const sums = reportSumsOf(database.db)
  expect(await sums.days(await sums.namesOf(domain), period(domain), [only!.number])).toEqual([
    { day: '2026-11-01', messages: 1, passing: 0, forwarded: 1 },
    { day: '2026-11-30', messages: 1, passing: 0, forwarded: 1 },
  ])
})

describe('a period', () => {
  const domain = 'months.example'
  const FIRST = Date.UTC(2024, 0, 1)
  const dayOf = (n: number): string => new Date(FIRST + n * 86_400_000).toISOString().slice(0, 10)
  /** Days of 800, among them the ends of months and a leap day. */
  const day = fc.oneof(
    fc.integer({ min: 0, max: 800 }),
    fc.constantFrom(0, 30, 31, 58, 59, 60, 90, 91, 365, 366, 396, 397, 424, 425),
  )
  /** The sums of the rows of days alone. */
  const ofRows = async (from: string, to: string, all: boolean) =>
    (
      await database.pool.query(
        `SELECT source AS number, sum(messages)::int AS messages, min(day)::text AS first_day, max(day)::text AS last_day,
           coalesce(bit_or(CASE WHEN $2::date - day < 28 THEN 1 << ($2::date - day) ELSE 0 END) FILTER (WHERE is_known), 0) AS recent_days,
           coalesce(sum(messages) FILTER (WHERE is_known), 0)::int AS known_messages,
           min(day) FILTER (WHERE is_known)::text AS first_known, max(day) FILTER (WHERE is_known)::text AS last_known,
           min(reporter) FILTER (WHERE is_known) AS first_reporter, max(reporter) FILTER (WHERE is_known) AS last_reporter
         FROM mailsonde.report_rows r JOIN mailsonde.report_names n ON n.number = r.name JOIN mailsonde.report_reporters p ON p.number = r.reporter
         WHERE n.name = $4 AND day BETWEEN $1 AND $2 AND (counts OR $3) GROUP BY source ORDER BY 2 DESC, 1`,
        [from, to, all, domain],
      )
    ).rows
  const ofDays = async (from: string, to: string, all: boolean) =>
    (
      await database.pool.query(
        `SELECT day::text, sum(messages)::int AS messages, coalesce(sum(messages) FILTER (WHERE passes), 0)::int AS passing,
           coalesce(sum(messages) FILTER (WHERE NOT passes AND host(s.address) = '10.2.0.1'), 0)::int AS forwarded
         FROM mailsonde.report_rows r JOIN mailsonde.report_names n ON n.number = r.name JOIN mailsonde.report_sources s ON s.number = r.source
         WHERE n.name = $4 AND day BETWEEN $1 AND $2 AND (counts OR $3) GROUP BY day ORDER BY day`,
        [from, to, all, domain],
      )
    ).rows
  beforeAll(async () => {
    const made = fc.record({
      day,
      reporter: fc.integer({ min: 0, max: 2 }),
      counts: fc.boolean(),
      rows: fc.array(fc.record({ n: fc.integer({ min: 0, max: 5 }), messages: fc.integer({ min: 1, max: 9 }) }), {
        minLength: 1,
        maxLength: 4,
      }),
    })
    for (const [i, one] of fc.sample(made, { numRuns: 400, seed: 7 }).entries()) {
      const rows = one.rows.map(({ n, messages }) =>
        row({ name: domain, address: `10.2.0.${n}`, spf_aligned: n % 2 === 0, messages }),
      )
      const over = { domain, day: dayOf(one.day), counts: one.counts, reportId: `m${i}` }
      await keep(rows, { ...over, reporter: `r${one.reporter}.example`, isKnownReporter: one.reporter > 0 })
    }
  })
  const isAsTheRows = async (from: string, to: string, includeUncounted: boolean) => {
    const sums = reportSumsOf(database.db)
    const asked = { ...period(domain), from, to, includeUncounted }
    const names = await sums.namesOf(domain)
    const { sources: found, leftOut } = await sums.sources(names, asked)
    const rows = await ofRows(from, to, includeUncounted)
    expect(leftOut).toEqual({ sources: 0, messages: 0 })
    expect(
      found.map(({ number, messages, first_day, last_day, recent_days, ...one }) => ({
        ...{ number, messages, first_day, last_day, recent_days, known_messages: one.known_messages },
        ...{ first_known: one.first_known, last_known: one.last_known },
        ...{ first_reporter: one.first_reporter, last_reporter: one.last_reporter },
      })),
    ).toEqual(rows)
    const passedOn = found.filter(({ address }) => address === '10.2.0.1').map(({ number }) => number)
    expect(await sums.days(names, asked, passedOn)).toEqual(await ofDays(from, to, includeUncounted))
  }
  const periods = fc
    .tuple(day, day, fc.boolean())
    .map(([a, b, all]) => [dayOf(Math.min(a, b)), dayOf(Math.max(a, b)), all] as const)
  it('is summed from its rows', () =>
    fc.assert(
      fc.asyncProperty(periods, (one) => isAsTheRows(...one)),
      { numRuns: 300 },
    ))
  it('also when the oldest days are gone', async () => {
    await reportSumsOf(database.db).sweep(dayOf(75), dayOf(130))
    expect((await ofRows(dayOf(0), dayOf(74), true)).length).toBe(0)
    expect(await ofRows(dayOf(0), dayOf(129), true)).toEqual(await ofRows(dayOf(0), dayOf(129), false))
    expect((await ofRows(dayOf(75), dayOf(129), true)).length).toBeGreaterThan(0)
    await fc.assert(
      fc.asyncProperty(periods, (one) => isAsTheRows(...one)),
      { numRuns: 100 },
    )
  })
  it.each([
    ['0001-01-01', '9999-12-31'],
    ['2024-02-01', '2024-02-29'],
    ['2024-12-31', '2025-01-01'],
    ['0001-01-15', '2024-05-15'],
  ])('from %s to %s', async (from, to) => isAsTheRows(from, to, true))
  it('and nothing of it stays after forget', async () => {
    await reportSumsOf(database.db).forget(domain)
    for (const table of ['report_rows', 'report_days', 'report_sources'])
      expect(
        (
          await database.pool.query(
            `SELECT FROM mailsonde.${table} t WHERE NOT EXISTS (SELECT FROM mailsonde.report_names n WHERE n.number = t.name)`,
          )
        ).rowCount,
      ).toBe(0)
  })
})

it('the number of stored reports counts those about the domain, below it and above it', async () => {
  const sums = reportSumsOf(database.db)
  for (const domain of ['s.example', 'x.s.example', 'xs.example']) await keep([row({ name: domain })], { domain })
  expect([await sums.stored('s.example'), await sums.stored('x.s.example'), await sums.stored('xs.example')]).toEqual([
    2, 2, 1,
  ])
})

it('words about senders are kept, replaced and bounded, and removed by forget', async () => {
  const { words: wordsOf, say, unsay, forget } = reportSumsOf(database.db)
  const words = async (domain: string) => (await wordsOf([domain])).map(({ domain: _, ...one }) => one)
  const word = (sender: string, ours = true) => ({
    ...{ sender, ours, note: '', addresses: ['192.0.2.1'], by: 'key', at: new Date(Date.UTC(2026, 10, 23)) },
  })
  expect(await say('words.example', word('host:a.example'))).toBe(true)
  expect(await say('words.example', word('host:a.example', false))).toBe(true)
  expect(await words('words.example')).toEqual([word('host:a.example', false)])
  expect(await words('beside.example')).toEqual([])
  for (let n = 1; n < MAX_WORDS; n++) await say('words.example', word(`host:${n}.example`))
  expect(await say('words.example', word('host:one.more'))).toBe(false)
  expect(await say('words.example', word('host:a.example'))).toBe(true) // in the place of its own
  await unsay('words.example', 'host:1.example')
  expect(await say('words.example', word('host:one.more'))).toBe(true)
  await say('sub.words.example', word('host:a.example'))
  await forget('words.example')
  expect([await words('words.example'), await words('sub.words.example')]).toEqual([[], []])
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
  await sums.sweep('2025-06-01', '2025-06-01')
  expect(await sources('stays.example', { from: '2024-01-01' })).toHaveLength(1)
})

it('what does not count is removed earlier, and the name of its reporter with it', async () => {
  const sums = reportSumsOf(database.db)
  const domain = 'apart.example'
  const apart = { domain, counts: false, isKnownReporter: false, reporter: 'apart-reporter.example' }
  await keep([row({ name: domain })], { domain })
  await keep([row({ name: domain, address: '192.0.2.200' })], { ...apart, reportId: 'old' })
  await keep([row({ name: domain, messages: 5 })], { ...apart, reportId: 'new', day: '2026-11-20' })
  const seen = async () =>
    (await sources(domain, { includeUncounted: true })).map(({ messages }) => messages).toSorted()
  const reporters = async () =>
    (await database.pool.query("SELECT FROM mailsonde.report_reporters WHERE name = 'apart-reporter.example'")).rowCount
  expect([await seen(), await reporters()]).toEqual([[1, 6], 1])
  await sums.sweep('2025-01-01', '2026-11-15')
  expect([await seen(), await reporters()]).toEqual([[1, 5], 1])
  await sums.sweep('2025-01-01', '2026-11-25')
  expect([await seen(), await reporters()]).toEqual([[1], 0])
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
  await database.pool.query(sumDays('name = $1'), [number])
  const sums = reportSumsOf(database.db)
  const { sources: read, leftOut } = await sums.sources(await sums.namesOf('many.example'), period('many.example'))
  const kept = Math.floor((32 * 1_048_576) / 3_300)
  expect([read.length, leftOut.sources, read[0]!.messages]).toEqual([kept, 12_000 - kept, 12_000])
  expect(read.reduce((sum, { messages }) => sum + messages, leftOut.messages)).toBe((12_000 * 12_001) / 2)
})
