import { createHash } from 'node:crypto'
import { putOff } from '../base/alone.ts'
import { raced } from '../base/deadline.ts'
import { type Database, isAway } from '../store/postgres/connect.ts'
import type { Deliveries } from '../store/postgres/deliveries.ts'
import type { Log } from '../world.ts'

/** The body of `job.finished`; undefined for a job that was removed. */
export type JobEvent = (id: string) => Promise<object | undefined>

/** Maximum number of ended jobs that one step reads. */
const JOBS_AT_A_TIME = 20
/** When the event of an ended job is made again after it failed, ms; then it is given up. */
const EVENT_AGAIN_MS = [60_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000] as const

/** One id for each job: the webhook may be set again by a request that is repeated after the job was told. */
const messageIdOf = ({ id, number }: { readonly id: string; readonly number: number }): string =>
  `msg_${createHash('sha256').update(`${id} ${number}`).digest('base64url').slice(0, 22)}`

type Telling = {
  readonly database: Pick<Database, 'db'>
  readonly deliveries: Pick<Deliveries, 'add' | 'endedJob' | 'setCallback'>
  readonly jobEvent: JobEvent
  readonly now: () => number
  readonly log: Log
  /** Time limit of the event of a job, which is made in a transaction, ms. */
  readonly eventMs: number
}

/** Returns what adds the messages about ended jobs whose webhook is to be called, each in a transaction of its own. */
export function endedJobsTold({ database, deliveries, jobEvent, now, log, eventMs }: Telling): () => Promise<void> {
  const untold = putOff<string>(EVENT_AGAIN_MS, now)
  async function tellEndedJob(): Promise<boolean> {
    let job: Awaited<ReturnType<typeof deliveries.endedJob>>
    try {
      await database.db.transaction().execute(async (tx) => {
        job = await deliveries.endedJob(tx, untold.waiting())
        const data = job && (await raced(AbortSignal.timeout(eventMs), jobEvent(job.id)))
        if (!job || !data) return
        const createdAt = new Date(now())
        const id = messageIdOf(job)
        const message = { id, webhook: job.callback, monitor: null, type: 'job.finished', createdAt }
        const body = JSON.stringify({ type: message.type, timestamp: createdAt.toISOString(), data })
        await deliveries.add(tx, [{ ...message, channel: JSON.stringify({ type: 'webhook' }), body }])
      })
      if (job) untold.ended(job.id)
    } catch (error) {
      if (!job || isAway(error)) throw error
      const againInMs = untold.failed(job.id)
      const fields = { job: job.id, again_in_ms: againInMs ?? null, err: error }
      log.error('the end of a bulk job could not be told: an internal error', fields)
      if (againInMs === undefined) await deliveries.setCallback(job.id, null)
    }
    return job !== undefined
  }
  return async () => {
    for (let n = 0; n < JOBS_AT_A_TIME && (await tellEndedJob()); n++);
  }
}
