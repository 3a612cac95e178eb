import { throughOutage } from '../../store/postgres/away.ts'
import type { JobRows, RowWrite } from '../../store/postgres/job-rows.ts'
import { isTableGone, type JobTable } from '../../store/postgres/job-tables.ts'

/** Writes what became of rows, those of one job together: a statement costs the database more than the rows in it. */
export type RowWriter = {
  readonly add: (job: JobTable, write: RowWrite) => void
  /** Rows that are not written yet. */
  readonly waiting: () => number
  /** Resolves when everything is written, or given up because `closed` fired. */
  readonly settled: () => Promise<void>
}

export type RowWriterSettings = {
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
 * One write of a job at a time: rows that end meanwhile are in the next one. While the database is unavailable they wait. Rows whose write fails otherwise stay claimed,
 * and are asked again when their claim ends.
 */
export function rowWriter({ rows, onProviderDone, onFault, closed }: RowWriterSettings): RowWriter {
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
