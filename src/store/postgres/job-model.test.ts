import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import { labAnswer, labList, labRetry, labRunning } from '../../../test/lab/job-rows.ts'
import type { Database } from './connect.ts'
import { type ClaimedRow, jobRowsOf } from './job-rows.ts'
import { jobSums } from './job-sums.ts'
import { type JobRecord, jobsOf } from './jobs.ts'

/**
 * What must hold of a job's rows, whatever nodes and callers do in whatever order: claims, answers, retries, pauses,
 * dead nodes, late writes.
 */
let database: Database
beforeAll(async () => {
  database = await labDatabase()
})
const ROWS = 8

type Model = {
  isPaused: boolean
  /**
   * Claims that hold, by line; those that have lapsed, and count until the row is claimed again; and those that were
   * used or replaced.
   */
  readonly held: Map<number, ClaimedRow>
  readonly lapsed: Map<number, ClaimedRow>
  readonly dead: ClaimedRow[]
  readonly results: Map<number, string>
}
type Real = { readonly job: JobRecord }
type Command = fc.AsyncCommand<Model, Real>

const rows = () => jobRowsOf(database.db)
const pair = ({ job }: Real) => ({ number: job.number, own_table: job.own_table, provider: 'p' })
const command = (name: string, run: Command['run'], check: Command['check'] = () => true): Command => ({
  ...{ check, run, toString: () => name },
})
const heldRow = (model: Model, n: number): ClaimedRow | undefined => [...model.held.values()][n % ROWS]
const forget = (model: Model, one: ClaimedRow): void => {
  model.held.delete(one.line)
  model.dead.push(one)
}

const commands = [
  fc.integer({ min: 1, max: ROWS }).map((most) =>
    command(`claim ${most}`, async (model, real) => {
      const { rows: claimed } = await rows().claim(pair(real), most)
      if (model.isPaused) expect(claimed).toEqual([])
      for (const row of claimed) {
        expect(model.held.has(row.line)).toBe(false)
        expect(model.results.has(row.line)).toBe(false)
        const before = model.lapsed.get(row.line)
        if (before) model.dead.push(before)
        model.lapsed.delete(row.line)
        model.held.set(row.line, row)
      }
      const free = ROWS - model.held.size - model.results.size
      if (!model.isPaused && claimed.length < most) expect(free).toBe(0)
    }),
  ),
  fc.nat().map((n) =>
    command(`answer ${n}`, async (model, { job }) => {
      const one = heldRow(model, n)
      if (!one) return
      await rows().write(job, [labAnswer(one, `r${n % 3}`)])
      model.results.set(one.line, `r${n % 3}`)
      forget(model, one)
    }),
  ),
  fc.nat().map((n) =>
    command(`retry ${n}`, async (model, { job }) => {
      const one = heldRow(model, n)
      if (!one) return
      await rows().write(job, [labRetry(one, 0)])
      forget(model, one)
    }),
  ),
  fc.nat().map((n) =>
    command(`late write ${n}`, async (model, { job }) => {
      const one = model.dead[n % Math.max(1, model.dead.length)]
      if (!one) return
      await rows().write(job, [labAnswer(one, 'late')])
      await rows().write(job, [labRetry(one, 1e6)])
      expect(await rows().renew(job, [one])).toEqual([])
    }),
  ),
  fc.constant(
    command('kill', async (model, { job }) => {
      // The claims of the node lapse.
      await database.pool.query('UPDATE mailsonde.job_rows SET due = now() WHERE job = $1 AND fence % 2 = 1', [
        job.number,
      ])
      await database.pool.query(
        `UPDATE mailsonde.job_providers SET next_due = least(next_due, now()) WHERE job = $1 AND next_due < 'infinity'`,
        [job.number],
      )
      for (const one of model.held.values()) model.lapsed.set(one.line, one)
      model.held.clear()
    }),
  ),
  fc.constant(
    command('renew', async (model, { job }) => {
      const kept = await rows().renew(job, [...model.held.values()])
      expect([...kept].sort()).toEqual(model.isPaused ? [] : [...model.held.keys()].sort())
    }),
  ),
  fc.constantFrom('paused' as const, 'running' as const).map((state) =>
    command(state, async (model, { job }) => {
      await jobsOf(database.db).move(job.id, ['running', 'paused'], state)
      model.isPaused = state === 'paused'
    }),
  ),
  fc.constant(
    command(
      'finish',
      async (model, { job }) => {
        await jobsOf(database.db).finish(new Date(), [job.number])
        const isDone = !model.isPaused && model.results.size === ROWS
        if (!isDone) expect((await jobsOf(database.db).byId(job.id))?.state).toBe(model.isPaused ? 'paused' : 'running')
      },
      (model) => model.results.size < ROWS,
    ),
  ),
]

it('a row has one holder at most, one result in the end, and the totals are those of the rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 40 }), async (some) => {
      const inputs = Array.from({ length: ROWS }, (_, i) => `user${i}@x.example`)
      const real: Real = { job: await labRunning(database, await labList(database, inputs)) }
      const model: Model = { isPaused: false, held: new Map(), lapsed: new Map(), dead: [], results: new Map() }
      await fc.asyncModelRun(() => ({ model, real }), some)
      const { job } = real
      const stored = await rows().results(job, { after: 0, limit: 100 })
      expect(new Map(stored.map(({ line, result }) => [line, result]))).toEqual(model.results)
      expect((await jobSums(database.db, [job.number], new Date(0)))(job.number).done).toBe(model.results.size)
      // Whatever happened, the rest can be done.
      await jobsOf(database.db).move(job.id, ['paused'], 'running')
      await rows().write(
        job,
        [...model.held.values()].map((one) => labAnswer(one)),
      )
      const { rows: rest } = await rows().claim(pair(real), 100)
      await rows().write(
        job,
        rest.map((one) => labAnswer(one)),
      )
      await jobsOf(database.db).finish(new Date(), [job.number])
      expect((await jobsOf(database.db).byId(job.id))?.state).toBe('done')
      await jobsOf(database.db).remove(job.id)
    }),
    { numRuns: 40 },
  )
}, 120_000)
