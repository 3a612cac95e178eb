import { type CompiledQuery, Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import { labAnswer, labList, labRetry, labRow, labRunning } from '../../../test/lab/job-rows.ts'
import type { Json } from '../../base/json.ts'
import type { Database } from './connect.ts'
import { forgetRows } from './forget.ts'
import { type ClaimedRow, type JobRows, jobRowsOf } from './job-rows.ts'
import { jobSums, queueState } from './job-sums.ts'
import { dropLeftTables, isJobGone, type JobRecord, type Jobs, jobsOf, MAX_OPEN, OWN_TABLE_ROWS } from './jobs.ts'
import { jsonArray } from './pool.ts'
import { takeLeases } from './provider-leases.ts'
import type { Schema } from './schema.ts'

let database: Database
let jobs: Jobs
let rows: JobRows
beforeAll(async () => {
  database = await labDatabase()
  jobs = jobsOf(database.db)
  rows = jobRowsOf(database.db)
})

const submitted = (keys: readonly string[], owner = ''): Promise<JobRecord> => labList(database, keys, { owner })
const running = async (keys: readonly string[], owner = ''): Promise<JobRecord> =>
  labRunning(database, await submitted(keys, owner))
const pairOf = (job: JobRecord, provider = 'p') => ({ number: job.number, own_table: job.own_table, provider })
const claim = async (job: JobRecord, most = 100): Promise<readonly ClaimedRow[]> =>
  (await rows.claim(pairOf(job), most)).rows
const results = (job: JobRecord) => rows.results(job, { after: 0, limit: 100 })
const dueNow = async (job: JobRecord): Promise<readonly string[]> =>
  (await rows.duePairs()).filter(({ number }) => number === job.number).map(({ provider }) => provider)
/** The claims of a node that died have ended. */
const lapse = (job: JobRecord) =>
  database.pool.query(
    `WITH r AS (UPDATE mailsonde.job_rows SET due = now() WHERE job = $1 AND fence % 2 = 1)
     UPDATE mailsonde.job_providers SET next_due = least(next_due, now()) WHERE job = $1 AND next_due < 'infinity'`,
    [job.number],
  )
const people = (n: number, domain = 'x.example'): string[] => Array.from({ length: n }, (_, i) => `user${i}@${domain}`)

it.each([
  ['its table', `SELECT FROM mailsonde.job_rows_of_removed`],
  ['what a count is about', `INSERT INTO mailsonde.job_pace (job, provider, minute, n) VALUES (-1, 'p', now(), 1)`],
])('tells from a failed statement that a job was removed with %s', async (_what, statement) => {
  const failed = await database.pool.query(statement).catch((error) => error)
  expect(isJobGone(failed)).toBe(true)
})

it('gives a list its duplicates, sums and domains', async () => {
  const job = await submitted(['a@x.example', 'b@y.example', 'a@x.example', 'a@x.example'])
  expect(job).toMatchObject({
    state: 'waiting',
    rows: 4,
    duplicates: 2,
    bad_rows: 0,
    own_table: false,
  })
  expect([...(await rows.leaseDomains(job.number, 10))].sort()).toEqual(['x.example', 'y.example'])
  expect(await rows.leaseDomains(job.number, 10)).toEqual([]) // leased by whoever came first
  expect(await jobs.lookedUp(job.number)).toBe(false)
})

it('gives the rows of a large domain their provider in parts, the first of which can be asked meanwhile', async () => {
  const job = await submitted([...people(5), ...people(2, 'y.example')])
  await jobs.move(job.id, ['waiting'], 'running')
  const found = new Map([...(await rows.leaseDomains(job.number, 10))].map((domain) => [domain, 'p']))
  expect(await rows.setProviders(job, found, 3)).toBe(false)
  expect(await claim(job)).toHaveLength(3)
  expect(await jobs.lookedUp(job.number)).toBe(false)
  expect(await rows.setProviders(job, found, 3)).toBe(false)
  expect(await rows.setProviders(job, found, 3)).toBe(true)
  expect(await claim(job)).toHaveLength(4)
  expect(await jobs.lookedUp(job.number)).toBe(true)
})

it('answers each row once, duplicates with their first, in the order of the input', async () => {
  const job = await running(['a@x.example', 'b@x.example', 'a@x.example'])
  const claimed = await claim(job)
  expect(claimed.map(({ line }) => line)).toEqual([1, 2])
  expect(
    await rows.write(
      job,
      claimed.slice(0, 1).map((one) => labAnswer(one)),
    ),
  ).toBe(false)
  await jobs.finish(new Date(), [job.number])
  expect(await jobs.byId(job.id)).toMatchObject({ state: 'running', first_result_at: expect.any(Date) })
  expect(
    await rows.write(
      job,
      claimed.slice(1).map((one) => labAnswer(one)),
    ),
  ).toBe(true)
  expect((await results(job)).map(({ line, answer }) => [line, answer])).toEqual([
    [1, { line: 1 }],
    [2, { line: 2 }],
    [3, { line: 1 }],
  ])
  expect(await rows.results(job, { after: 2, limit: 1, result: 'accepted' })).toHaveLength(1)
  expect(await rows.results(job, { after: 0, limit: 9, reason: 'other' })).toEqual([])
  const sumsOf = await jobSums(database.db, [job.number, 0], new Date(Date.now() - 120_000))
  expect(sumsOf(job.number)).toMatchObject({
    words: [{ result: 'accepted', reason: 'r', n: 3 }],
    providers: [{ provider: 'p', rows: 3, done: 3, recent: 3 }],
    ...{ providerCount: 1, known: 3, done: 3, recent: 3 },
  })
  expect(sumsOf(0)).toMatchObject({ words: [], providers: [], known: 0 })
  await jobs.finish(new Date(), [job.number])
  expect(await jobs.byId(job.id)).toMatchObject({ state: 'done' })
})

it('shows the providers of a job with 5,000 of them without sorting them all', async () => {
  const { number } = await submitted(['a@x.example'])
  await database.pool.query(
    `INSERT INTO mailsonde.job_providers (job, provider, rows, done, next_due)
     SELECT $1, 'p' || n, n, CASE WHEN n > 4900 THEN n ELSE 0 END, 'infinity' FROM generate_series(1, 5000) n`,
    [number],
  )
  await database.pool.query('ANALYZE mailsonde.job_providers')
  const asked: CompiledQuery[] = []
  const dialect = new PostgresDialect({ pool: database.pool })
  const watched = new Kysely<Schema>({ dialect, log: ({ query }) => void asked.push(query) })
  const { providers, providerCount } = (await jobSums(watched, [number], new Date(0)))(number)
  expect([providers.length, providerCount]).toEqual([200, 5_000]) // those with the most rows have none left
  const sorted: number[] = []
  for (const { sql: text, parameters } of asked) {
    const { rows: plans } = await database.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [...parameters])
    JSON.stringify(plans, (_, node) => {
      if (/Sort$/.test(node?.['Node Type'])) sorted.push(node['Actual Rows'])
      return node
    })
  }
  expect(sorted.length).toBeGreaterThan(1)
  expect(Math.max(...sorted)).toBeLessThanOrEqual(200)
})

describe('a claim', () => {
  it('keeps whoever lost it from writing an answer or a retry', async () => {
    const job = await running(['a@x.example'])
    const [asleep] = await claim(job)
    expect(await claim(job)).toEqual([]) // a claim excludes others
    await lapse(job)
    const [awake] = await claim(job)
    expect(await rows.write(job, [labAnswer(asleep!, 'rejected')])).toBe(false)
    await rows.write(job, [labRetry(asleep!, 1e6)])
    expect(await rows.renew(job, [asleep!])).toEqual([])
    expect(await rows.renew(job, [awake!])).toEqual([1])
    expect(await rows.write(job, [labAnswer(awake!)])).toBe(true)
    await rows.write(job, [labAnswer(awake!, 'rejected')])
    expect((await results(job))[0]).toMatchObject({ result: 'accepted' })
    expect((await jobSums(database.db, [job.number], new Date(0)))(job.number)).toMatchObject({ done: 1 })
  })
  it.each(['paused', 'canceled'] as const)('is not given while the job is %s, and not renewed', async (state) => {
    const job = await running(['a@x.example', 'b@x.example'])
    const [held] = await claim(job, 1)
    await jobs.move(job.id, ['running'], state)
    expect(await claim(job)).toEqual([])
    expect(await rows.renew(job, [held!])).toEqual([])
    expect(await dueNow(job)).toEqual([])
    await rows.write(job, [labRetry(held!, 0, false)])
    await jobs.move(job.id, [state], 'running')
    expect(await claim(job)).toHaveLength(2)
  })
  it('that nobody answered is no attempt: the clock of a row begins with its first answer', async () => {
    const job = await running(['a@x.example'])
    const [first] = await claim(job)
    expect(first).toMatchObject({ attempts: 0, firstAskedAt: null })
    await rows.write(job, [labRetry(first!, 0, false)])
    const [second] = await claim(job)
    expect(second).toMatchObject({ attempts: 0, firstAskedAt: null })
    await rows.write(job, [labRetry(second!, 0)])
    expect((await claim(job))[0]).toMatchObject({ attempts: 1, firstAskedAt: expect.any(Date) })
  })
  it('goes on after a place, and finds what is due before it without one', async () => {
    const job = await running(people(6))
    const first = await rows.claim(pairOf(job), 2)
    const next = await rows.claim(pairOf(job), 2, first.last)
    expect([...first.rows, ...next.rows].map(({ line }) => line)).toEqual([1, 2, 3, 4])
    await database.pool.query(`UPDATE mailsonde.job_rows SET due = 'epoch' WHERE job = $1 AND line = 1`, [job.number])
    expect((await rows.claim(pairOf(job), 5, next.last)).rows.map(({ line }) => line)).toEqual([5, 6])
    expect((await claim(job)).map(({ line }) => line)).toEqual([1])
  })
  it('tells when the next row is due, so that nothing is looked for before', async () => {
    const job = await running(people(2))
    const [one, two] = await claim(job)
    expect(await dueNow(job)).toEqual([])
    await lapse(job)
    expect(await dueNow(job)).toEqual(['p']) // nobody renewed them
    expect(await rows.write(job, [labRetry(one!, 3_600_000), labAnswer(two!)])).toBe(false)
    expect((await rows.claim(pairOf(job), 5)).rows).toEqual([])
    expect(await dueNow(job)).toEqual([])
    expect((await rows.waiting([job])).get(job.number)?.get('p')?.getTime()).toBeGreaterThan(Date.now() + 3_500_000)
  })
  it('never hides rows that became due while it was made', async () => {
    const job = await submitted(['a@x.example', 'b@y.example'])
    const [first] = await rows.leaseDomains(job.number, 1)
    await rows.setProviders(job, new Map([[first!, 'p']]))
    await jobs.move(job.id, ['waiting'], 'running')
    // The providers of further rows are written, and not committed yet, while a claim finds too few.
    let claiming: Promise<unknown> | undefined
    await database.db.transaction().execute(async (tx) => {
      const other = jobRowsOf(tx)
      const [second] = await other.leaseDomains(job.number, 1)
      await sql`
        WITH known AS (UPDATE mailsonde.job_rows SET provider = 'p', state = 'ready', due = now() WHERE job = ${job.number} AND domain = ${second!})
        UPDATE mailsonde.job_providers SET rows = rows + 1, next_due = least(next_due, now()), version = version + 1 WHERE job = ${job.number}`.execute(
        tx,
      )
      claiming = claim(job, 10)
      await new Promise((resolve) => setTimeout(resolve, 200)) // it waits for the pair now
    })
    await claiming
    expect(await dueNow(job)).toEqual(['p'])
    expect(await claim(job)).toHaveLength(1)
  })
})

it('tells when rows of providers are due that wait, and nothing of those in progress', async () => {
  const job = await labRunning(database, await submitted(people(3)))
  const claimed = await claim(job)
  expect((await rows.waiting([job])).get(job.number)).toEqual(new Map())
  await rows.write(job, [labRetry(claimed[0]!, 5_000), labRetry(claimed[1]!, 60_000)])
  const due = (await rows.waiting([job])).get(job.number)?.get('p')
  expect(Math.abs(due!.getTime() - Date.now() - 5_000)).toBeLessThan(2_000) // the third is in progress
  expect(await rows.waiting([])).toEqual(new Map())
})

it('tells what waits in the queue, and who holds connections', async () => {
  for (const { id } of await jobs.list({ limit: 200 })) await jobs.remove(id)
  expect(await queueState(database.db)).toMatchObject({ openRows: 0, dueRows: 0, dueSeconds: 0, due: 0, waiting: 0 })
  const job = await running([...people(5), 'user0@x.example'])
  const later = await labRunning(database, await submitted(people(3, 'y.example')), 'q')
  const { rows: asked } = await rows.claim(pairOf(later, 'q'), 4)
  await rows.write(
    later,
    asked.map((row) => labRetry(row, 600_000)),
  )
  await rows.write(job, [labAnswer((await claim(job, 1))[0]!)])
  const want = { key: 'p', used: 0, want: 4, most: 20, tokens: 0, perSecond: 0, capacity: 0 }
  await takeLeases(database.db, 'node', [want])
  const state = await queueState(database.db)
  expect(state).toMatchObject({ openRows: 7, dueRows: 4, due: 1, waiting: 1, nodes: 1, connections: 4, keys: 1 })
  expect(state.dueSeconds).toBeGreaterThan(0)
})

describe('turns', () => {
  it('of owners come before jobs: one with many jobs holds up nobody', async () => {
    for (const { id } of await jobs.list({ limit: 200 })) await jobs.remove(id)
    const many = await Promise.all(Array.from({ length: 12 }, (_, i) => running([`a@m${i}.example`], 'many')))
    const one = await running(['a@x.example'], 'one')
    const order = (await rows.duePairs()).map(({ number }) => number)
    expect(order.indexOf(one.number)).toBeLessThan(2)
    expect(order).toHaveLength(5) // four jobs of an owner at a provider take turns at a time
    for (const number of order.slice(0, 4)) await claim([...many, one].find((job) => job.number === number)!)
    const next = (await rows.duePairs()).map(({ number }) => number)
    expect(next.filter((number) => order.includes(number))).toHaveLength(1)
  })
  it.each([
    ['one owner', 'a', 'a'],
    ['two owners', 'a', 'b'],
  ])('at a provider are even for two jobs of %s, whichever came first', async (_, one, other) => {
    for (const { id } of await jobs.list({ limit: 200 })) await jobs.remove(id)
    const first = await running(people(40), one)
    expect(await claim(first, 10)).toHaveLength(10)
    const second = await running(people(40), other)
    const claimed = new Map([first, second].map(({ number }) => [number, 0]))
    for (let n = 0; n < 10; n++) {
      const [next] = await rows.duePairs()
      const got = (await rows.claim(next!, 2)).rows.length
      claimed.set(next!.number, claimed.get(next!.number)! + got)
    }
    expect([...claimed.values()]).toEqual([10, 10])
  })
  it('of owners come first when domains are looked up', async () => {
    for (const { id } of await jobs.list({ limit: 200 })) await jobs.remove(id)
    for (let i = 0; i < 5; i++) await submitted([`a@m${i}.example`], 'many')
    const one = await submitted(['a@x.example'], 'one')
    expect((await jobs.nextToLookUp(2)).map(({ number }) => number)).toContain(one.number)
    expect((await jobs.nextToLookUp(9)).map(({ state }) => state)).toEqual(Array(6).fill('running'))
  })
})

// src/store/postgres/jobs.ts MAX_OPEN
it('opens at most a thousand jobs of an owner', async () => {
  await sql`
    INSERT INTO mailsonde.jobs (id, kind, name, owner, state, options, expires_at)
    SELECT 'many_' || i, 'verify', '', 'full', CASE WHEN i % 2 = 0 THEN 'paused' ELSE 'receiving' END, '{}', now() + interval '1 day'
    FROM generate_series(1, ${MAX_OPEN - 1}::int) i`.execute(database.db)
  const job = await submitted(['a@x.example'], 'full')
  await expect(submitted(['a@x.example'], 'full')).rejects.toMatchObject({ code: 'too_many_jobs' })
  await submitted(['a@x.example'], 'other')
  await jobs.move(job.id, ['waiting'], 'canceled')
  await submitted(['a@x.example'], 'full')
  await sql`DELETE FROM mailsonde.jobs WHERE owner = 'full'`.execute(database.db)
})

describe('a large job', () => {
  it('has a table of its own, which is gone with it', async () => {
    const job = await running(people(OWN_TABLE_ROWS + 1))
    expect(job.own_table).toBe(true)
    const claimed = await claim(job, 50)
    await rows.write(
      job,
      claimed.map((one) => labAnswer(one)),
    )
    expect((await results(job)).map(({ line }) => line)).toEqual(claimed.map(({ line }) => line))
    const name = `mailsonde.job_rows_${job.number}`
    const exists = async () =>
      (await database.pool.query<{ t: string | null }>('SELECT to_regclass($1) AS t', [name])).rows[0]?.t !== null
    expect(await exists()).toBe(true)
    // While something reads the table, the removal of the job waits for nothing; a later sweep drops it.
    await database.db.transaction().execute(async (tx) => {
      await sql`LOCK TABLE ${sql.raw(name)} IN ACCESS SHARE MODE`.execute(tx)
      expect(await jobs.remove(job.id)).toBe(true)
      expect(await exists()).toBe(true)
      expect(await jobs.byId(job.id)).toBeUndefined()
    })
    await dropLeftTables(database.db)
    expect(await exists()).toBe(false)
  })
  it('moves there with the rows of its first parts', async () => {
    const { takeInOf, rowLine } = await import('./job-intake.ts')
    const about = { kind: 'verify', name: '', owner: '', options: {}, expiresAt: new Date(Date.now() + 1e8) } as const
    const { number, id } = await jobs.create({ id: `job_parts${Date.now()}`, ...about })
    for (const [from, received] of [
      [0, 3],
      [3, OWN_TABLE_ROWS + 3],
    ] as const) {
      const lines = Array.from({ length: received - from }, (_, i) =>
        rowLine(number, labRow(from + i + 1, `u${from + i}@x.example`)),
      )
      await takeInOf(database.pool)(number, {
        ...{ rows: [Buffer.from(lines.join(''))], bad: [], layout: null, from, received, nextLine: received + 1 },
      })
    }
    await rows.complete(number)
    expect(await jobs.byId(id)).toMatchObject({ own_table: true, rows: OWN_TABLE_ROWS + 3 })
    expect((await database.pool.query('SELECT FROM mailsonde.job_rows WHERE job = $1', [number])).rowCount).toBe(0)
    await jobs.remove(id)
  })
})

/** Rows of a job's table that this connection has read and not reported yet. */
async function rowsRead(tx: Transaction<Schema>, { number }: JobRecord): Promise<number> {
  const { rows: told } = await sql<{ n: string }>`
    SELECT idx_tup_fetch + seq_tup_read AS n FROM pg_stat_xact_user_tables
    WHERE relid = ${`mailsonde.job_rows_${number}`}::regclass`.execute(tx)
  return Number(told[0]?.n)
}

it.each<[string, (rows: JobRows, job: JobRecord, claim: ClaimedRow) => Promise<unknown>]>([
  ['the result of a row', (on, job, one) => on.write(job, [labAnswer(one)])],
  ['the return of a row', (on, job, one) => on.write(job, [labRetry(one, 0)])],
  ['the renewal of a claim', (on, job, one) => on.renew(job, [one])],
])('finds the row for %s by its key: the other rows that are due are not read', async (_, step) => {
  const job = await running(people(OWN_TABLE_ROWS + 1))
  const claimed = await claim(job, 1_000)
  const read = await database.db.transaction().execute(async (tx) => {
    const before = await rowsRead(tx, job)
    await step(jobRowsOf(tx), job, claimed[699]!)
    return (await rowsRead(tx, job)) - before
  })
  expect(read).toBe(1)
})

it.each<[string, readonly Json[], readonly Json[]]>([
  ['none', [], []],
  ['one', [{ a: 1 }], [{ a: 1 }]],
  [
    'texts that an array as text would have to escape',
    ['"', '\\', '{,}', 'NULL', '', 'ü', '\u{1f600}', ' \n'],
    ['"', '\\', '{,}', 'NULL', '', 'ü', '\u{1f600}', ' \n'],
  ],
  ['what PostgreSQL cannot store', ['a\0b', '\ud800'], ['a\ufffdb', '\ufffd']],
])('passes an array of JSON: %s', async (_, values, stored) => {
  const { rows: told } = await sql<{ values: readonly Json[] }>`
    SELECT to_json(${jsonArray(values)}::json[]) AS values`.execute(database.db)
  expect(told[0]?.values).toEqual(stored)
})

it('keeps what PostgreSQL cannot: NULs become U+FFFD', async () => {
  const bad = [{ line: 2, reason: 'no_input', detail: 'why', text: 'e\0f' }] as const
  const strange = { line: 1, input: 'a\0b', columns: { x: 'c\0d' }, key: 'a\0b', domain: '' }
  const job = await labList(database, [strange], { bad })
  expect(await rows.badRows(job.number, 0, 10)).toEqual([{ ...bad[0], text: 'e\uFFFDf' }])
})

it('moves between states as allowed, lists by owner and page, and removes', async () => {
  const [one, two] = [await submitted(['a@x.example'], 'k1'), await submitted(['a@x.example'], 'k1')]
  expect(await jobs.move(one.id, ['running'], 'paused')).toBeUndefined()
  expect(await jobs.move(one.id, ['waiting'], 'running')).toMatchObject({ state: 'running' })
  const first = await jobs.list({ limit: 1, owner: 'k1' })
  expect(first.map(({ id }) => id)).toEqual([two.id])
  expect((await jobs.list({ limit: 9, owner: 'k1', before: first[0]!.number })).map(({ id }) => id)).toEqual([one.id])
  expect(await jobs.remove(one.id)).toBe(true)
  expect(await jobs.remove(one.id)).toBe(false)
  expect(await jobs.byId(one.id)).toBeUndefined()
  expect((await database.pool.query('SELECT FROM mailsonde.job_rows WHERE job = $1', [one.number])).rowCount).toBe(0)
})

it('finds what has expired, and uploads that nobody went on with', async () => {
  const job = await submitted(['a@x.example'])
  const soon = new Date(job.expires_at.getTime() + 1)
  expect(await jobs.overdue(new Date())).not.toContain(job.id)
  expect(await jobs.overdue(soon)).toContain(job.id)
})

describe('forgetting', () => {
  /** A job with results for all of its rows, and own columns. */
  async function finished(): Promise<JobRecord> {
    const list: readonly (readonly [key: string, column: string])[] = [
      ['joe@a.example', 'x'],
      ['Joe@a.example', 'x'],
      ['joe@a.example', 'x'],
      ['xjoe@a.example', 'x'],
      ['ann@a.example', 'asked joe@A.example. Twice'],
      ['joe@a.example.org', 'joe@a.example.org'],
      ['eve@b.example', 'see mail.a.example'],
    ]
    const bad = [{ line: 9, reason: 'no_input', detail: 'd', text: 'joe@a.example,' }] as const
    const own = list.map(([key, column], i) => ({ ...labRow(i + 1, key), columns: [key, column] }))
    const job = await labRunning(database, await labList(database, own, { bad }))
    await rows.write(
      job,
      (await claim(job)).map((one) => labAnswer(one)),
    )
    return job
  }
  const left = async (job: JobRecord) =>
    (await results(job)).map(({ input, columns }) => [input, Object.values(columns ?? {})[1]])

  it.each<['email' | 'domain', string, object, readonly (readonly [string, string])[], number]>([
    [
      'email',
      'JOE@a.example',
      { rows: 3, results: 3, columns: 1, bad_rows: 1 },
      [
        ['xjoe@a.example', 'x'],
        ['ann@a.example', 'asked [removed]. Twice'],
        ['joe@a.example.org', 'joe@a.example.org'],
        ['eve@b.example', 'see mail.a.example'],
      ],
      0,
    ],
    [
      'domain',
      'a.example',
      { rows: 5, results: 5, columns: 0, bad_rows: 1 },
      [
        ['joe@a.example.org', 'joe@a.example.org'],
        ['eve@b.example', 'see mail.a.example'],
      ],
      0,
    ],
  ])('an %s (%s) leaves nothing of it, and the sums are right', async (name, value, gone, kept, duplicates) => {
    for (const { id } of await jobs.list({ limit: 100 })) await jobs.remove(id)
    const job = await finished()
    expect(await forgetRows(database.db, { name, value })).toEqual(gone)
    expect(await left(job)).toEqual(kept)
    expect(await jobs.byId(job.id)).toMatchObject({ rows: kept.length, duplicates })
    const { words, known, done } = (await jobSums(database.db, [job.number], new Date(0)))(job.number)
    expect([words.map(({ result, n }) => [result, n]), known, done]).toEqual([
      [['accepted', kept.length]],
      kept.length,
      kept.length,
    ])
    expect(await forgetRows(database.db, { name, value })).toEqual({ rows: 0, results: 0, columns: 0, bad_rows: 0 })
  })
})

const WRITES: readonly [string, (job: JobRecord) => Promise<() => Promise<unknown>>, string][] = [
  [
    'the result of a row',
    async (job) => {
      const claimed = await claim(await labRunning(database, job))
      return () => rows.write(job, [labAnswer(claimed[0]!)])
    },
    'job_rows',
  ],
  [
    'the providers of domains',
    async (job) => () => rows.setProviders(job, new Map([['a.example', 'p']])),
    'job_domains',
  ],
]
it.each(WRITES)(
  'writes %s although another transaction holds the job and then wants its rows',
  async (_, prepared, table) => {
    const job = await submitted(['a@a.example'])
    const write = await prepared(job)
    let written: Promise<unknown> | undefined
    await database.db.transaction().execute(async (tx) => {
      await sql`SET LOCAL deadlock_timeout = '20 s'`.execute(tx) // the server ends the other one
      await sql`SELECT FROM mailsonde.jobs WHERE number = ${job.number} FOR UPDATE`.execute(tx)
      written = write()
      written.catch(() => {}) // judged below
      await new Promise((resolve) => setTimeout(resolve, 300)) // it waits for the job now
      await sql`SELECT FROM ${sql.table(`mailsonde.${table}`)} WHERE job = ${job.number} FOR UPDATE`.execute(tx)
    })
    await expect(written).resolves.not.toThrow()
  },
)
