import { atMost } from '../../base/at-most.ts'
import { firstOf } from '../../base/deadline.ts'
import { once } from '../../base/once.ts'
import { wakeable } from '../../base/wakeable.ts'
import { isAway } from '../../store/postgres/away.ts'
import type { Database } from '../../store/postgres/connect.ts'
import { jobRowsOf } from '../../store/postgres/job-rows.ts'
import { type JobRecord, jobsOf } from '../../store/postgres/jobs.ts'
import { takeTokensOf } from '../../store/postgres/provider-rates.ts'
import type { Log } from '../../world.ts'
import type { Ask, FindProvider, RowProvider } from './ask.ts'
import { workChunk } from './chunk.ts'
import { idleJobs } from './idle.ts'
import { jobWatches } from './job-watches.ts'
import { cutChunks, findProviders, finishIfDone, type Planning } from './plan.ts'
import { chunkQueue } from './queue.ts'
import { rateLeases } from './rate.ts'
import { resultWriters } from './writer.ts'

export type EngineSettings = {
  readonly ask: Ask
  readonly findProvider: FindProvider
  readonly limitsOf: (provider: string) => RowProvider
  readonly now: () => number
  readonly log: Log
  /** Time for running questions to end when the engine stops, ms; default 20 s. */
  readonly drainMs?: number
}

export type Engine = {
  /** Plans at once instead of at the next turn, because a job (by its number) was submitted or resumed. */
  readonly wake: (job: number) => void
  /** Starts nothing new, lets running questions end within `drainMs`, returns rows and chunks, and waits for this. */
  readonly stop: () => Promise<void>
}

/** Maximum number of jobs that are planned at the same time. */
const JOBS_AT_A_TIME = 4
/** Maximum number of open jobs that are considered; further ones start when the oldest of these have ended. */
const OPEN_JOBS = 2_000
const PLAN_EVERY_MS = 500
const IDLE_EVERY_MS = 1_000
/** Most questions end within this time, so that a restart repeats none. */
const DRAIN_MS = 20_000
const HOUSEKEEPING_MS = 60_000

/** Processes the jobs of a database, together with the engines of other nodes. */
export async function startEngine(database: Database, settings: EngineSettings): Promise<Engine> {
  const { now, log } = settings
  const [jobs, rows] = [jobsOf(database.db), jobRowsOf(database.db)]
  const outage = outageLog(log)
  const queue = await chunkQueue(database, (error) => {
    if (isAway(error)) outage.away(error)
    else log.warn('the job queue failed', { reason: error.message })
  })
  const planning: Planning = { ...settings, db: database.db, jobs, rows, queue }
  const stopping = new AbortController() // nothing new starts
  const ending = new AbortController() // running questions end
  const turn = rateLeases(takeTokensOf(database.db), stopping.signal)
  const closed = new AbortController() // no more writes
  const work = { rows, writers: resultWriters(rows, closed.signal), ask: settings.ask, turn, now }
  const idle = idleJobs(() => performance.now())
  const watches = jobWatches(jobs.byId)
  const looks = wakeable()

  queue.work(async (chunk, lease) => {
    const job = await jobs.byId(chunk.job)
    if (!job) return
    const watched = watches.open(chunk.job)
    const failed = new AbortController()
    const ended = firstOf([lease.signal, ending.signal, watched.signal, failed.signal])
    try {
      await workChunk(work, job, chunk.chunk, settings.limitsOf(chunk.provider), {
        signal: ended.signal,
        needs: lease.needs,
        stopping: stopping.signal,
      })
    } catch (error) {
      failed.abort(error) // ends the questions of its other rows, whose answers nobody would write
      throw error
    } finally {
      ended.clear()
      const isLast = watched.close()
      idle.remove(chunk.number)
      if (isLast) looks.wake() // the job may be done
    }
  })

  async function planOne(job: JobRecord): Promise<boolean> {
    if (job.state === 'running' && idle.has(job.number)) return false
    idle.begin(job.number)
    const running = job.state === 'running' ? job : await jobs.move(job.id, ['waiting'], 'running')
    if (!running) return false
    const { hasDomains, hasDue, isOpen, nextDue } = await rows.look(running.number)
    const resolved = hasDomains && (await findProviders(planning, running, stopping.signal))
    const cut = resolved || hasDue ? await cutChunks(planning, running) : 0
    if (cut > 0) queue.wake()
    if (resolved || cut > 0) return true
    if (!isOpen && (await finishIfDone(planning, running))) return false
    if (!hasDue) idle.add(job.number, (nextDue?.getTime() ?? Number.POSITIVE_INFINITY) - now())
    return true
  }
  /** A job that cannot be planned does not keep the others waiting. */
  async function tryToPlan(job: JobRecord): Promise<boolean> {
    try {
      return await planOne(job)
    } catch (error) {
      if (isAway(error) || stopping.signal.aborted) throw error
      log.warn('a bulk job cannot be planned', { job: job.id, reason: (error as Error).message })
      idle.add(job.number, Number.POSITIVE_INFINITY)
      return false
    }
  }
  async function planAll(): Promise<boolean> {
    looks.begin()
    const open = await jobs.inState(['waiting', 'running'], OPEN_JOBS)
    idle.keep(open)
    const busy = await atMost(JOBS_AT_A_TIME, open, tryToPlan)
    return busy.some(Boolean)
  }
  async function loop(): Promise<void> {
    let cleanedAtMs = Number.NEGATIVE_INFINITY
    while (!stopping.signal.aborted) {
      let isBusy = false
      try {
        isBusy = await planAll()
        outage.over()
        if (now() - cleanedAtMs >= HOUSEKEEPING_MS) {
          cleanedAtMs = now()
          for (const id of await jobs.overdue(new Date(now()))) await jobs.remove(id)
        }
      } catch (error) {
        if (isAway(error)) outage.away(error)
        else if (!stopping.signal.aborted) log.warn('bulk jobs cannot be planned', { reason: (error as Error).message })
      }
      await looks.pause(isBusy ? PLAN_EVERY_MS : IDLE_EVERY_MS, stopping.signal)
    }
  }
  const planningLoop = loop()
  return {
    wake: (job) => {
      idle.remove(job)
      looks.wake()
    },
    stop: once(async () => {
      stopping.abort(new DOMException('the service is stopping', 'AbortError'))
      const late = setTimeout(() => ending.abort(stopping.signal.reason), settings.drainMs ?? DRAIN_MS)
      await planningLoop
      // An unavailable database does not prevent stopping: leases expire.
      await queue
        .stop()
        .catch((error: Error) => log.warn('chunks of bulk jobs could not be released', { reason: error.message }))
      clearTimeout(late)
      ending.abort(stopping.signal.reason)
      closed.abort(stopping.signal.reason)
    }),
  }
}

/** Logs once that the database is unavailable, and once that it is available again, regardless of the number of attempts. */
function outageLog(log: Log): { readonly away: (error: unknown) => void; readonly over: () => void } {
  let isAwayNow = false
  return {
    away: (error) => {
      if (!isAwayNow) log.warn('bulk jobs wait: the database does not answer', { reason: (error as Error).message })
      isAwayNow = true
    },
    over: () => {
      if (isAwayNow) log.info('bulk jobs continue: the database answers again')
      isAwayNow = false
    },
  }
}
