import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { deliveriesOf } from '../../src/store/postgres/deliveries.ts'
import { jobRowsOf } from '../../src/store/postgres/job-rows.ts'
import { type JobRecord, jobsOf } from '../../src/store/postgres/jobs.ts'
import { reportSumsOf } from '../../src/store/postgres/report-sums.ts'
import { sumDays } from '../../src/store/postgres/report-tables.ts'
import { sharedMemory } from '../../src/store/postgres/shared-memory.ts'
import { webhooksOf } from '../../src/store/postgres/webhooks.ts'
import { labDatabase } from '../lab/database.ts'
import { testBounds, times } from './table.ts'

/** Bounds of what nodes do over a database. */
const database = await labDatabase()

/** Messages of one owner to as many webhooks that are claimed of `n` that are due. */
async function claimedOfOwner(n: number): Promise<number> {
  const [deliveries, webhooks, owner] = [deliveriesOf(database.db), webhooksOf(database.db), randomUUID()]
  const createdAt = new Date(0)
  for (let i = 0; i < n; i++) {
    const hook = { id: `wh_${randomUUID()}`, owner, url: `https://a.example/${i}`, secret: '', created_at: createdAt }
    const webhook = (await webhooks.ensure(hook, n))!.webhook.number
    const message = { webhook, monitor: null, channel: '{"type":"webhook"}', type: owner, body: '', createdAt }
    await deliveries.add(database.db, [{ ...message, id: `msg_${randomUUID()}` }])
  }
  return (await deliveries.claim(new Date(1_000), 60_000, 100)).filter(({ type }) => type === owner).length
}

async function remembered(n: number): Promise<number> {
  const memory = sharedMemory(async () => database.db)
  const name = `d${n}.example`
  await Promise.all(times(n, (i) => memory.put('catch_all', name, `mx${i}.example`, 'x', 60_000)))
  return (await memory.about(name, 'provider')).length
}

async function newJob(): Promise<JobRecord> {
  const expiresAt = new Date(Date.now() + 86_400_000)
  const made = { id: randomUUID(), kind: 'verify', name: '', owner: '', options: {}, expiresAt } as const
  const job = await jobsOf(database.db).create(made)
  await jobsOf(database.db).move(job.id, ['receiving'], 'running')
  return job
}

/** A job with `n` providers, which are due after a time. */
async function jobWithProviders(n: number, due = '1 hour'): Promise<JobRecord> {
  const job = await newJob()
  await sql`
    INSERT INTO mailsonde.job_providers (job, provider, rows, next_due)
    SELECT ${job.number}::int, 'p' || i, 1, now() + ${due}::interval FROM generate_series(1, ${n}::int) i`.execute(
    database.db,
  )
  return job
}

/** How many jobs of one owner take turns at a provider, of `n`. */
async function turns(n: number): Promise<number> {
  const jobs = await Promise.all(times(n, () => jobWithProviders(1, '-1 hour')))
  const due = await jobRowsOf(database.db).duePairs()
  for (const { id } of jobs) await jobsOf(database.db).remove(id)
  return due.length
}

/** Whether a source whose texts make it as large as `n` octets is read. */
async function sourceOf(n: number): Promise<boolean> {
  const { rows } = await database.pool.query<{ name: number }>(
    `WITH named AS (INSERT INTO mailsonde.report_names (name) VALUES (gen_random_uuid()::text) RETURNING number),
       made AS (
         INSERT INTO mailsonde.report_sources (digest, name, address, envelope_from, spf_domain, spf_result, dkim_domain, dkim_selector, dkim_result, signers, disposition, reason)
         SELECT gen_random_uuid(), number, '192.0.2.1', '', '', '', '', '', '', repeat('x', $1 - 300), '', '' FROM named RETURNING number, name)
     INSERT INTO mailsonde.report_rows (name, day, source, reporter, counts, passes, messages)
     SELECT name, '2026-11-01', number, 1, true, false, 1 FROM made RETURNING name`,
    [n],
  )
  await database.pool.query(sumDays('name = $1'), [rows[0]!.name])
  const period = { domain: 'a.example', from: '2026-11-01', to: '2026-11-01', includeUncounted: false }
  const { sources, leftOut } = await reportSumsOf(database.db).sources([rows[0]!.name], period)
  return sources.length === 1 && leftOut.sources === 0
}

testBounds([
  ['src/store/postgres/report-sums.ts MAX_SOURCE_OCTETS', 32 * 1_048_576, sourceOf],
  ['src/store/postgres/job-rows.ts MAX_JOBS_OF_OWNER', 4, async (n) => (await turns(n)) === n],
  ['src/store/postgres/shared-memory.ts MAX_MEMORIES', 100, async (n) => (await remembered(n)) === n],
  ['src/store/postgres/webhooks.ts OWNER_AT_A_TIME', 12, async (n) => (await claimedOfOwner(n)) === n],
])
