import { sleep, wakeable } from '../base/deadline.ts'
import { messageOf } from '../base/errors.ts'
import { once } from '../base/share-work.ts'
import type { ClaimedMonitor } from '../store/postgres/monitors.ts'
import type { DeliveryRow, NewDelivery } from '../store/postgres/webhooks.ts'
import type { Log } from '../world.ts'
import { type Delivering, deliver } from './deliver.ts'
import { makeMessageId, type Running, workOn } from './run.ts'

export type MonitorEngine = {
  /** Starts a cycle at once. */
  readonly wake: () => void
  /** Claims nothing new, ends what runs and releases it. */
  readonly stop: () => Promise<void>
}

/** The body of `job.finished`; undefined for a job that was removed. */
export type JobEvent = (id: string) => Promise<object | undefined>

export type EngineParts = Running &
  Delivering & { readonly jobEvent: JobEvent; readonly sweeps: readonly Sweep[]; readonly log: Log }

/** Interval of the search for due work, ms. */
const LOOK_EVERY_MS = 5_000
/** Maximum number of runs that one node processes at the same time. */
const RUNS_AT_A_TIME = 8
/** Maximum number of messages that one node sends at the same time. */
const MESSAGES_AT_A_TIME = 16
/** Maximum number of ended jobs that one step reads. */
const JOBS_AT_A_TIME = 20
/** Removes some of what has expired; returns whether there may be more. */
export type Sweep = () => Promise<boolean>
/** Maximum number of times that a sweep is repeated in an hour: more is removed than can come in. */
const SWEEPS_AT_A_TIME = 500
/** Lifetime of a claim; a run and a message end earlier, ms. */
const RUN_LEASE_MS = 180_000
const RUN_MS = 150_000
const MESSAGE_LEASE_MS = 60_000
const MESSAGE_MS = 45_000
const HOUSEKEEPING_MS = 3_600_000
/** How long history and messages are stored, ms. */
const HISTORY_MS = 400 * 86_400_000
const MESSAGES_MS = 90 * 86_400_000

/** Processes the monitors and messages of a database, together with the engines of other nodes on the same one. */
export function startMonitors(parts: EngineParts): MonitorEngine {
  const { monitors, deliveries, now, log } = parts
  const stopping = new AbortController()
  const [runs, messages] = [new Set<Promise<void>>(), new Set<Promise<void>>()]
  const looks = wakeable()
  let cleanedAtMs = Number.NEGATIVE_INFINITY

  function start(set: Set<Promise<void>>, work: Promise<void>, what: string): void {
    const tracked = work
      .catch((error: Error) => {
        if (!stopping.signal.aborted) log.warn(`${what} could not be finished`, { reason: error.message })
      })
      .finally(() => {
        set.delete(tracked)
        looks.wake()
      })
    set.add(tracked)
  }
  async function runOne(row: ClaimedMonitor): Promise<void> {
    try {
      await workOn(parts, row, AbortSignal.any([stopping.signal, AbortSignal.timeout(RUN_MS)]))
    } catch (error) {
      await monitors.release(row).catch(() => {}) // its lease expires
      throw error
    }
  }
  const sendOne = (row: DeliveryRow): Promise<void> =>
    deliver(parts, row, AbortSignal.any([stopping.signal, AbortSignal.timeout(MESSAGE_MS)]))

  async function tellEndedJobs(): Promise<void> {
    await parts.database.db.transaction().execute(async (tx) => {
      const ended = await deliveries.endedJobs(tx, JOBS_AT_A_TIME)
      const rows: NewDelivery[] = []
      for (const { id, callback } of ended) {
        const data = await parts.jobEvent(id)
        if (!data) continue
        const createdAt = new Date(now())
        const body = JSON.stringify({ type: 'job.finished', timestamp: createdAt.toISOString(), data })
        const channel = JSON.stringify({ type: 'webhook' })
        rows.push({
          id: makeMessageId(),
          webhook: callback,
          monitor: null,
          channel,
          type: 'job.finished',
          body,
          createdAt,
        })
      }
      await deliveries.add(tx, rows)
    })
  }
  async function keepHouse(): Promise<void> {
    const sinceMs = now() - cleanedAtMs
    if (sinceMs >= 0 && sinceMs < HOUSEKEEPING_MS) return
    cleanedAtMs = now()
    await monitors.mendTimes(new Date(now()))
    const own: readonly Sweep[] = [
      () => monitors.sweepPoints(new Date(now() - HISTORY_MS)),
      () => deliveries.sweep(new Date(now() - MESSAGES_MS)),
      () => parts.consents.sweep(new Date(now())).then(() => false),
    ]
    for (const sweep of [...own, ...parts.sweeps]) await sweepUp(sweep)
  }
  /** A sweep that fails does not skip the others. */
  async function sweepUp(sweep: Sweep): Promise<void> {
    try {
      for (let n = 0; n < SWEEPS_AT_A_TIME && !stopping.signal.aborted && (await sweep()); n++);
    } catch (error) {
      log.warn('expired data could not be removed: tried again in an hour', { reason: messageOf(error) })
    }
  }
  async function look(): Promise<void> {
    const at = new Date(now())
    await keepHouse()
    if (!(await deliveries.hasWork(at))) return
    const freeRuns = RUNS_AT_A_TIME - runs.size
    if (freeRuns > 0)
      for (const row of await monitors.claim(at, RUN_LEASE_MS, freeRuns))
        start(runs, runOne(row), 'the run of a monitor')
    await tellEndedJobs()
    const free = MESSAGES_AT_A_TIME - messages.size
    if (free > 0)
      for (const row of await deliveries.claim(at, MESSAGE_LEASE_MS, free)) start(messages, sendOne(row), 'a message')
  }
  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      looks.begin()
      try {
        await look()
      } catch (error) {
        if (!stopping.signal.aborted)
          log.warn('monitors wait: the database does not answer', { reason: messageOf(error) })
        await sleep(LOOK_EVERY_MS, stopping.signal).catch(() => {})
      }
      await looks.pause(LOOK_EVERY_MS, stopping.signal)
    }
  }
  const looking = loop()
  return {
    wake: looks.wake,
    stop: once(async () => {
      stopping.abort(new DOMException('the service is stopping', 'AbortError'))
      await looking
      await Promise.all([...runs, ...messages])
    }),
  }
}
