import { atMost } from '../../base/at-most.ts'
import type { ClaimedRow, JobRows, RowAnswer, RowRetry } from '../../store/postgres/job-rows.ts'
import type { JobRecord } from '../../store/postgres/jobs.ts'
import type { Ask, RowProvider } from './ask.ts'
import type { TakeTurn } from './rate.ts'
import { retryOf } from './retry.ts'

export type ChunkWork = {
  readonly rows: JobRows
  readonly ask: Ask
  readonly turn: TakeTurn
  readonly now: () => number
}

/** Results wait this long to be written with others, ms. */
const WRITE_EVERY_MS = 100
/** Rows of a chunk that are asked about at a time. */
export const ROWS_AT_A_TIME = 10

/**
 * Asks about the rows of a chunk and writes what was said. When the signal fires, running questions end with it and their rows go back without an attempt
 * counted. Rejects when the database does: the chunk is then handed out again, and what was written stands.
 */
export async function workChunk(
  work: ChunkWork,
  job: JobRecord,
  chunk: string,
  provider: RowProvider,
  signal: AbortSignal,
): Promise<void> {
  const claimed = await work.rows.claim(job.number, chunk)
  const writer = resultWriter(work.rows, job.number, provider.id)
  try {
    await atMost(Math.min(ROWS_AT_A_TIME, provider.concurrent), claimed, async (row) => {
      const done = await askRow(work, job, provider, row, signal)
      if ('answer' in done) writer.answer(done)
      else writer.retry(done)
    })
  } finally {
    await writer.close()
  }
}

async function askRow(
  { ask, turn, now }: ChunkWork,
  job: JobRecord,
  provider: RowProvider,
  row: ClaimedRow,
  signal: AbortSignal,
): Promise<RowAnswer | RowRetry> {
  const { line, fence } = row
  const later = (waitMs: number, counts: boolean): RowRetry => ({ line, fence, due: new Date(now() + waitMs), counts })
  try {
    signal.throwIfAborted()
    const waitMs = await turn(provider, signal)
    if (waitMs !== undefined) return later(waitMs, false)
    const asked = await ask(job.kind, row.input, job.options, signal)
    const firstAskedAtMs = row.firstAskedAt?.getTime() ?? now()
    const retry = retryOf(asked, { attempts: row.attempts, firstAskedAtMs }, now(), giveUpAfterOf(job))
    if (retry) return later(retry.waitMs, retry.counts)
    return { line, fence, result: asked.result, reason: asked.reason, answer: asked.answer }
  } catch (error) {
    if (!signal.aborted) throw error
    return later(0, false)
  }
}

const DAY_MS = 86_400_000
const giveUpAfterOf = ({ options }: JobRecord): number => {
  const { give_up_after_ms } = options as { readonly give_up_after_ms?: unknown }
  return typeof give_up_after_ms === 'number' ? give_up_after_ms : DAY_MS
}

type ResultWriter = {
  readonly answer: (answer: RowAnswer) => void
  readonly retry: (retry: RowRetry) => void
  /** Writes what is left, and rejects with the first fault of any write. */
  readonly close: () => Promise<void>
}

/** Writes results in batches: what a chunk holds bounds them. */
function resultWriter(rows: JobRows, job: number, provider: string): ResultWriter {
  let answers: RowAnswer[] = []
  let retries: RowRetry[] = []
  let fault: { readonly error: unknown } | undefined
  let writing: Promise<void> = Promise.resolve()

  function flush(): void {
    const [some, others] = [answers, retries]
    answers = []
    retries = []
    writing = writing
      .then(async () => {
        await rows.answer(job, provider, some)
        await rows.retry(job, others)
      })
      .catch((error: unknown) => {
        fault ??= { error }
      })
  }
  const timer = setInterval(flush, WRITE_EVERY_MS)
  return {
    answer: (one) => void answers.push(one),
    retry: (one) => void retries.push(one),
    close: async () => {
      clearInterval(timer)
      flush()
      await writing
      if (fault) throw fault.error
    },
  }
}
