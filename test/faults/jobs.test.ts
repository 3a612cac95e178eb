import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { sleep } from '../../src/base/deadline.ts'
import { type Engine, startEngine } from '../../src/jobs/engine/engine.ts'
import { openUploads } from '../../src/jobs/intake/open-uploads.ts'
import { takeUpload } from '../../src/jobs/submit.ts'
import type { Database } from '../../src/store/postgres/connect.ts'
import { takeInOf } from '../../src/store/postgres/job-intake.ts'
import { jobRowsOf } from '../../src/store/postgres/job-rows.ts'
import { jobSums } from '../../src/store/postgres/job-sums.ts'
import { type JobRecord, jobsOf } from '../../src/store/postgres/jobs.ts'
import { labDatabase, labDatabaseUrl } from '../lab/database.ts'

/**
 * A fault at every N-th statement of a node that works on a bulk job (planning, claim, result, handing back), for N =
 * 1, 2, 3 … until none fires: every row gets its answer, once, and only rows whose result was lost are asked about
 * again. `npm run test:faults` tries every N with every kind; without `FAULTS=all` a few take turns.
 */
const ALL = process.env.FAULTS === 'all'
const ROWS = 24
/** Databases that are worked on at a time. */
const AT_A_TIME = 4
const LIST = Array.from({ length: ROWS }, (_, i) => `user${i}@d${i % 3}.example`)
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const limitsOf = (id: string) => ({ id, concurrent: 20, perMinute: Number.POSITIVE_INFINITY })
const failure = (message: string, code: string): Error => Object.assign(new Error(message), { code })

type Fault = { readonly error: () => Error; readonly isAfter?: true }
const FAULTS: Readonly<Record<string, Fault>> = {
  'a reset': { error: () => failure('read ECONNRESET', 'ECONNRESET') },
  'a full disk': { error: () => failure('could not extend file', '53100') },
  'a shutdown': { error: () => failure('terminating connection due to administrator command', '57P01') },
  'a serialization failure': { error: () => failure('could not serialize access', '40001') },
  'an answer that is lost': { error: () => failure('read ECONNRESET', 'ECONNRESET'), isAfter: true },
}

/** Makes the N-th statement about jobs fail, on whichever connection; the queue's own upkeep is not counted. */
function failAt(
  pool: pg.Pool,
  nth: number,
  fault: Fault,
): { readonly fired: () => boolean; readonly begin: () => void } {
  let count = 0
  let isBegun = false
  const isMeant = (text: string): boolean =>
    isBegun && (/^commit/i.test(text) || /mailsonde\.(?:job|provider)/.test(text)) && ++count === nth
  pool.on('acquire', (client) => {
    if (Object.hasOwn(client, 'query')) return
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    const broken = (...args: unknown[]): unknown => {
      const [first] = args
      const text = typeof first === 'string' ? first : String((first as { readonly text?: string }).text ?? '')
      if (typeof args.at(-1) === 'function' || !isMeant(text)) return query(...args)
      // A connection is lost before the statement, or after it was obeyed.
      if (!fault.isAfter) return Promise.reject(fault.error())
      return Promise.resolve(query(...args)).then(() => Promise.reject(fault.error()))
    }
    Object.defineProperty(client, 'query', { value: broken, configurable: true })
  })
  return { fired: () => count >= nth, begin: () => void (isBegun = true) }
}

async function submit(database: Database): Promise<JobRecord> {
  const expiresAt = new Date(Date.now() + 86_400_000)
  const job = { id: randomUUID(), kind: 'verify', name: '', owner: '', options: {}, expiresAt } as const
  const made = await jobsOf(database.db).create(job)
  async function* octets() {
    yield Buffer.from(LIST.join('\n'))
  }
  const upload = { octets: octets(), contentType: 'text/plain', bounds: { maxUpload: 1e6, maxRows: 1e9 } }
  await takeUpload(
    { takeIn: takeInOf(database.pool), complete: jobRowsOf(database.db).complete, place: openUploads().enter('') },
    made,
    upload,
  )
  return made
}

/**
 * What is wrong after one fault; undefined where it did not fire. `stops`: the node ends halfway, and another one goes
 * on.
 */
async function tried(nth: number, fault: Fault, stops: boolean): Promise<readonly string[] | undefined> {
  const url = await labDatabaseUrl()
  const [lookOn, node] = [await labDatabase(url), await labDatabase(url)]
  const asked: string[] = []
  const start = (on: Database): Promise<Engine> =>
    startEngine(on, {
      ask: async (_kind, input, _options, signal) => {
        asked.push(input)
        await sleep(5, signal)
        return { result: 'accepted', reason: 'mailbox_exists', answer: { email: input } }
      },
      findProvider: async (_kind, domain) => limitsOf(domain),
      room: (_: string, claimed: number) => 20 - claimed,
      now: Date.now,
      log,
      drainMs: 500,
    })
  const plan = failAt(node.pool, nth, fault)
  const job = await submit(lookOn)
  const engines = [await start(node)]
  plan.begin()
  try {
    if (stops) {
      await until(() => asked.length > 4)
      await engines.pop()!.stop()
      engines.push(await start(lookOn))
    }
    await until(async () => (await jobsOf(lookOn.db).byId(job.id))?.state === 'done')
    if (!plan.fired()) return undefined
    return await wrongOf(lookOn, job, asked)
  } catch (error) {
    return [`${String(error)}; ${asked.length} questions`]
  } finally {
    for (const engine of engines) await engine.stop()
    await Promise.all([node.close(), lookOn.close()])
  }
}

async function wrongOf(database: Database, job: JobRecord, asked: readonly string[]): Promise<readonly string[]> {
  const wrong = []
  const record = await jobsOf(database.db).byId(job.id)
  const results = await jobRowsOf(database.db).results(record!, { after: 0, limit: 1_000 })
  const told = results.map(({ input, result, answer }) => `${input} ${result} ${answer?.email}`)
  if (told.join() !== LIST.map((input) => `${input} accepted ${input}`).join()) wrong.push(`${told.length} results`)
  const { words, done } = (await jobSums(database.db, [job.number], new Date(0)))(job.number)
  if (done !== ROWS) wrong.push(`${done} rows are counted as done`)
  const sum = words.reduce((all, { result, n }) => (result === 'accepted' ? all + n : all), 0)
  if (sum !== ROWS) wrong.push(`the sums have ${sum} accepted`)
  // A lost result repeats its rows once, when their claim has ended.
  const most = Math.max(...LIST.map((input) => asked.filter((one) => one === input).length))
  if (most > 2) wrong.push(`a row is asked about ${most} times`)
  return wrong
}

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const signal = AbortSignal.timeout(60_000)
  while (!(await holds())) await sleep(50, signal)
}

describe.each([
  ['a job', false],
  ['a job whose node stops halfway', true],
])('%s', (_, stops) => {
  it.each(ALL ? Object.keys(FAULTS) : ['faults in turn'])(
    '%s at every statement',
    async (kind) => {
      const names = Object.keys(FAULTS)
      const wrong: Record<string, number> = {}
      for (let first = 1; ; first += AT_A_TIME) {
        const all = Array.from({ length: AT_A_TIME }, (_, n) => (ALL ? first + n : 2 + 5 * n))
        const found = await Promise.all(
          all.map((nth) => tried(nth, FAULTS[ALL ? kind : names[nth % names.length]!]!, stops)),
        )
        found.forEach((one, n) => {
          for (const what of one ?? []) wrong[what] ??= all[n]!
        })
        if (!ALL || found.includes(undefined)) break
      }
      expect(wrong, JSON.stringify(wrong, null, 1)).toEqual({})
    },
    ALL ? 3_600_000 : 60_000,
  )
})
