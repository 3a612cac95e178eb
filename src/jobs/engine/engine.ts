import { atMost } from '../../base/at-most.ts'
import { wakeable } from '../../base/deadline.ts'
import { messageOf } from '../../base/errors.ts'
import { once } from '../../base/share-work.ts'
import { type Database, isAway, throughOutage } from '../../store/postgres/connect.ts'
import { type DuePair, type JobRows, jobRowsOf, type Place, type RowWrite } from '../../store/postgres/job-rows.ts'
import { dropLeftTables, isTableGone, type JobTable, jobsOf } from '../../store/postgres/jobs.ts'
import type { Log } from '../../world.ts'
import { type Ask, type Claim, claimsOf, type FindProvider } from './claims.ts'
import { domainLookups } from './lookups.ts'
import { retryOf } from './retry.ts'

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
}

export type Engine = {
  /** Plans at once instead of at the next turn, because a job was submitted or resumed. */
  readonly wake: () => void
  /** Rows that this node has claimed. */
  readonly claimed: () => number
  /** Starts nothing new, lets running questions end within `drainMs`, returns the other rows, and waits for this. */
  readonly stop: () => Promise<void>
}

/**
 * Maximum number of rows that one node has claimed at the same time, and the share of the free ones that one provider
 * may take: something is left for the others.
 */
const MAX_ROWS = 200
const SHARE = 0.8
/** Maximum number of rows of one claim. */
const CLAIM_ROWS = MAX_ROWS * SHARE
/** Maximum number of claims of a node that are made at the same time. */
const CLAIMS_AT_A_TIME = 4
/** Maximum number of answers that wait to be written; beyond it nothing new is claimed. */
const MAX_UNWRITTEN = 1_000
/** Interval between two plans while something is due or in progress, and at rest, ms. */
const PLAN_EVERY_MS = 500
const REST_MS = 5_000
/**
 * Rows that end within this time are replaced together, ms, unless half of all have ended; a new job does not wait for
 * them.
 */
const TOGETHER_MS = 40
/**
 * How long the place of the last claim is remembered, ms: a row that became due before it by the clock, but was written
 * after it, is found then.
 */
const PLACE_MS = 5_000
/** When a row is asked again whose question failed because of a fault of ours, ms. */
const FAULT_MS = 60_000
/** Most questions end within this time, so that a restart repeats none. */
const DRAIN_MS = 20_000
const FINISH_EVERY_MS = 15_000
const SWEEP_EVERY_MS = 60_000

/**
 * When the next plan begins, ms; the last two ended at `beforeMs` and `plannedAtMs`, and the last one took `tookMs`.
 * Planning takes at most a tenth of the time, whatever happens. After a pause, two plans follow news at once: one
 * starts a job, one finds its first rows. A plan that a stalled database held up delays the next one by at most half a
 * minute, or ten times what it took.
 */
export function nextPlanMs(last: {
  readonly beforeMs: number
  readonly plannedAtMs: number
  readonly tookMs: number
  readonly isNews: boolean
}): number {
  const everyMs = Math.max(PLAN_EVERY_MS, last.tookMs * 100)
  const restedMs = last.plannedAtMs + Math.min(everyMs, Math.max(60 * PLAN_EVERY_MS, everyMs / 10))
  return last.isNews ? Math.min(restedMs, last.beforeMs + everyMs / 5) : restedMs
}

/** Processes the jobs of a database, together with the engines of other nodes. */
export async function startEngine(database: Database, settings: EngineSettings): Promise<Engine> {
  const { now, log } = settings
  const [jobs, rows] = [jobsOf(database.db), jobRowsOf(database.db)]
  const outage = outageLog(log)
  const turns = wakeable()
  const halfEnded = wakeable()
  const stopping = new AbortController() // nothing new starts
  const closed = new AbortController() // no more writes
  const ended = new Set<number>() // jobs that may be done
  const fault = (event: string) => (error: unknown) => {
    if (isAway(error)) outage.away(error)
    else if (!stopping.signal.aborted) log.warn(event, { reason: messageOf(error) })
  }
  let isNews = true // something became due, or may be done
  const wake = (): void => {
    isNews = true
    turns.wake()
  }
  const mayBeDone = (job: number): void => {
    ended.add(job)
    wake()
  }
  const claims = claimsOf({ jobs, rows, now, onFault: fault('claims of rows could not be renewed') })
  const writer = rowWriter({
    rows,
    onProviderDone: mayBeDone,
    onFault: fault('results of rows could not be written'),
    closed: closed.signal,
  })
  const lookups = domainLookups({
    ...{ jobs, rows, findProvider: settings.findProvider, stopping: stopping.signal },
    onFound: mayBeDone,
    onFault: (error, job) => {
      if (isAway(error)) outage.away(error)
      else log.warn('a bulk job cannot be planned', { job: job?.id, reason: messageOf(error) })
    },
  })
  const asking = new Set<Promise<void>>()
  /** Due pairs by provider, those that are next first. */
  let due = new Map<string, DuePair[]>()
  const places = new Map<string, { readonly place: Place; readonly sinceMs: number }>()
  let claiming = 0
  /** Half of the rows that were in progress after the last claims. */
  let half = 0

  async function ask(claim: Claim): Promise<void> {
    const { of, row, signal } = claim
    const again = (waitMs: number, counts: boolean): void =>
      writer.add(of, { ...row, counts, waitMs, result: null, reason: null, answer: {} })
    try {
      await claim.begin()
      const asked = await settings.ask(of.kind, row.input, of.options, signal, claim.begin)
      signal.throwIfAborted() // what was cut short is no answer
      const firstAskedAtMs = row.firstAskedAt?.getTime() ?? now()
      const retry = retryOf(asked, { attempts: row.attempts, firstAskedAtMs }, now(), giveUpAfterOf(of))
      if (retry) again(retry.waitMs, retry.counts)
      else writer.add(of, { ...row, counts: true, waitMs: null, ...asked })
    } catch (error) {
      if (signal.aborted || stopping.signal.aborted) again(0, false)
      else {
        log.warn('a row of a bulk job cannot be asked', { job: of.id, reason: messageOf(error) })
        again(FAULT_MS, false)
      }
    } finally {
      claims.close(claim)
      turns.wake()
      if (claims.size() <= half) halfEnded.wake()
    }
  }

  /** Claims rows of a pair and begins to ask them; forgets the pair if it has no more that are due. */
  async function claimOf(pair: DuePair, most: number): Promise<void> {
    const key = `${pair.number} ${pair.provider}`
    const after = places.get(key)
    const sent = claims.moment()
    const claimed = await rows.claim(pair, most, after?.place)
    if (claimed.rows.length < most) {
      places.delete(key) // the next claim finds what the place hides
      if (!after) drop(pair)
    } else if (claimed.last) places.set(key, { place: claimed.last, sinceMs: after?.sinceMs ?? performance.now() })
    for (const claim of claims.open(pair, claimed.rows, sent)) {
      const work = ask(claim).finally(() => asking.delete(work))
      asking.add(work)
    }
  }
  function drop(pair: DuePair): void {
    const left = due.get(pair.provider)?.filter((one) => one !== pair) ?? []
    if (left.length > 0) due.set(pair.provider, left)
    else due.delete(pair.provider)
  }

  /** What to claim now: providers and their pairs take turns, as far as there is room. */
  function nextClaims(): readonly { readonly pair: DuePair; readonly most: number }[] {
    const next: { pair: DuePair; most: number }[] = []
    let free = MAX_ROWS - claims.size() - claiming
    if (writer.waiting() >= MAX_UNWRITTEN || stopping.signal.aborted) return next
    for (const [provider, pairs] of due) {
      if (free <= 0) break
      const own = claims.count(provider)
      const share = Math.max(1, Math.floor((free + own) * SHARE)) - own
      let room = Math.min(free, share, settings.room(provider, own))
      for (let taken = 0; room > 0 && taken < pairs.length; taken++) {
        const pair = pairs.shift()!
        pairs.push(pair)
        const most = Math.min(CLAIM_ROWS, Math.ceil(room / (pairs.length - taken)))
        next.push({ pair, most })
        room -= most
        free -= most
      }
    }
    return next
  }
  async function feed(): Promise<void> {
    const next = nextClaims()
    claiming = next.reduce((sum, { most }) => sum + most, 0)
    try {
      await atMost(CLAIMS_AT_A_TIME, next, async ({ pair, most }) => {
        try {
          await claimOf(pair, most)
        } catch (error) {
          if (!isTableGone(error)) throw error
          drop(pair)
        } finally {
          claiming -= most
        }
      })
    } finally {
      claiming = 0
    }
  }

  async function plan(): Promise<void> {
    await lookups.begin()
    const pairs = await rows.duePairs()
    due = Map.groupBy(pairs, ({ provider }) => provider)
    for (const [key, { sinceMs }] of places) if (performance.now() - sinceMs >= PLACE_MS) places.delete(key)
    if (ended.size === 0) return
    const numbers = [...ended]
    ended.clear()
    await jobs.finish(new Date(now()), numbers)
  }
  let finishedAtMs = performance.now()
  let sweptAtMs = Number.NEGATIVE_INFINITY
  async function keepHouse(): Promise<void> {
    if (performance.now() - finishedAtMs >= FINISH_EVERY_MS) {
      finishedAtMs = performance.now()
      await jobs.finish(new Date(now())) // those of which another node wrote the last result and died
    }
    if (now() - sweptAtMs < SWEEP_EVERY_MS) return
    sweptAtMs = now()
    for (const id of await jobs.overdue(new Date(now()))) await jobs.remove(id)
    await dropLeftTables(database.db)
  }

  async function loop(): Promise<void> {
    let [beforeMs, plannedAtMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY] // the ends of the last two plans
    let tookMs = 0
    const planInMs = (): number =>
      Math.max(0, Math.ceil(nextPlanMs({ beforeMs, plannedAtMs, tookMs, isNews }) - performance.now()))
    while (!stopping.signal.aborted) {
      turns.begin()
      halfEnded.begin()
      try {
        if (planInMs() === 0) {
          isNews = false
          const begunMs = performance.now()
          ;[beforeMs, plannedAtMs] = [plannedAtMs, begunMs]
          await plan()
          plannedAtMs = performance.now()
          tookMs = plannedAtMs - begunMs
        }
        await feed()
        half = claims.size() / 2
        await keepHouse()
        outage.over()
      } catch (error) {
        fault('bulk jobs cannot be planned')(error)
      }
      const restMs = due.size > 0 || claims.size() > 0 ? PLAN_EVERY_MS : REST_MS
      const isWoken = await turns.pause(isNews ? Math.min(planInMs(), restMs) : restMs, stopping.signal)
      if (!isWoken || claims.size() === 0) continue
      const togetherMs = isNews ? Math.min(planInMs(), TOGETHER_MS) : TOGETHER_MS
      await halfEnded.pause(togetherMs, stopping.signal)
    }
  }
  settings.onRoom?.(turns.wake)
  const looping = loop()
  return {
    wake,
    claimed: claims.size,
    stop: once(async () => {
      const reason = new DOMException('the service is stopping', 'AbortError')
      stopping.abort(reason)
      claims.stopBeginning(reason)
      const late = setTimeout(() => claims.abort(reason), settings.drainMs ?? DRAIN_MS)
      await looping
      await Promise.all([...asking, lookups.settled()])
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

/** Time to write the last answers when the engine stops while the database is unavailable, ms. */
const LAST_WRITE_MS = 5_000

const DAY_MS = 86_400_000
const giveUpAfterOf = ({ options }: Pick<DuePair, 'options'>): number => {
  const { give_up_after_ms } = options
  return typeof give_up_after_ms === 'number' ? give_up_after_ms : DAY_MS
}

/**
 * Logs once that the database is unavailable, and once that it is available again, regardless of the number of
 * attempts.
 */
function outageLog(log: Log): { readonly away: (error: unknown) => void; readonly over: () => void } {
  let isAwayNow = false
  return {
    away: (error) => {
      if (!isAwayNow) log.warn('bulk jobs wait: the database does not answer', { reason: messageOf(error) })
      isAwayNow = true
    },
    over: () => {
      if (isAwayNow) log.info('bulk jobs continue: the database answers again')
      isAwayNow = false
    },
  }
}

/** Writes what became of rows, those of one job together: a statement costs the database more than the rows in it. */
type RowWriter = {
  readonly add: (job: JobTable, write: RowWrite) => void
  /** Rows that are not written yet. */
  readonly waiting: () => number
  /** Resolves when everything is written, or given up because `closed` fired. */
  readonly settled: () => Promise<void>
}

type RowWriterSettings = {
  readonly rows: Pick<JobRows, 'write'>
  /** Called with a job of which a provider has a result for all its rows. */
  readonly onProviderDone: (job: number) => void
  readonly onFault: (error: unknown) => void
  /** Ends the wait for an unavailable database. */
  readonly closed: AbortSignal
}

/** Time between two writes of a job, in which rows wait to be written together, ms. */
const WRITE_EVERY_MS = 60

type Lane = { readonly job: JobTable; writes: RowWrite[]; running: Promise<void> | undefined }

/**
 * One write of a job at a time: rows that end meanwhile are in the next one. While the database is unavailable they
 * wait. Rows whose write fails otherwise stay claimed, and are asked again when their claim ends.
 */
function rowWriter({ rows, onProviderDone, onFault, closed }: RowWriterSettings): RowWriter {
  const lanes = new Map<number, Lane>()
  let waiting = 0

  async function drain(lane: Lane): Promise<void> {
    await new Promise(setImmediate)
    while (lane.writes.length > 0) {
      const { job, writes } = lane
      lane.writes = []
      try {
        if (await throughOutage(() => rows.write(job, writes), closed)) onProviderDone(job.number)
      } catch (error) {
        if (!isTableGone(error) && !closed.aborted) onFault(error)
      } finally {
        waiting -= writes.length
      }
      await new Promise((resolve) => setTimeout(resolve, WRITE_EVERY_MS))
    }
    lanes.delete(lane.job.number)
  }
  return {
    add: (job, write) => {
      const lane = lanes.get(job.number) ?? { job, writes: [], running: undefined }
      lanes.set(job.number, lane)
      lane.writes.push(write)
      waiting++
      lane.running ??= drain(lane)
    },
    waiting: () => waiting,
    settled: async () => void (await Promise.all([...lanes.values()].map(({ running }) => running))),
  }
}
