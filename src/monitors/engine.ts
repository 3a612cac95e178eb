import { eachAlone, putOff } from '../base/alone.ts'
import { raced, sleep, wakeable } from '../base/deadline.ts'
import { once } from '../base/share-work.ts'
import { isAway, outageLog } from '../store/postgres/connect.ts'
import type { DeliveryRow, Due } from '../store/postgres/deliveries.ts'
import type { ClaimedMonitor } from '../store/postgres/monitor-runs.ts'
import type { Log } from '../world.ts'
import { tellEnd } from './accepted.ts'
import { attemptFailed, type Delivering, deliver } from './deliver.ts'
import { type Digesting, makeDigests } from './digest.ts'
import { endedJobsTold, type JobEvent } from './ended-jobs.ts'
import { expiredRemoved, type Sweep } from './expired.ts'
import { FAILING_AFTER } from './notify/machine.ts'
import { ownFault } from './notify/send.ts'
import { putOff as putOffMonitor, type Running, workOn } from './run.ts'

export type MonitorEngine = ReturnType<typeof startMonitors>

export type EngineParts = Running &
  Delivering &
  Digesting & {
    readonly jobEvent: JobEvent
    readonly sweeps: readonly Sweep[]
    readonly log: Log
    /** Time limits of a run, a message and the event of an ended job, ms; default {@link LIMITS}. */
    readonly limits?: typeof LIMITS
  }

/** Interval of the search for due work, ms. */
const LOOK_EVERY_MS = 5_000
/** Least time between two searches: what ends meanwhile is followed by one claim. */
const LOOK_AGAIN_MS = 25
/** Maximum number of runs that one node processes at the same time. */
const RUNS_AT_A_TIME = 16
/** Maximum number of messages that one node sends at the same time. */
const MESSAGES_AT_A_TIME = 16
/** Maximum number of acceptances whose end one step tells. */
const ENDS_AT_A_TIME = 20
/** When a step is tried again that failed as a whole, ms. */
const STEP_AGAIN_MS = [5_000, 60_000, 5 * 60_000, 30 * 60_000] as const
type Step = {
  /** It has work if one of these is due; undefined: always. */
  readonly of?: readonly (keyof Due)[]
  readonly fault: string
  readonly work: () => Promise<void>
}
/** Lifetime of a claim, ms. */
const RUN_LEASE_MS = 180_000
const MESSAGE_LEASE_MS = 60_000
/** A run and a message end before their claim; the event of a job is made in a transaction, which must not be long. */
const LIMITS = { runMs: 150_000, messageMs: 45_000, eventMs: 10_000 }

/** Processes the monitors and messages of a database, together with the engines of other nodes on the same one. */
export function startMonitors(parts: EngineParts) {
  const { monitors, deliveries, now, log, limits = LIMITS } = parts
  const stopping = new AbortController()
  const tellEndedJobs = endedJobsTold({ ...parts, eventMs: limits.eventMs })
  const removeExpired = expiredRemoved(parts, stopping.signal)
  const looks = wakeable()
  const ending = { log, stopping: stopping.signal, onEnd: looks.wake }
  const runs = workAtOnce(RUNS_AT_A_TIME, 'the run of a monitor', ending)
  const messages = workAtOnce(MESSAGES_AT_A_TIME, 'a message', ending)
  const outage = outageLog(log, 'monitors')
  const unwell = putOff<Step>(STEP_AGAIN_MS, now)

  /** The owners of the monitors that run. */
  const running = new Map<ClaimedMonitor, string>()
  async function runOne(row: ClaimedMonitor): Promise<void> {
    running.set(row, row.owner)
    try {
      await workOn(parts, row, AbortSignal.any([stopping.signal, AbortSignal.timeout(limits.runMs)]))
    } catch (error) {
      if (stopping.signal.aborted || isAway(error)) {
        await monitors.release(row).catch(() => {}) // its lease expires
        throw error
      }
      if (row.failures < FAILING_AFTER)
        log.error('a monitor could not be processed: an internal error', { monitor: row.id, err: error })
      await putOffMonitor(parts, row)
    } finally {
      running.delete(row)
    }
  }
  async function tellEnds(): Promise<void> {
    for (let n = 0; n < ENDS_AT_A_TIME && (await tellEnd(parts)); n++);
  }
  async function startRuns(): Promise<void> {
    if (runs.free() === 0) return
    const claimed = await monitors.claim(new Date(now()), RUN_LEASE_MS, runs.free(), [...running.values()])
    for (const row of claimed) runs.start(runOne(row))
  }
  async function startMessages(): Promise<void> {
    if (messages.free() === 0) return
    for (const row of await deliveries.claim(new Date(now()), MESSAGE_LEASE_MS, messages.free()))
      messages.start(sendOne(parts, row, stopping.signal))
  }
  const steps: readonly Step[] = [
    { fault: 'expired data of monitors could not be removed', work: removeExpired },
    { of: ['runs'], fault: 'due monitors could not be run', work: startRuns },
    { of: ['jobs'], fault: 'ended jobs could not be told', work: tellEndedJobs },
    {
      of: ['digests'],
      fault: 'digests could not be made',
      work: async () => void ((await makeDigests(parts)) && looks.wake()),
    },
    { of: ['ends'], fault: 'the ends of accepted findings could not be told', work: tellEnds },
    // Those before it add messages.
    { of: ['messages', 'jobs', 'digests', 'ends'], fault: 'messages could not be sent', work: startMessages },
  ]
  async function look(): Promise<void> {
    const due = await deliveries.due(new Date(now()))
    const hasWork = ({ of }: Step): boolean => of === undefined || of.some((kind) => due[kind])
    await eachAlone(
      1,
      steps.filter((step) => hasWork(step) && unwell.isDue(step)),
      ({ work }) => work(),
      (error, step) => {
        if (isAway(error)) throw error
        unwell.failed(step)
        if (!stopping.signal.aborted) log.error(`${step.fault}: an internal error`, { err: error })
      },
    )
  }
  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      looks.begin()
      try {
        await look()
        outage.over()
      } catch (error) {
        if (isAway(error)) outage.away(error)
        else if (!stopping.signal.aborted)
          log.error('monitors could not be looked at: an internal error', { err: error })
        await sleep(LOOK_EVERY_MS, stopping.signal).catch(() => {})
      }
      await sleep(LOOK_AGAIN_MS, stopping.signal).catch(() => {})
      await looks.pause(LOOK_EVERY_MS, stopping.signal)
    }
  }
  const looking = loop()
  return {
    /** Starts a cycle at once. */
    wake: looks.wake,
    /** Claims nothing new, ends what runs and releases it. */
    stop: once(async (): Promise<void> => {
      stopping.abort(new DOMException('the service is stopping', 'AbortError'))
      await looking
      await Promise.all([runs.settled(), messages.settled()])
    }),
  }
}

/** Work of one kind in progress, of which a fault is logged. */
function workAtOnce(
  most: number,
  what: string,
  {
    log,
    stopping,
    onEnd,
  }: { readonly log: EngineParts['log']; readonly stopping: AbortSignal; readonly onEnd: () => void },
) {
  const works = new Set<Promise<void>>()
  return {
    free: (): number => most - works.size,
    start: (work: Promise<void>): void => {
      const tracked = work
        .catch((error: Error) => {
          if (!stopping.aborted) log.warn(`${what} could not be finished`, { reason: error.message })
        })
        .finally(() => {
          works.delete(tracked)
          onEnd()
        })
      works.add(tracked)
    },
    settled: () => Promise.all(works),
  }
}

/** One attempt at a message, whose fault of ours is stored as its result. */
async function sendOne(parts: EngineParts, row: DeliveryRow, stopping: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout((parts.limits ?? LIMITS).messageMs)])
  try {
    await raced(signal, deliver(parts, row, signal))
  } catch (error) {
    if (stopping.aborted || isAway(error)) throw error // its lease expires
    await attemptFailed(parts, row, ownFault(parts.log, row.id, error))
  }
}
