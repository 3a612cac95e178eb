import { randomUUID } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { labDatabase, labDatabaseUrl } from '../../../test/lab/database.ts'
import { sleep } from '../../base/deadline.ts'
import type { Database } from '../../store/postgres/connect.ts'
import { takeInOf } from '../../store/postgres/job-intake.ts'
import { jobRowsOf } from '../../store/postgres/job-rows.ts'
import { type JobRecord, jobsOf } from '../../store/postgres/jobs.ts'
import { takeUpload } from '../submit.ts'
import type { Ask, Asked } from './ask.ts'
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
  for (const { id } of await jobsOf(database.db).list({ limit: 100 })) await jobsOf(database.db).remove(id)
})

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const provider = (id: string) => ({ id, concurrent: 20, perMinute: Number.POSITIVE_INFINITY })
const accepted = (input: string): Asked => ({ result: 'accepted', reason: 'mailbox_exists', answer: { email: input } })

async function engine(ask: Ask, more: Partial<EngineSettings> = {}): Promise<Engine> {
  const node = await labDatabase(url)
  const made = await startEngine(node, {
    ask,
    findProvider: async (_kind, domain) => provider(domain),
    limitsOf: provider,
    now: Date.now,
    log,
    drainMs: 100,
    ...more,
  })
  running.push({ engine: made, node })
  return made
}

async function submit(list: string): Promise<JobRecord> {
  const expiresAt = new Date(Date.now() + 86_400_000)
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
  const upload = { octets: octets(), contentType: 'text/plain', bounds: { maxUpload: 1e9 } }
  await takeUpload(takeInOf(database.pool), jobRowsOf(database.db), job, upload)
  return job
}

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await sleep(20, AbortSignal.timeout(15_000))
}
const stateOf = async ({ id }: JobRecord): Promise<string | undefined> => (await jobsOf(database.db).byId(id))?.state
const isDone = (job: JobRecord) => async (): Promise<boolean> => (await stateOf(job)) === 'done'
const resultsOf = ({ number }: JobRecord) => jobRowsOf(database.db).results(number, { after: 0, limit: 10_000 })

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
  expect(await jobsOf(database.db).byId(job.id)).toMatchObject({ rows: 602, done: 602, duplicates: 1 })
})

// src/jobs/engine/engine.ts JOBS_AT_A_TIME
it('plans for 4 jobs at a time', async () => {
  let [running, most] = [0, 0]
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const jobs = await Promise.all([...Array(5).keys()].map((i) => submit(`a@d${i}.example`)))
  await engine(async (_kind, input) => accepted(input), {
    findProvider: async (_kind, domain) => {
      most = Math.max(most, ++running)
      await released
      running--
      return provider(domain)
    },
  })
  await until(() => running === 4)
  await sleep(200, AbortSignal.timeout(10_000))
  expect(most).toBe(4)
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

describe('a stop', () => {
  const hanging: Ask = (_kind, _input, _options, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

  it('returns rows, which another node answers', async () => {
    await engine(hanging)
    const job = await submit(list(30))
    await until(async () => (await jobRowsOf(database.db).queued(job.number)).size > 0)
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
    await until(async () => (await jobRowsOf(database.db).queued(job.number)).size > 0)
    await jobsOf(database.db).move(job.id, ['running'], state)
    await until(async () => (await jobRowsOf(database.db).queued(job.number)).size === 0 || stopped > 0)
    expect(await stateOf(job)).toBe(state)
    expect(await resultsOf(job)).toEqual([])
  })
})

it('keeps within a rate that all nodes share', async () => {
  const limits = (id: string) => ({ id, concurrent: 20, perMinute: 600 }) // 10 a second, 20 at once
  const at: number[] = []
  const ask: Ask = async (_kind, input) => {
    at.push(performance.now())
    return accepted(input)
  }
  const both = { findProvider: async () => limits('one'), limitsOf: limits }
  await Promise.all([engine(ask, both), engine(ask, both)])
  const job = await submit(list(50))
  await until(isDone(job))
  const most = Math.max(...at.map((start) => at.filter((time) => time >= start && time < start + 1_000).length))
  expect(most).toBeLessThanOrEqual(20 + 10 + 1) // the bucket, and the rows of one second
})

it('goes on with the other jobs while one cannot be planned, and says which', async () => {
  const warned: unknown[] = []
  const findProvider: EngineSettings['findProvider'] = async (_kind, domain) => {
    if (domain === 'broken.example') throw new Error('a bug')
    return provider(domain)
  }
  const ask: Ask = async (_kind, input, _options, signal) => {
    if (input.startsWith('slow')) await sleep(60_000, signal)
    return accepted(input)
  }
  await engine(ask, { findProvider, log: { ...log, warn: (event, fields) => void warned.push([event, fields]) } })
  const broken = await submit('a@broken.example')
  for (const name of ['slow1', 'slow2', 'slow3']) await submit(`${name}@${name}.example`)
  const others = [await submit('b@d.example'), await submit('c@d.example')]
  for (const job of others) await until(isDone(job))
  expect(await stateOf(broken)).toBe('running')
  expect(warned[0]).toEqual(['a bulk job cannot be planned', { job: broken.id, reason: 'a bug' }])
}, 20_000)

it('ends the other rows of a chunk that failed, which is then assigned again', async () => {
  const ended: string[] = []
  let hasFailed = false
  const ask: Ask = async (_kind, input, _options, signal) => {
    if (hasFailed) return accepted(input)
    if (input === 'user0@d0.example') {
      await sleep(50, signal)
      hasFailed = true
      throw new Error('a bug')
    }
    await sleep(60_000, signal).catch(() => ended.push(input))
    throw signal.reason
  }
  await engine(ask)
  const job = await submit(['user0', 'user1', 'user2'].map((name) => `${name}@d0.example`).join('\n'))
  await until(isDone(job))
  expect(ended.toSorted()).toEqual(['user1@d0.example', 'user2@d0.example'])
  expect((await resultsOf(job)).map(({ result }) => result)).toEqual(['accepted', 'accepted', 'accepted'])
}, 20_000)
