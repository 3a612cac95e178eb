import { raced } from '../../base/deadline.ts'
import { throughOutage } from '../../store/postgres/away.ts'
import type { JobRows, RowAnswer, RowRetry } from '../../store/postgres/job-rows.ts'

/** Writes the results of a chunk's rows. */
export type ResultWriter = {
  readonly answer: (answer: RowAnswer) => void
  readonly retry: (retry: RowRetry) => void
  /** Waits until everything is written; rejects with the first error of any write. */
  readonly close: () => Promise<void>
}

/**
 * Writes the results of all chunks of a node: those of one job and provider together, whatever their chunks, because each statement costs the database more than
 * the rows in it.
 */
export type ResultWriters = {
  /** A writer for one chunk. Once `stopping` fires, `close` waits 5 s more for an unavailable database. */
  readonly open: (job: number, provider: string, stopping: AbortSignal) => ResultWriter
}

/** Time for which results wait to be written together, ms. */
const WRITE_EVERY_MS = 100
/** Time to write the answers after a stop while the database is unavailable, ms. */
const LAST_WRITE_MS = 5_000

type Lane = {
  /** Settles with the write that contains this result. */
  readonly add: (what: { readonly answer: RowAnswer } | { readonly retry: RowRetry }) => Promise<void>
  users: number
}

/** The number of waiting results is bounded by the rows of the chunks in progress. While the database is unavailable they wait until `closed` fires. */
export function resultWriters(rows: Pick<JobRows, 'answer' | 'retry'>, closed: AbortSignal): ResultWriters {
  const lanes = new Map<string, Lane>()

  return {
    open: (job, provider, stopping) => {
      const key = `${job} ${provider}`
      const lane = lanes.get(key) ?? newLane(rows, job, provider, closed)
      lanes.set(key, lane)
      lane.users++
      const writes = new Set<Promise<void>>()
      let fault: { readonly error: unknown } | undefined
      const keep = (write: Promise<void>): void => {
        if (writes.has(write)) return
        writes.add(write)
        write
          .catch((error: unknown) => {
            fault ??= { error }
          })
          .finally(() => writes.delete(write))
      }
      return {
        answer: (answer) => keep(lane.add({ answer })),
        retry: (retry) => keep(lane.add({ retry })),
        close: async () => {
          const givingUp = new AbortController()
          const patience = (): void => void setTimeout(() => givingUp.abort(stopping.reason), LAST_WRITE_MS).unref()
          if (stopping.aborted) patience()
          else stopping.addEventListener('abort', patience, { once: true })
          try {
            await raced(givingUp.signal, Promise.allSettled(writes))
          } finally {
            stopping.removeEventListener('abort', patience)
            if (--lane.users === 0) lanes.delete(key)
          }
          if (fault) throw fault.error
        },
      }
    },
  }
}

/** One write at a time: results that arrive meanwhile are in the next. */
function newLane(rows: Pick<JobRows, 'answer' | 'retry'>, job: number, provider: string, closed: AbortSignal): Lane {
  let answers: RowAnswer[] = []
  let retries: RowRetry[] = []
  let next: Promise<void> | undefined
  let running: Promise<unknown> = Promise.resolve()

  async function write(): Promise<void> {
    const before = running
    await new Promise((resolve) => setTimeout(resolve, WRITE_EVERY_MS))
    await before
    const [some, others] = [answers, retries]
    answers = []
    retries = []
    next = undefined
    await throughOutage(() => rows.answer(job, provider, some), closed)
    await throughOutage(() => rows.retry(job, others), closed)
  }
  return {
    users: 0,
    add: (what) => {
      if ('answer' in what) answers.push(what.answer)
      else retries.push(what.retry)
      if (!next) {
        next = write()
        running = next.catch(() => {})
      }
      return next
    },
  }
}
