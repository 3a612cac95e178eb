import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { atMost } from '../../base/at-most.ts'
import { within } from '../../base/deadline.ts'
import { throughOutage } from '../../store/postgres/away.ts'
import type { JobRows } from '../../store/postgres/job-rows.ts'
import type { JobRecord, Jobs } from '../../store/postgres/jobs.ts'
import type { Schema } from '../../store/postgres/schema.ts'
import type { FindProvider, RowProvider } from './ask.ts'
import type { ChunkQueue } from './queue.ts'
import { ROWS_AT_A_TIME } from './workers.ts'

export type Planning = {
  readonly db: Kysely<Schema>
  readonly jobs: Jobs
  readonly rows: JobRows
  readonly queue: Pick<ChunkQueue, 'send'>
  readonly findProvider: FindProvider
  /** The limits toward a provider by its id. */
  readonly limitsOf: (provider: string) => RowProvider
  readonly now: () => number
}

/** Domains that are looked up in one step; the first step is small, so that the first result comes soon. */
const FIRST_DOMAINS = 50
const DOMAINS = 500
/** Maximum number of domains whose provider is looked up at the same time. */
const LOOKUPS_AT_A_TIME = 50
const LOOKUP_MS = 10_000
/** Maximum number of rows of a chunk. */
const CHUNK_ROWS = 500
/** Maximum number of rows of a provider in chunks: rows in a chunk cannot be paused before they are claimed. */
const QUEUED_ROWS = 10_000

/** Looks up the providers of some domains of a job; false if none were left. Any node may do this at any time. */
export async function findProviders(planning: Planning, job: JobRecord, signal: AbortSignal): Promise<boolean> {
  const domains = await planning.rows.leaseDomains(job.number, job.done === 0 ? FIRST_DOMAINS : DOMAINS)
  if (domains.length === 0) return false
  const found = await atMost(LOOKUPS_AT_A_TIME, domains, async (domain) => {
    const provider = await planning.findProvider(job.kind, domain, within(LOOKUP_MS, signal))
    return [domain, provider.id] as const
  })
  signal.throwIfAborted() // results obtained while the node stops are not reliable
  await throughOutage(() => planning.rows.setProviders(job.number, new Map(found)), signal) // otherwise the lease would have to expire
  return true
}

/** Groups the rows that are due into chunks and queues them, one transaction per provider. Returns the number of chunks. */
export async function cutChunks(planning: Planning, job: JobRecord): Promise<number> {
  const [due, queued] = await Promise.all([planning.rows.due(job.number), planning.rows.queued(job.number)])
  let cut = 0
  for (const [id, rows] of due) {
    const provider = planning.limitsOf(id)
    const free = Math.min(QUEUED_ROWS, provider.perMinute) - (queued.get(id) ?? 0)
    const sizes = chunkSizes(rows, free, provider)
    if (sizes.length > 0) cut += await cutProvider(planning, job, provider, sizes)
  }
  return cut
}

/**
 * The sizes of the next chunks of a provider with `due` rows, of which `free` may be queued. Each is an equal share of the remaining rows for as many chunks as may
 * run at a time, so that chunks become smaller toward the end and all nodes finish at the same time. Bounds: at least the rows that a chunk processes at a time, at most half a minute of work.
 */
export function chunkSizes(due: number, free: number, provider: RowProvider): readonly number[] {
  const most = Math.min(CHUNK_ROWS, Math.max(1, Math.floor(provider.perMinute / 2)))
  const sizes: number[] = []
  for (let [left, may] = [due, free]; left > 0 && may > 0; ) {
    const share = Math.ceil(left / chunksAtATime(provider))
    const size = Math.min(left, may, most, Math.max(ROWS_AT_A_TIME, share))
    sizes.push(size)
    left -= size
    may -= size
  }
  return sizes
}

/** Maximum number of chunks of a provider that run at a time across all nodes. */
const chunksAtATime = ({ concurrent }: RowProvider): number => Math.max(1, Math.floor(concurrent / ROWS_AT_A_TIME))

const cutProvider = (
  { db, rows, queue }: Planning,
  job: JobRecord,
  provider: RowProvider,
  sizes: readonly number[],
): Promise<number> =>
  db.transaction().execute(async (tx) => {
    const wanted = sizes.map((size) => ({ chunk: randomUUID(), size }))
    const cut = await rows.cutChunks(tx, job.number, provider.id, wanted)
    const chunks = cut.map((chunk) => ({ job: job.id, number: job.number, chunk, provider: provider.id }))
    if (chunks.length > 0) await queue.send(tx, chunks, chunksAtATime(provider))
    return chunks.length
  })

/** Ends a job whose rows all have a result. */
export async function finishIfDone({ jobs, rows, now }: Planning, job: JobRecord): Promise<boolean> {
  if (await rows.isOpen(job.number)) return false
  return (await jobs.move(job.id, ['running'], 'done', { finished_at: new Date(now()) })) !== undefined
}
