import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import type { Json } from '../../base/json.ts'
import type { Database } from './connect.ts'
import { forgetRows } from './forget-rows.ts'
import { type JobRows, jobRowsOf, type StoredRow } from './job-rows.ts'
import { jobSums } from './job-sums.ts'
import { type JobRecord, type Jobs, jobsOf } from './jobs.ts'
import type { Schema } from './schema.ts'
import { jsonArray } from './storable.ts'

let database: Database
let jobs: Jobs
let rows: JobRows
beforeAll(async () => {
  database = await labDatabase()
  jobs = jobsOf(database.db)
  rows = jobRowsOf(database.db)
})

const row = (line: number, key: string): StoredRow => ({
  line,
  input: key,
  columns: [key],
  key,
  domain: key.split('@')[1] ?? '',
})

async function submitted(keys: readonly string[], owner = ''): Promise<JobRecord> {
  const expiresAt = new Date(Date.now() + 86_400_000)
  const job = await jobs.create({
    id: `job_${randomUUID()}`,
    kind: 'verify',
    name: 'a list',
    owner,
    options: {},
    expiresAt,
  })
  await rows.append(
    job.number,
    keys.map((key, i) => row(i + 1, key)),
  )
  await rows.complete(job.number)
  return job
}

/** Resolves all domains to one provider and cuts one chunk of all rows that are due. */
async function chunked(job: JobRecord, provider = 'p'): Promise<string> {
  const domains = await rows.leaseDomains(job.number, 1_000)
  await rows.setProviders(job.number, new Map(domains.map((domain) => [domain, provider])))
  const chunk = randomUUID()
  await database.db.transaction().execute((tx) => rows.cutChunks(tx, job.number, provider, [{ chunk, size: 500 }]))
  return chunk
}

const answered = (line: number, fence: string, result = 'accepted') => ({
  line,
  fence,
  result,
  reason: 'r',
  answer: { line },
})

it('gives a list its duplicates, sums and domains', async () => {
  const job = await submitted(['a@x.example', 'b@y.example', 'a@x.example', 'a@x.example'])
  expect(await jobs.byId(job.id)).toMatchObject({ state: 'waiting', rows: 4, duplicates: 2, bad_rows: 0 })
  expect([...(await rows.leaseDomains(job.number, 10))].sort()).toEqual(['x.example', 'y.example'])
  expect(await rows.leaseDomains(job.number, 10)).toEqual([]) // leased by whoever came first
})

it('takes a part that is sent twice once', async () => {
  const job = await submitted(['a@x.example'])
  await rows.append(job.number, [row(1, 'a@x.example')])
  expect(await rows.results(job.number, { after: 0, limit: 10 })).toEqual([])
  expect((await jobs.byId(job.id))?.rows).toBe(1)
})

it('answers each row once, duplicates with their first, in the order of the input', async () => {
  const job = await submitted(['a@x.example', 'b@x.example', 'a@x.example'])
  const chunk = await chunked(job)
  const claimed = await rows.claim(job.number, chunk)
  expect(claimed.map(({ line }) => line)).toEqual([1, 2])
  expect(await rows.isOpen(job.number)).toBe(true)
  const written = await rows.answer(
    job.number,
    'p',
    claimed.map(({ line, fence }) => answered(line, fence)),
  )
  expect(written).toBe(2)
  expect(await rows.isOpen(job.number)).toBe(false)
  const results = await rows.results(job.number, { after: 0, limit: 10 })
  expect(results.map(({ line, answer }) => [line, answer])).toEqual([
    [1, { line: 1 }],
    [2, { line: 2 }],
    [3, { line: 1 }],
  ])
  expect(await rows.results(job.number, { after: 2, limit: 1, result: 'accepted' })).toHaveLength(1)
  expect(await rows.results(job.number, { after: 0, limit: 9, reason: 'other' })).toEqual([])
  expect(await jobs.byId(job.id)).toMatchObject({ done: 3 })
  const sumsOf = await jobSums(database.db, [job.number, 0], new Date(Date.now() - 120_000))
  expect(sumsOf(job.number)).toEqual({
    words: [{ result: 'accepted', reason: 'r', n: 3 }],
    providers: [{ provider: 'p', rows: 3, done: 3, recent: 3 }],
    ...{ providerCount: 1, known: 3, recent: 3 },
  })
  expect(sumsOf(0)).toMatchObject({ words: [], providers: [], known: 0 })
})

describe('the fencing token', () => {
  it('keeps a worker that lost its claim from writing', async () => {
    const job = await submitted(['a@x.example'])
    const chunk = await chunked(job)
    const [asleep] = await rows.claim(job.number, chunk)
    const [awake] = await rows.claim(job.number, chunk)
    expect(await rows.answer(job.number, 'p', [answered(1, asleep!.fence, 'rejected')])).toBe(0)
    expect(await rows.answer(job.number, 'p', [answered(1, awake!.fence)])).toBe(1)
    expect(await rows.answer(job.number, 'p', [answered(1, awake!.fence, 'rejected')])).toBe(0)
    expect((await rows.results(job.number, { after: 0, limit: 1 }))[0]).toMatchObject({ result: 'accepted' })
    expect((await jobs.byId(job.id))?.done).toBe(1)
  })

  it('holds for rows that are given back, too', async () => {
    const job = await submitted(['a@x.example'])
    const chunk = await chunked(job)
    const [asleep] = await rows.claim(job.number, chunk)
    const [awake] = await rows.claim(job.number, chunk)
    await rows.retry(job.number, [{ line: 1, fence: asleep!.fence, due: new Date(Date.now() + 1e6), counts: true }])
    expect(await rows.answer(job.number, 'p', [answered(1, awake!.fence)])).toBe(1)
  })
})

it('asks a row that waits again when it is due', async () => {
  const job = await submitted(['a@x.example'])
  const [claim] = await rows.claim(job.number, await chunked(job))
  const later = { line: 1, fence: claim!.fence, counts: true }
  await rows.retry(job.number, [{ ...later, due: new Date(Date.now() + 60_000) }])
  expect(await rows.due(job.number)).toEqual(new Map())
  await database.pool.query(`UPDATE mailsonde.job_rows SET due = now() WHERE job = $1`, [job.number])
  expect(await rows.due(job.number)).toEqual(new Map([['p', 1]]))
  const [again] = await rows.claim(job.number, await chunked(job))
  expect(again).toMatchObject({ line: 1, attempts: 1 })
})

/** Rows of a job that this connection has read and not reported yet. */
async function rowsRead(tx: Transaction<Schema>, { number }: JobRecord): Promise<number> {
  const { rows: told } = await sql<{ n: string }>`
    SELECT idx_tup_fetch + seq_tup_read AS n FROM pg_stat_xact_user_tables
    WHERE relid = ${`mailsonde.job_rows_${number}`}::regclass`.execute(tx)
  return Number(told[0]?.n)
}

it.each<[string, (rows: JobRows, job: JobRecord, fence: string) => Promise<unknown>]>([
  ['the result of a row', (on, job, fence) => on.answer(job.number, 'p', [answered(700, fence)])],
  [
    'the return of a row',
    (on, job, fence) => on.retry(job.number, [{ line: 700, fence, due: new Date(), counts: true }]),
  ],
  ['the confirmation of a claim', (on, job, fence) => on.isClaimed(job.number, 700, fence)],
])('finds the row for %s by its key: the other rows in chunks are not read', async (_, step) => {
  const job = await submitted(Array.from({ length: 1_000 }, (_, i) => `user${i}@x.example`))
  const domains = await rows.leaseDomains(job.number, 1)
  await rows.setProviders(job.number, new Map(domains.map((domain) => [domain, 'p'])))
  const chunk = randomUUID()
  await database.db.transaction().execute((tx) => rows.cutChunks(tx, job.number, 'p', [{ chunk, size: 1_000 }]))
  const claimed = await rows.claim(job.number, chunk)
  const read = await database.db.transaction().execute(async (tx) => {
    const before = await rowsRead(tx, job)
    await step(jobRowsOf(tx), job, claimed[699]!.fence)
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

it('tells what there is to plan for a job', async () => {
  const job = await submitted(['a@x.example', 'b@x.example'])
  const look = () => rows.look(job.number)
  expect(await look()).toEqual({ hasDomains: true, hasDue: false, isOpen: true, nextDue: null })
  const [domain] = await rows.leaseDomains(job.number, 1)
  expect(await look()).toEqual({ hasDomains: false, hasDue: false, isOpen: true, nextDue: null }) // leased
  await rows.setProviders(job.number, new Map([[domain!, 'p']]))
  expect(await look()).toEqual({ hasDomains: false, hasDue: true, isOpen: true, nextDue: null })
  const claimed = await rows.claim(job.number, await chunked(job))
  expect(await look()).toEqual({ hasDomains: false, hasDue: false, isOpen: true, nextDue: null }) // in a chunk
  const [soon, late] = [new Date(Date.now() + 60_000), new Date(Date.now() + 120_000)]
  const later = claimed.map(({ line, fence }) => ({ line, fence, due: line === 1 ? late : soon, counts: true }))
  await rows.retry(job.number, later)
  expect(await look()).toEqual({ hasDomains: false, hasDue: false, isOpen: true, nextDue: soon })
  await sql`UPDATE mailsonde.job_rows SET state = 'done' WHERE job = ${job.number}`.execute(database.db)
  expect(await look()).toEqual({ hasDomains: false, hasDue: false, isOpen: false, nextDue: null })
})

it('tells of any number of jobs when their waiting rows are due', async () => {
  const due = new Date(Date.now() + 3_600_000)
  const waiting = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const job = await submitted(['a@x.example'])
      const claimed = await rows.claim(job.number, await chunked(job))
      await rows.retry(job.number, [{ line: 1, fence: claimed[0]!.fence, due, counts: true }])
      return job.number
    }),
  )
  const none = await submitted(['a@x.example'])
  const told = await rows.waiting([...waiting, none.number])
  expect(told.get(none.number)).toEqual(new Map())
  for (const number of waiting) expect(told.get(number)).toEqual(new Map([['p', due]]))
  expect(await rows.waiting([])).toEqual(new Map())
})

it('keeps what PostgreSQL cannot: NULs become U+FFFD', async () => {
  const job = await submitted([])
  await rows.append(job.number, [{ line: 1, input: 'a\0b', columns: { x: 'c\0d' }, key: 'a\0b', domain: '' }])
  await rows.appendBad(job.number, [{ line: 2, reason: 'why', text: 'e\0f' }])
  expect(await rows.badRows(job.number, 0, 10)).toEqual([{ line: 2, reason: 'why', text: 'e\uFFFDf' }])
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
  expect((await database.pool.query(`SELECT to_regclass('mailsonde.job_rows_${one.number}') AS t`)).rows).toEqual([
    { t: null },
  ])
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
    const expiresAt = new Date(Date.now() + 86_400_000)
    const about = { kind: 'verify', name: '', owner: '', options: {}, expiresAt } as const
    const job = await jobs.create({ id: `job_${randomUUID()}`, ...about })
    await rows.append(
      job.number,
      list.map(([key, column], i) => ({ ...row(i + 1, key), columns: [key, column] })),
    )
    await rows.appendBad(job.number, [{ line: 9, reason: 'r', text: 'joe@a.example,' }])
    await rows.complete(job.number)
    const claimed = await rows.claim(job.number, await chunked(job))
    await rows.answer(
      job.number,
      'p',
      claimed.map(({ line, fence }) => answered(line, fence)),
    )
    return job
  }
  const left = async (job: JobRecord) =>
    (await rows.results(job.number, { after: 0, limit: 99 })).map(({ input, columns }) => [
      input,
      Object.values(columns ?? {})[1],
    ])

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
    expect(await jobs.byId(job.id)).toMatchObject({ rows: kept.length, done: kept.length, duplicates })
    const { words, known } = (await jobSums(database.db, [job.number], new Date(0)))(job.number)
    expect([words.map(({ result, n }) => [result, n]), known]).toEqual([[['accepted', kept.length]], kept.length])
    expect(await forgetRows(database.db, { name, value })).toEqual({ rows: 0, results: 0, columns: 0, bad_rows: 0 })
  })
})

it('removes a job although another transaction holds its rows and then wants the job', async () => {
  const job = await submitted(['a@deadlock.example'])
  let removed: Promise<boolean> | undefined
  await database.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE ${sql.raw(`mailsonde.job_rows_${job.number}`)} IN ROW EXCLUSIVE MODE`.execute(tx)
    removed = jobs.remove(job.id)
    removed.catch(() => {}) // judged below
    await new Promise((resolve) => setTimeout(resolve, 300)) // it waits for the rows now
    await tx.updateTable('mailsonde.jobs').set({ touched_at: new Date() }).where('id', '=', job.id).execute()
  })
  expect(await removed).toBe(true)
  expect(await jobs.byId(job.id)).toBeUndefined()
})

const WRITES: readonly [string, (job: JobRecord) => Promise<() => Promise<unknown>>, string][] = [
  [
    'the result of a row',
    async (job) => {
      const claimed = await rows.claim(job.number, await chunked(job))
      return () => rows.answer(job.number, 'p', [answered(1, claimed[0]!.fence)])
    },
    'job_rows',
  ],
  [
    'the providers of domains',
    async (job) => () => rows.setProviders(job.number, new Map([['a.example', 'p']])),
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
      await sql`SELECT FROM mailsonde.jobs WHERE number = ${job.number} FOR UPDATE`.execute(tx)
      written = write()
      written.catch(() => {}) // judged below
      await new Promise((resolve) => setTimeout(resolve, 300)) // it waits for the job now
      await sql`SELECT FROM ${sql.table(`mailsonde.${table}`)} WHERE job = ${job.number} FOR UPDATE`.execute(tx)
    })
    await expect(written).resolves.not.toThrow()
  },
)
