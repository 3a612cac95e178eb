import { eachAlone, putOff } from '../../base/alone.ts'
import { sleep, wakeable } from '../../base/deadline.ts'
import { messageOf } from '../../base/errors.ts'
import { once } from '../../base/share-work.ts'
import { type Database, isAway, outageLog } from '../../store/postgres/connect.ts'
import { type DuePair, jobRowsOf } from '../../store/postgres/job-rows.ts'
import { dropLeftTables, isJobGone, type JobRecord, type Jobs, jobsOf } from '../../store/postgres/jobs.ts'
import type { Log } from '../../world.ts'
import { type Ask, type Claim, claimsOf, type FindProvider } from './claims.ts'
import { duePairsOf } from './due.ts'
import { domainLookups } from './lookups.ts'
import { retryOf } from './retry.ts'
import { rowResult } from './row-result.ts'
import { rowWriter } from './row-writer.ts'

export type EngineSettings = {
  readonly ask: Ask
  readonly findProvider: FindProvider
  /** Rows of a provider that may begin on this node now, if so many are claimed by it. */
  readonly room: (provider: string, claimed: number) => number
  /** Calls the listener when there may be more room. */
  readonly onRoom?: (listener: () => void) => void
  readonly now: () => number
  readonly log: Log
  /** Time for running questions to end when the engine stops, ms; default 20 s. */
  readonly drainMs?: number
  /** Time limit of a question, ms; default 3 min: each kind ends earlier by itself. */
  readonly rowMs?: number
}

export type Engine = Awaited<ReturnType<typeof startEngine>>

/** Maximum number of rows that one node has claimed at the same time. */
const MAX_ROWS = 200
/** Maximum number of claims of a node that are made at the same time. */
const CLAIMS_AT_A_TIME = 4
/** Maximum number of answers that wait to be written; beyond it nothing new is claimed. */
const MAX_UNWRITTEN = 1_000
/**
 * Interval between two plans while something is due or in progress, after news, and at rest, ms. Planning takes at most
 * a tenth of the time.
 */
const PLAN_EVERY_MS = 500
const NEWS_MS = 25
const REST_MS = 5_000
/** Rows that end within this time are replaced together, ms. */
const TOGETHER_MS = 20
/**
 * When a job is tried again of which a statement failed, ms; after one more failure it is paused. It did well again once
 * one of its results was written.
 */
const JOB_AGAIN_MS = [1_000, 10_000, 60_000, 10 * 60_000, 3_600_000] as const
/** Different faults of the rows of a job that are logged, and the jobs of which that is remembered. */
const FAULTS_OF_JOB = 20
const MAX_FAULTS = 1_000
/** Most questions end within this time, so that a restart repeats none. */
const DRAIN_MS = 20_000
const FINISH_EVERY_MS = 15_000
const SWEEP_EVERY_MS = 60_000

/** Processes the jobs of a database, together with the engines of other nodes. */
export async function startEngine({ db }: Pick<Database, 'db'>, settings: EngineSettings) {
  const { now, log } = settings
  const [jobs, rows] = [jobsOf(db), jobRowsOf(db)]
  const turns = wakeable()
  const stopping = new AbortController() // nothing new starts
  const closed = new AbortController() // no more writes
  const ended = new Set<number>() // jobs that may be done
  const faults = faultsOf({ jobs, log, stopping: stopping.signal }, (job) => due.drop(({ number }) => number === job))
  let isNews = true // something became due, or may be done
  /** Plans at once instead of at the next turn, because a job was submitted or resumed. */
  const wake = (): void => {
    isNews = true
    turns.wake()
  }
  const mayBeDone = (job: number): void => {
    ended.add(job)
    wake()
  }
  const claims = claimsOf({
    ...{ jobs, rows, now },
    onFault: (error, job) =>
      job ? faults.ofJob(error, job) : faults.ofAll('claims of rows could not be renewed')(error),
  })
  const due = duePairsOf({ rows, claimed: claims.count, room: settings.room })
  const writer = rowWriter({
    rows,
    onWritten: (job, isProviderDone) => {
      faults.putOff.ended(job)
      if (isProviderDone) mayBeDone(job)
    },
    onRowFault: (err, job, { line }) =>
      faults.ofRow('the result of a row of a bulk job cannot be stored', { job: job.id, line, err }),
    onFault: faults.ofJob,
    closed: closed.signal,
  })
  const lookups = domainLookups({
    ...{ jobs, rows, findProvider: settings.findProvider, stopping: stopping.signal },
    onFound: mayBeDone,
    onFault: faults.ofJob,
    mayTry: faults.putOff.isDue,
    onDomainFault: (err, { id }, domain) =>
      faults.ofRow('the provider of a domain cannot be found', { job: id, domain, err }),
  })
  const asking = askingOf(settings, stopping.signal, { claims, due, writer, faults, onEnd: turns.wake })
  const endJobs = endsOf({ db }, settings, faults)

  async function plan(): Promise<void> {
    await lookups.begin()
    due.plan((await rows.duePairs()).filter(({ number }) => faults.putOff.isDue(number)))
    if (ended.size === 0) return
    const numbers = [...ended]
    ended.clear()
    await jobs.finish(new Date(now()), numbers)
  }
  async function loop(): Promise<void> {
    let plannedAtMs = Number.NEGATIVE_INFINITY
    let tookMs = 0
    const planInMs = (): number =>
      Math.max(0, plannedAtMs + Math.max(isNews ? NEWS_MS : PLAN_EVERY_MS, 10 * tookMs) - performance.now())
    while (!stopping.signal.aborted) {
      turns.begin()
      try {
        if (planInMs() === 0) {
          isNews = false
          const begunMs = performance.now()
          await plan()
          plannedAtMs = performance.now()
          tookMs = plannedAtMs - begunMs
        }
        await asking.feed()
        await endJobs()
        faults.outage.over()
      } catch (error) {
        faults.ofAll('bulk jobs cannot be planned')(error)
      }
      const restMs = due.size() > 0 || claims.size() > 0 ? PLAN_EVERY_MS : REST_MS
      const isWoken = await turns.pause(isNews ? Math.min(planInMs(), restMs) : restMs, stopping.signal)
      if (isWoken && claims.size() > 0) await sleep(TOGETHER_MS, stopping.signal).catch(() => {})
    }
  }
  settings.onRoom?.(turns.wake)
  const looping = loop()
  return {
    wake,
    claimed: claims.size,
    /** Starts nothing new, lets running questions end within `drainMs`, returns the other rows, and waits for this. */
    stop: once(async (): Promise<void> => {
      const reason = new DOMException('the service is stopping', 'AbortError')
      stopping.abort(reason)
      claims.stopBeginning(reason)
      const late = setTimeout(() => claims.abort(reason), settings.drainMs ?? DRAIN_MS)
      await looping
      await Promise.all([asking.settled(), lookups.settled()])
      clearTimeout(late)
      // An unavailable database does not prevent stopping: claims end by themselves.
      const lastWrite = setTimeout(() => closed.abort(reason), LAST_WRITE_MS)
      await writer.settled()
      clearTimeout(lastWrite)
      closed.abort(reason)
      claims.stop()
    }),
  }
}

type Faults = ReturnType<typeof faultsOf>

/** What is done about a fault: of a row it is logged, of a job the job is put off, of the database all waits. */
function faultsOf(
  { jobs, log, stopping }: { readonly jobs: Jobs; readonly log: Log; readonly stopping: AbortSignal },
  drop: (job: number) => void,
) {
  const outage = outageLog(log, 'bulk jobs')
  const hurt = putOff<number | string>(JOB_AGAIN_MS, () => performance.now())
  const ofAll = (event: string) => (error: unknown) => {
    if (isAway(error)) outage.away(error)
    else if (!stopping.aborted) log.error(event, { err: error })
  }
  /** A fault of one job: the others go on, and it is put off. */
  function ofJob(error: unknown, { number, id }: Pick<JobRecord, 'number' | 'id'>): void {
    if (isAway(error)) outage.away(error)
    if (isAway(error) || isJobGone(error) || stopping.aborted) return
    const againInMs = hurt.failed(number)
    log.error('a bulk job cannot be worked on', { job: id, again_in_ms: againInMs ?? null, err: error })
    drop(number)
    if (againInMs !== undefined) return
    const failure = 'the service could not work on it; its log has the cause'
    jobs.move(id, ['waiting', 'running'], 'paused', { failure }).catch(ofAll('a bulk job could not be paused'))
  }
  return { outage, putOff: hurt, ofAll, ofJob, ofRow: firstFaults(log) }
}

type Asking = {
  readonly claims: ReturnType<typeof claimsOf>
  readonly due: ReturnType<typeof duePairsOf>
  readonly writer: ReturnType<typeof rowWriter>
  readonly faults: Faults
  /** Hears when a row was asked. */
  readonly onEnd: () => void
}

/** Claims rows that are due, asks them, and hands over what became of them. */
function askingOf(settings: EngineSettings, stopping: AbortSignal, { claims, due, writer, faults, onEnd }: Asking) {
  const asking = new Set<Promise<void>>()

  async function ask(claim: Claim): Promise<void> {
    const { of, row, signal } = claim
    const again = (waitMs: number, counts: boolean): void =>
      writer.add(of, { ...row, counts, waitMs, result: null, reason: null, answer: {} })
    try {
      await claim.begin()
      const asked = await rowResult(settings.ask, {
        ...{ kind: of.kind, input: row.input, options: of.options, signal, begin: claim.begin },
        limitMs: settings.rowMs,
        onFault: (err) => {
          if (stopping.aborted) throw err // it may be asked no more
          faults.ofRow('a row of a bulk job cannot be asked', { job: of.id, line: row.line, err })
        },
      })
      signal.throwIfAborted() // what was cut short is no answer
      const firstAskedAtMs = row.firstAskedAt?.getTime() ?? settings.now()
      const retry = retryOf(asked, { attempts: row.attempts, firstAskedAtMs }, settings.now(), giveUpAfterOf(of))
      if (retry) again(retry.waitMs, retry.counts)
      else writer.add(of, { ...row, counts: true, waitMs: null, ...asked })
    } catch {
      again(0, false) // its job or this node stops, or the claim was lost
    } finally {
      claims.close(claim)
      onEnd()
    }
  }

  /** Claims rows of a pair and begins to ask them. */
  async function claimOf({ pair, most }: { readonly pair: DuePair; readonly most: number }): Promise<void> {
    const sent = claims.moment()
    for (const claim of claims.open(pair, await due.claim(pair, most), sent)) {
      const work = ask(claim).finally(() => asking.delete(work))
      asking.add(work)
    }
  }
  async function feed(): Promise<void> {
    if (writer.waiting() >= MAX_UNWRITTEN || stopping.aborted) return
    const next = due.next(MAX_ROWS - claims.size())
    await eachAlone(CLAIMS_AT_A_TIME, next, claimOf, (error, { pair }) => {
      if (isAway(error)) throw error
      due.drop((one) => one === pair)
      faults.ofJob(error, pair)
    })
  }
  return { feed, settled: () => Promise.all(asking) }
}

/** Ends and removes jobs, beside what is asked: those that another node left, and those that have expired. */
function endsOf({ db }: Pick<Database, 'db'>, { now, log }: EngineSettings, faults: Faults) {
  const jobs = jobsOf(db)
  let finishedAtMs = performance.now()
  let sweptAtMs = Number.NEGATIVE_INFINITY
  return async (): Promise<void> => {
    if (performance.now() - finishedAtMs >= FINISH_EVERY_MS) {
      finishedAtMs = performance.now()
      await jobs.finish(new Date(now())) // those of which another node wrote the last result and died
    }
    if (performance.now() - sweptAtMs < SWEEP_EVERY_MS) return
    sweptAtMs = performance.now()
    const overdue = (await jobs.overdue(new Date(now()))).filter(faults.putOff.isDue)
    await eachAlone(
      1,
      overdue,
      (id) => jobs.remove(id),
      (error, id) => {
        if (isAway(error)) throw error
        const againInMs = faults.putOff.failed(id)
        log.error('an expired bulk job could not be removed', { job: id, again_in_ms: againInMs ?? null, err: error })
      },
    )
    await dropLeftTables(db)
  }
}

/** Logs a fault of ours at a row once for its job, and the first {@link FAULTS_OF_JOB} that differ. */
function firstFaults(log: Log) {
  const faults = new Map<string, Set<string>>()
  return (event: string, fields: { readonly job: string; readonly [name: string]: unknown }): void => {
    const of = `${fields.job} ${event}`
    const known = faults.get(of) ?? new Set()
    const why = messageOf(fields.err)
    if (known.has(why) || known.size >= FAULTS_OF_JOB) return
    if (faults.size >= MAX_FAULTS) faults.clear()
    faults.set(of, known.add(why))
    log.error(event, fields)
  }
}

/** Time to write the last answers when the engine stops while the database is unavailable, ms. */
const LAST_WRITE_MS = 5_000

const DAY_MS = 86_400_000
const giveUpAfterOf = ({ options }: Pick<DuePair, 'options'>): number => {
  const { give_up_after_ms } = options
  return typeof give_up_after_ms === 'number' ? give_up_after_ms : DAY_MS
}
