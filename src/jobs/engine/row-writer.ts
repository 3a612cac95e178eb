import { throughOutage } from '../../store/postgres/connect.ts'
import type { DuePair, JobRows, RowWrite } from '../../store/postgres/job-rows.ts'
import { isJobGone } from '../../store/postgres/jobs.ts'
import { faultResult } from './row-result.ts'

type RowWriterSettings = {
  readonly rows: Pick<JobRows, 'write'>
  /** Called with a job of which rows were written, and whether all rows of a provider have a result. */
  readonly onWritten: (job: number, isProviderDone: boolean) => void
  /** Called with a row whose result cannot be stored: it gets another one. */
  readonly onRowFault: (error: unknown, job: DuePair, row: RowWrite) => void
  /** Called with a job of which nothing can be written. */
  readonly onFault: (error: unknown, job: DuePair) => void
  /** Ends the wait for an unavailable database. */
  readonly closed: AbortSignal
}

/** Time between two writes of a job, in which rows wait to be written together, ms. */
const WRITE_EVERY_MS = 60

type Lane = { readonly job: DuePair; writes: RowWrite[]; running: Promise<void> | undefined }

/**
 * Writes what became of rows, those of one job together: a statement costs the database more than the rows in it. One
 * write of a job at a time: rows that end meanwhile are in the next one. While the database is unavailable they
 * wait. If a write fails otherwise its rows are written alone, and one that cannot be is given a result that says so.
 * If that cannot be written either, the others stay claimed, and are asked again when their claim ends.
 */
export function rowWriter({ rows, onWritten, onRowFault, onFault, closed }: RowWriterSettings) {
  const lanes = new Map<number, Lane>()
  let waiting = 0

  async function write(job: DuePair, writes: readonly RowWrite[]): Promise<void> {
    onWritten(job.number, await throughOutage(() => rows.write(job, writes), closed))
  }
  async function writeAlone(job: DuePair, row: RowWrite): Promise<void> {
    try {
      await write(job, [row])
    } catch (error) {
      if (closed.aborted || isJobGone(error)) throw error
      const instead = { line: row.line, fence: row.fence, counts: true, waitMs: null }
      await write(job, [{ ...instead, ...faultResult(job.kind, error) }])
      onRowFault(error, job, row)
    }
  }
  async function drain(lane: Lane): Promise<void> {
    await new Promise(setImmediate)
    while (lane.writes.length > 0) {
      const { job, writes } = lane
      lane.writes = []
      try {
        await write(job, writes).catch(async (error: unknown) => {
          if (closed.aborted || isJobGone(error)) throw error
          for (const row of writes) await writeAlone(job, row)
        })
      } catch (error) {
        if (!closed.aborted) onFault(error, job)
      } finally {
        waiting -= writes.length
      }
      await new Promise((resolve) => setTimeout(resolve, WRITE_EVERY_MS))
    }
    lanes.delete(lane.job.number)
  }
  return {
    add: (job: DuePair, write: RowWrite): void => {
      const lane = lanes.get(job.number) ?? { job, writes: [], running: undefined }
      lanes.set(job.number, lane)
      lane.writes.push(write)
      waiting++
      lane.running ??= drain(lane)
    },
    /** Rows that are not written yet. */
    waiting: () => waiting,
    /** Resolves when everything is written, or given up because `closed` fired. */
    settled: async () => void (await Promise.all([...lanes.values()].map(({ running }) => running))),
  }
}
