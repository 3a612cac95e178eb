import { randomUUID } from 'node:crypto'
import type { Database } from '../../src/store/postgres/connect.ts'
import { badLine, rowLine, takeInOf } from '../../src/store/postgres/job-intake.ts'
import {
  type ClaimedRow,
  jobRowsOf,
  type RowWrite,
  type StoredBadRow,
  type StoredRow,
} from '../../src/store/postgres/job-rows.ts'
import { type JobRecord, jobsOf } from '../../src/store/postgres/jobs.ts'

/** A row of a list with one column. */
export const labRow = (line: number, key: string): StoredRow => ({
  ...{ line, input: key, columns: [key], key },
  domain: key.split('@')[1] ?? '',
})

/** A job with these rows, taken in as an upload is; its providers are not known yet. */
export async function labList(
  { db, pool }: Database,
  rows: readonly (string | StoredRow)[],
  about: {
    readonly owner?: string
    readonly bad?: readonly StoredBadRow[]
    readonly id?: string
    readonly name?: string
  } = {},
): Promise<JobRecord> {
  const { owner = '', bad = [], id = `job_${randomUUID()}`, name = 'a list' } = about
  const expiresAt = new Date(Date.now() + 86_400_000)
  const { number } = await jobsOf(db).create({ id, kind: 'verify', name, owner, options: {}, expiresAt })
  const lines = rows.map((row, i) => rowLine(number, typeof row === 'string' ? labRow(i + 1, row) : row))
  const badLines = bad.map((row) => badLine(number, row))
  const received = rows.length + bad.length
  const part = { layout: null, from: 0, received, nextLine: received + 1 }
  if (received > 0)
    await takeInOf(pool)(number, {
      ...part,
      rows: [Buffer.from(lines.join(''))],
      bad: [Buffer.from(badLines.join(''))],
    })
  await jobRowsOf(db).complete(number)
  return (await jobsOf(db).byId(id))!
}

/** The same, running, with the provider of all rows known. */
export async function labRunning(database: Database, job: JobRecord, provider = 'p'): Promise<JobRecord> {
  const rows = jobRowsOf(database.db)
  const domains = await rows.leaseDomains(job.number, 100_000)
  await rows.setProviders(job, new Map(domains.map((domain) => [domain, provider])))
  await jobsOf(database.db).lookedUp(job.number)
  await jobsOf(database.db).move(job.id, ['waiting'], 'running')
  return (await jobsOf(database.db).byId(job.id))!
}

export const labAnswer = ({ line, fence }: Pick<ClaimedRow, 'line' | 'fence'>, result = 'accepted'): RowWrite => ({
  ...{ line, fence, result, counts: true, waitMs: null, reason: 'r', answer: { line } },
})
export const labRetry = (
  { line, fence }: Pick<ClaimedRow, 'line' | 'fence'>,
  waitMs: number,
  counts = true,
): RowWrite => ({
  ...{ line, fence, counts, waitMs, result: null, reason: null, answer: {} },
})
