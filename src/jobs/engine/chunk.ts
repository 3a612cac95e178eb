import { atMost } from '../../base/at-most.ts'
import { firstOf } from '../../base/deadline.ts'
import { throughOutage } from '../../store/postgres/away.ts'
import type { ClaimedRow, JobRows, RowAnswer, RowRetry } from '../../store/postgres/job-rows.ts'
import type { JobRecord } from '../../store/postgres/jobs.ts'
import type { Ask, RowProvider } from './ask.ts'
import type { TakeTurn } from './rate.ts'
import { retryOf } from './retry.ts'
import { type ChunkLease, ROWS_AT_A_TIME } from './workers.ts'
import type { ResultWriters } from './writer.ts'

export type ChunkWork = {
  readonly rows: JobRows
  readonly writers: ResultWriters
  readonly ask: Ask
  readonly turn: TakeTurn
  readonly now: () => number
}

/** `signal` also ends running questions; after `stopping` no new ones start. `needs`: see {@link ChunkLease}. */
export type ChunkSignals = Pick<ChunkLease, 'needs' | 'signal'> & { readonly stopping: AbortSignal }

/** Age at which the confirmation of a claim is renewed before the next row, ms; well within the lease of 10 s. */
const CONFIRMED_MS = 1_000

/**
 * Processes the rows of a chunk and writes the results. Rows that were not started when a signal fires are returned without counting an attempt. While the database is unavailable, no new questions start, and answers wait to be written. Once another worker has claimed the rows, this one
 * starts no more. Rejects with other database errors: the chunk is then assigned again, and the written results are kept.
 */
export async function workChunk(
  work: ChunkWork,
  job: JobRecord,
  chunk: string,
  provider: RowProvider,
  signals: ChunkSignals,
): Promise<void> {
  const { signal } = signals
  const claimedAtMs = performance.now()
  const claimed = await throughOutage(() => work.rows.claim(job.number, chunk), signal)
  const claim = claimOf(work.rows, job.number, claimedAtMs)
  const writer = work.writers.open(job.number, provider.id, signal)
  const width = Math.min(ROWS_AT_A_TIME, provider.concurrent)
  let left = claimed.length
  signals.needs(Math.min(width, left))
  const either = firstOf([signal, signals.stopping])
  const asking = { signal, either: either.signal }
  try {
    await atMost(width, claimed, async (row) => {
      const done = await askRow(work, job, provider, { row, claim }, asking)
      if (--left < width) signals.needs(left)
      if (done === undefined) return
      if ('answer' in done) writer.answer(done)
      else writer.retry(done)
    })
  } finally {
    either.clear()
    await writer.close()
  }
}

/** Whether the rows of a chunk still belong to this worker. */
type Claimed = { readonly holds: (row: ClaimedRow, signal: AbortSignal) => Promise<boolean> }

/** One statement claims all rows of a chunk, so the state of one row holds for all. A process that was suspended or disconnected therefore notices before it asks. */
function claimOf(rows: JobRows, job: number, claimedAtMs: number): Claimed {
  let confirmedAtMs = claimedAtMs
  let isLost = false
  let confirming: Promise<void> | undefined

  async function confirm({ line, fence }: ClaimedRow, signal: AbortSignal): Promise<void> {
    const askedAtMs = performance.now()
    if (await throughOutage(() => rows.isClaimed(job, line, fence), signal)) confirmedAtMs = askedAtMs
    else isLost = true
  }
  return {
    holds: async (row, signal) => {
      // Rows that need a new confirmation at the same time share one query.
      if (!isLost && performance.now() - confirmedAtMs >= CONFIRMED_MS)
        await (confirming ??= confirm(row, signal).finally(() => (confirming = undefined)))
      return !isLost
    },
  }
}

type Row = { readonly row: ClaimedRow; readonly claim: Claimed }

async function askRow(
  { ask, turn, now }: ChunkWork,
  job: JobRecord,
  provider: RowProvider,
  { row, claim }: Row,
  { signal, either }: { readonly signal: AbortSignal; readonly either: AbortSignal },
): Promise<RowAnswer | RowRetry | undefined> {
  const { line, fence } = row
  const later = (waitMs: number, counts: boolean): RowRetry => ({ line, fence, due: new Date(now() + waitMs), counts })
  try {
    either.throwIfAborted()
    const waitMs = await turn(provider, either)
    either.throwIfAborted()
    if (waitMs !== undefined) return later(waitMs, false)
    if (!(await claim.holds(row, signal))) return undefined
    const asked = await ask(job.kind, row.input, job.options, signal)
    const firstAskedAtMs = row.firstAskedAt?.getTime() ?? now()
    const retry = retryOf(asked, { attempts: row.attempts, firstAskedAtMs }, now(), giveUpAfterOf(job))
    if (retry) return later(retry.waitMs, retry.counts)
    return { line, fence, result: asked.result, reason: asked.reason, answer: asked.answer }
  } catch (error) {
    if (!either.aborted) throw error
    return later(0, false)
  }
}

const DAY_MS = 86_400_000
const giveUpAfterOf = ({ options }: JobRecord): number => {
  const { give_up_after_ms } = options as { readonly give_up_after_ms?: unknown }
  return typeof give_up_after_ms === 'number' ? give_up_after_ms : DAY_MS
}
