import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { expect, it } from 'vitest'
import { sleep } from '../../src/base/deadline.ts'
import { chunkQueue } from '../../src/jobs/engine/queue.ts'
import { jobRowsOf } from '../../src/store/postgres/job-rows.ts'
import { jobSums } from '../../src/store/postgres/job-sums.ts'
import { jobsOf } from '../../src/store/postgres/jobs.ts'
import { sharedMemory } from '../../src/store/postgres/shared-memory.ts'
import { deliveriesOf } from '../../src/store/postgres/webhooks.ts'
import { labDatabase } from '../lab/database.ts'
import { testBounds, times } from './table.ts'

/** Bounds of what nodes do over a database. */
const database = await labDatabase()

/** Messages to one receiver that are claimed of `n` that are due. */
async function claimed(n: number): Promise<number> {
  const deliveries = deliveriesOf(database.db)
  const channel = JSON.stringify({ type: 'slack', url: `https://a.example/${n}` })
  const createdAt = new Date(0)
  const message = { webhook: null, monitor: null, channel, type: 'x', body: '', createdAt }
  await deliveries.add(
    database.db,
    times(n, () => ({ ...message, id: `msg_${randomUUID()}` })),
  )
  const rows = await deliveries.claim(new Date(1_000), 60_000, 100)
  return rows.filter((row) => JSON.stringify(row.channel).includes(`example/${n}"`)).length
}

async function remembered(n: number): Promise<number> {
  const memory = sharedMemory(async () => database.db)
  const name = `d${n}.example`
  await Promise.all(times(n, (i) => memory.put('catch_all', name, `mx${i}.example`, 'x', 60_000)))
  return (await memory.about(name, 'provider')).length
}

/** A job with `n` totals of these values; returns its number. */
async function jobWithTotals(values: RawBuilder<unknown>, n: number): Promise<number> {
  const expiresAt = new Date(Date.now() + 86_400_000)
  const made = { id: randomUUID(), kind: 'verify', name: '', owner: '', options: {}, expiresAt } as const
  const { number } = await jobsOf(database.db).create(made)
  await sql`INSERT INTO mailsonde.job_counts SELECT ${number}, ${values} FROM generate_series(1, ${n}::int) i`.execute(
    database.db,
  )
  return number
}

/** What is read of a job with `n` providers, or with rows of `n` reasons. */
async function summed(n: number, of: 'providers' | 'reasons'): Promise<number> {
  const number = await jobWithTotals(of === 'providers' ? sql`'p' || i, '', '', 1` : sql`'p', 'x', 'r' || i, 1`, n)
  const { providers, words } = (await jobSums(database.db, [number], new Date(0)))(number)
  return of === 'providers' ? providers.length : words.length
}

/** How many waiting providers are read of a job with `n`. */
async function waiting(n: number): Promise<number> {
  const number = await jobWithTotals(sql`'p' || i, '', '', 1`, n)
  await sql`
    INSERT INTO mailsonde.job_rows (job, line, input, key, domain, provider, state, due)
    SELECT ${number}, i, '', i::text, '', 'p' || i, 'ready', now() + interval '1 hour' FROM generate_series(1, ${n}::int) i`.execute(
    database.db,
  )
  return (await jobRowsOf(database.db).waiting([number])).get(number)?.size ?? 0
}

testBounds([
  ['src/store/postgres/job-rows.ts MAX_WAITING', 1_000, async (n) => (await waiting(n)) === n],
  ['src/store/postgres/job-sums.ts MOST', 100, async (n) => (await summed(n, 'providers')) === n],
  ['src/store/postgres/job-sums.ts MAX_WORDS', 200, async (n) => (await summed(n, 'reasons')) === n],
  ['src/store/postgres/shared-memory.ts MAX_MEMORIES', 100, async (n) => (await remembered(n)) === n],
  ['src/store/postgres/webhooks.ts AT_A_TIME', 4, async (n) => (await claimed(n)) === n],
])

it.each([
  { what: 'src/jobs/engine/workers.ts MAX_ROWS', rows: 10, chunks: 16 },
  { what: 'src/jobs/engine/workers.ts CHUNKS_AT_A_TIME', rows: 0, chunks: 48 },
])('a node works on $chunks chunks of $rows rows at a time ($what)', async ({ rows, chunks }) => {
  const queue = await chunkQueue(database, () => {})
  const all = Array.from({ length: chunks + 4 }, (_, i) => ({ chunk: randomUUID(), number: i, provider: `p${i}` }))
  const send = (chunk: (typeof all)[number]) =>
    database.db.transaction().execute((tx) => queue.send(tx, [{ ...chunk, job: randomUUID() }], 1))
  for (const chunk of all) await send(chunk)
  let [running, most] = [0, 0]
  const stopped = new AbortController()
  queue.work(async (_chunk, { needs }) => {
    most = Math.max(most, ++running)
    needs(rows)
    await sleep(60_000, stopped.signal).catch(() => {})
    running--
  })
  await expect.poll(() => most, { timeout: 15_000 }).toBe(chunks)
  await sleep(600, new AbortController().signal) // it polls twice a second
  stopped.abort()
  expect(most).toBe(chunks)
  await queue.stop()
})
