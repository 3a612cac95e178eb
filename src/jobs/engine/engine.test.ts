import { randomUUID } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { labDatabase, labDatabaseUrl } from '../../../test/lab/database.ts'
import { sleep } from '../../base/deadline.ts'
import type { Database } from '../../store/postgres/connect.ts'
import { takeInOf } from '../../store/postgres/job-intake.ts'
import { jobRowsOf } from '../../store/postgres/job-rows.ts'
import { type JobRecord, jobsOf } from '../../store/postgres/jobs.ts'
import { openUploads } from '../intake/open-uploads.ts'
import { takeUpload } from '../submit.ts'
import { type Ask, type Asked, PAUSE_MS } from './claims.ts'
import { type Engine, type EngineSettings, startEngine } from './engine.ts'

let url: string
let database: Database
beforeAll(async () => {
  url = await labDatabaseUrl()
  database = await labDatabase(url)
})

const running: { readonly engine: Engine; readonly node: Database }[] = []
async function stopAll(): Promise<void> {
  for (const { engine, node } of running.splice(0)) {
    await engine.stop()
    await node.close()
  }
}
afterEach(async () => {
  await stopAll()
  expect(warnings.splice(0)).toEqual([])
  for (const { id } of await jobsOf(database.db).list({ limit: 100 })) await jobsOf(database.db).remove(id)
})

/** What the engines of a test have warned of: nothing, unless the test has a log of its own. */
const warnings: unknown[] = []
const warn = (event: string, fields?: Readonly<Record<string, unknown>>): void => void warnings.push([event, fields])
const log = { debug: () => {}, info: () => {}, warn, error: warn }
const provider = (id: string) => ({ id, concurrent: 20, perMinute: Number.POSITIVE_INFINITY })
const accepted = (input: string): Asked => ({ result: 'accepted', reason: 'mailbox_exists', answer: { email: input } })

async function engine(ask: Ask, more: Partial<EngineSettings> = {}): Promise<Engine> {
  const node = await labDatabase(url)
  const made = await startEngine(node, {
    ask,
    findProvider: async (_kind, domain) => provider(domain),
    room: (_provider, claimed) => 20 - claimed,
    now: Date.now,
    log,
    drainMs: 100,
    ...more,
  })
  running.push({ engine: made, node })
  return made
}

/** Stores a list, and tells the engines of this test, as a service does. */
async function submit(list: string, keptMs = 86_400_000): Promise<JobRecord> {
  const expiresAt = new Date(Date.now() + keptMs)
  const job = await jobsOf(database.db).create({
    id: randomUUID(),
    kind: 'verify',
    name: '',
    owner: '',
    options: {},
    expiresAt,
  })
  async function* octets() {
    yield Buffer.from(list)
  }
  const upload = { octets: octets(), contentType: 'text/plain', bounds: { maxUpload: 1e9, maxRows: 1e9 } }
  await takeUpload(
    { takeIn: takeInOf(database.pool), complete: jobRowsOf(database.db).complete, place: openUploads().enter('') },
    job,
    upload,
  )
  for (const { engine } of running) engine.wake()
  return job
}

/** Rows that nodes hold. */
async function claimed({ number }: JobRecord): Promise<number> {
  const text = 'SELECT count(*)::int AS n FROM mailsonde.job_rows WHERE job = $1 AND fence % 2 = 1'
  return (await database.pool.query<{ n: number }>(text, [number])).rows[0]!.n
}
async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await sleep(20, AbortSignal.timeout(15_000))
}
const stateOf = async ({ id }: JobRecord): Promise<string | undefined> => (await jobsOf(database.db).byId(id))?.state
const isDone = (job: JobRecord) => async (): Promise<boolean> => (await stateOf(job)) === 'done'
const resultsOf = async ({ id }: JobRecord) =>
  jobRowsOf(database.db).results((await jobsOf(database.db).byId(id))!, { after: 0, limit: 10_000 })

const list = (n: number): string => Array.from({ length: n }, (_, i) => `user${i}@d${i % 7}.example`).join('\n')

it('verifies each address once on two nodes, and answers every row', async () => {
  const asked: string[] = []
  const ask: Ask = async (_kind, input) => {
    asked.push(input)
    return accepted(input)
  }
  await Promise.all([engine(ask), engine(ask)])
  const job = await submit(`${list(600)}\nUSER0@d0.example\nuser0@D0.example`)
  await until(isDone(job))
  expect(new Set(asked).size).toBe(601) // local parts are case-sensitive (RFC 5321 §2.4)
  expect(asked).toHaveLength(601)
  const results = await resultsOf(job)
  expect(results.map(({ line }) => line)).toEqual(Array.from({ length: 602 }, (_, i) => i + 1))
  expect(await jobsOf(database.db).byId(job.id)).toMatchObject({ rows: 602, duplicates: 1 })
})

// src/jobs/engine/lookups.ts JOBS_AT_A_TIME
it('plans for 64 jobs at a time', async () => {
  let [running, most] = [0, 0]
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const jobs = await Promise.all([...Array(65).keys()].map((i) => submit(`a@d${i}.example`)))
  await engine(async (_kind, input) => accepted(input), {
    findProvider: async (_kind, domain) => {
      most = Math.max(most, ++running)
      await released
      running--
      return provider(domain)
    },
  })
  await until(() => running === 64)
  await sleep(200, AbortSignal.timeout(10_000))
  expect(most).toBe(64)
  release()
  for (const job of jobs) await until(isDone(job))
})

it('retries a row when it is due, and keeps the last answer', async () => {
  const calls = new Map<string, number>()
  const ask: Ask = async (_kind, input) => {
    const n = (calls.get(input) ?? 0) + 1
    calls.set(input, n)
    return n === 1 ? { result: 'deferred', reason: 'greylisted', answer: {}, retryAfterMs: 50 } : accepted(input)
  }
  await engine(ask)
  const job = await submit('a@a.example')
  await until(isDone(job))
  expect(calls.get('a@a.example')).toBe(2)
  expect((await resultsOf(job))[0]).toMatchObject({ result: 'accepted' })
})

it('a row that waited for two days before its first question is tried again like any other', async () => {
  let aheadMs = 0
  const calls: string[] = []
  await engine(
    async (_kind, input) => {
      calls.push(input)
      if (calls.length === 1) {
        aheadMs = 2 * 86_400_000 // our own limit held it back for so long
        return { result: 'unknown', reason: 'own_limit', answer: {}, retryAfterMs: 50 }
      }
      if (calls.length === 2) return { result: 'deferred', reason: 'greylisted', answer: {}, retryAfterMs: 50 }
      return accepted(input)
    },
    { now: () => Date.now() + aheadMs },
  )
  const job = await submit('a@a.example', 30 * 86_400_000)
  await until(isDone(job))
  expect(calls).toHaveLength(3)
  expect((await resultsOf(job))[0]).toMatchObject({ result: 'accepted' })
})

describe('a stop', () => {
  const hanging: Ask = (_kind, _input, _options, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

  it('returns rows, which another node answers', async () => {
    await engine(hanging)
    const job = await submit(list(30))
    await until(async () => (await claimed(job)) > 0)
    await stopAll()
    await engine(async (_kind, input) => accepted(input))
    await until(isDone(job))
    expect(await resultsOf(job)).toHaveLength(30)
  })

  it('lets running questions end, so that none is repeated', async () => {
    const asked: string[] = []
    const slow: Ask = async (_kind, input) => {
      asked.push(input)
      await sleep(100, AbortSignal.timeout(5_000))
      return accepted(input)
    }
    await engine(slow, { drainMs: 5_000 })
    const job = await submit(list(200))
    await until(() => asked.length > 20)
    await stopAll()
    expect(asked.length).toBeLessThan(200)
    await engine(slow)
    await until(isDone(job))
    expect(asked.toSorted()).toEqual(list(200).split('\n').toSorted())
  })

  it.each(['paused', 'canceled'] as const)('of the job (%s) ends what runs', async (state) => {
    let stopped = 0
    await engine(async (kind, input, options, signal) => {
      try {
        return await hanging(kind, input, options, signal)
      } finally {
        stopped++
      }
    })
    const job = await submit('a@a.example')
    await until(async () => (await stateOf(job)) === 'running')
    await until(async () => (await claimed(job)) > 0)
    await jobsOf(database.db).move(job.id, ['running'], state)
    await until(async () => stopped > 0 && (await claimed(job)) === 0)
    expect(await stateOf(job)).toBe(state)
    expect(await resultsOf(job)).toEqual([])
  })
})

it('a domain whose provider cannot be found by a fault of ours is its own provider, and the log says which', async () => {
  const warned: unknown[] = []
  const findProvider: EngineSettings['findProvider'] = async (_kind, domain) => {
    if (domain === 'broken.example') throw new Error('a bug')
    return provider(domain)
  }
  const ask: Ask = async (_kind, input, _options, signal) => {
    if (input.startsWith('slow')) await sleep(60_000, signal)
    return accepted(input)
  }
  await engine(ask, { findProvider, log: { ...log, error: (event, fields) => void warned.push([event, fields]) } })
  const broken = await submit('a@broken.example')
  for (const name of ['slow1', 'slow2', 'slow3']) await submit(`${name}@${name}.example`)
  const others = [await submit('b@d.example'), await submit('c@d.example')]
  for (const job of [broken, ...others]) await until(isDone(job))
  const fields = { job: broken.id, domain: 'broken.example', err: new Error('a bug') }
  expect(warned).toEqual([['the provider of a domain cannot be found', fields]])
}, 20_000)

it('a provider that is found after its job was removed, but not yet its table, is no fault', async () => {
  const job = await submit(list(5_001))
  await database.pool.query('DELETE FROM mailsonde.jobs WHERE id = $1', [job.id])
  const { number } = job
  const found = new Map([['d0.example', 'd0.example']])
  expect(await jobRowsOf(database.db).setProviders({ number, own_table: true }, found)).toBe(true)
})

it('a provider with 30,000 rows that has to wait holds up no other', async () => {
  const slow = Array.from({ length: 30_000 }, (_, i) => `user${i}@tenant.example`)
  const others = Array.from({ length: 200 }, (_, i) => `user${i}@d${i % 20}.example`)
  const asked = new Set<string>()
  const ask: Ask = async (_kind, input, _options, signal) => {
    if (input.endsWith('tenant.example')) await sleep(60_000, signal)
    asked.add(input)
    return accepted(input)
  }
  await engine(ask, { room: (id, claimed) => (id === 'tenant.example' ? 10 : 20) - claimed })
  const job = await submit([...slow, ...others].join('\n'))
  await until(() => others.every((input) => asked.has(input)))
  expect(asked.size).toBe(200)
  await jobsOf(database.db).remove(job.id)
}, 60_000)

it('all places of a provider are taken at once, and again when they are free', async () => {
  const begun: string[] = []
  const waiting: (() => void)[] = []
  const ask: Ask = async (_kind, input) => {
    begun.push(input)
    if (begun.length <= 240) await new Promise<void>((resolve) => waiting.push(resolve))
    return accepted(input)
  }
  const plans: number[] = []
  await engine(ask, {
    room: (_provider, claimed) => {
      plans.push(claimed)
      return 160 - claimed
    },
  })
  const job = await submit(Array.from({ length: 400 }, (_, i) => `user${i}@d.example`).join('\n'))
  await until(() => begun.length > 0)
  const looks = plans.length
  await until(() => begun.length === 160)
  expect(plans.length - looks).toBeLessThanOrEqual(1)
  for (const end of waiting.splice(0, 80)) end()
  await until(() => begun.length === 240)
  for (const end of waiting) end()
  await until(isDone(job))
}, 20_000)

it('no question begins once a pause counts, with 5,000 rows and two nodes', async () => {
  let begun = 0
  const ask: Ask = async (_kind, input, _options, signal, begin) => {
    await sleep(20, signal) // it looks up the mail hosts
    await begin?.()
    begun++
    await sleep(30, signal)
    return accepted(input)
  }
  const room = (_provider: string, claimed: number): number => 100 - claimed
  await Promise.all([engine(ask, { room }), engine(ask, { room })])
  const job = await submit(Array.from({ length: 5_000 }, (_, i) => `user${i}@d.example`).join('\n'))
  await until(() => begun > 100)
  await jobsOf(database.db).move(job.id, ['running'], 'paused')
  await sleep(PAUSE_MS, AbortSignal.timeout(5_000))
  const before = begun
  await sleep(1_500, AbortSignal.timeout(5_000))
  expect(begun).toBe(before)
  expect(begun).toBeLessThan(5_000)
  await jobsOf(database.db).move(job.id, ['paused'], 'running')
  await until(() => begun > before)
  await jobsOf(database.db).remove(job.id)
}, 60_000)
