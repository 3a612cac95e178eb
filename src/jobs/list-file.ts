import { sleep } from '../base/deadline.ts'
import { formatJson, isJsonRecord, type Json, type JsonRecord } from '../base/json.ts'
import type { ResultRow } from '../store/postgres/job-rows.ts'
import type { JobKind } from '../store/postgres/schema.ts'
import type { Ask, Asked } from './engine/claims.ts'
import { retryOf } from './engine/retry.ts'
import { rowResult } from './engine/row-result.ts'
import { type Layout, readList } from './intake/intake.ts'
import type { Octets } from './intake/octets.ts'
import { type BadRow, type GoodRow, placeOf } from './intake/row.ts'
import { csvOf, namesOf, presentRow } from './results.ts'
import { storedRow } from './submit.ts'

/** Answers by row number, which survive the process. */
type Answers = {
  readonly has: (n: number) => boolean
  readonly at: (n: number) => Promise<Json>
  readonly append: (n: number, value: Json) => Promise<void>
}

export type ListFile = {
  readonly kind: JobKind
  /** Opens the list at its beginning; it is read twice. */
  readonly open: () => Octets
  readonly contentType: string
  readonly column?: string
  readonly maxUpload: number
  readonly options: { readonly [key: string]: Json }
  readonly giveUpMs: number
}

type ListWork = {
  readonly ask: Ask
  readonly answers: Answers
  readonly now: () => number
  readonly tell: (progress: ListProgress) => void
  /** Called with a fault of ours at a row, which has it as its result after some attempts. */
  readonly onFault: (error: unknown) => void
}
export type ListProgress = {
  readonly answered: number
  readonly rows: number
  readonly badRows: readonly BadRow[]
  readonly badCount: number
  /** Rows that wait for a retry, and when the first is due. */
  readonly waiting: number
  readonly nextDueMs: number | undefined
}

/** Maximum number of rows that are processed at the same time. */
const AT_A_TIME = 50
const TELL_EVERY_MS = 1_000
const SHOWN_BAD_ROWS = 5

type Open = {
  readonly n: number
  readonly input: string
  readonly attempts: number
  readonly firstAskedAtMs?: number
  readonly dueMs: number
}

/**
 * Processes each row of a list that has no answer yet, as a job does: equal rows once, with retries. Rejects with the
 * signal's reason; the answers so far are in `answers`. Memory grows with the number of different rows (some 100 octets
 * each).
 */
export async function answerList(list: ListFile, work: ListWork, stopped: AbortSignal): Promise<ListProgress> {
  const failed = new AbortController()
  const signal = AbortSignal.any([stopped, failed.signal])
  const { ask, answers, now } = work
  const later: Open[] = []
  const bad: BadRow[] = []
  const sums = { answered: 0, rows: 0, bad: 0 }
  const rows = firsts(list, {
    good: () => sums.rows++,
    bad: (row) => {
      sums.bad++
      if (bad.length < SHOWN_BAD_ROWS) bad.push(row)
    },
  })
  let isRead = false
  let running = 0
  const progress = (): ListProgress => ({
    answered: sums.answered,
    rows: sums.rows,
    badRows: bad,
    badCount: sums.bad,
    waiting: later.length,
    nextDueMs: later[0]?.dueMs,
  })

  async function next(): Promise<Open | undefined> {
    for (;;) {
      signal.throwIfAborted()
      if ((later[0]?.dueMs ?? Number.POSITIVE_INFINITY) <= now()) return later.shift()
      if (!isRead) {
        const { value, done } = await rows.next()
        if (done) isRead = true
        else if (answers.has(value.n)) sums.answered++
        else return { ...value, attempts: 0, dueMs: 0 }
        continue
      }
      if (later.length === 0 && running === 0) return undefined
      await sleep(Math.min(500, Math.max(10, (later[0]?.dueMs ?? 0) - now())), signal)
    }
  }
  async function askOne(row: Open): Promise<void> {
    const firstAskedAtMs = row.firstAskedAtMs ?? now()
    const { kind, options } = list
    const asked = await rowResult(ask, { kind, input: row.input, options, signal, onFault: work.onFault })
    const retry = retryOf(asked, { attempts: row.attempts, firstAskedAtMs }, now(), list.giveUpMs)
    if (!retry) {
      await answers.append(row.n, answerOf(asked))
      sums.answered++
      return
    }
    const again = { ...row, firstAskedAtMs, attempts: row.attempts + Number(retry.counts), dueMs: now() + retry.waitMs }
    const place = later.findIndex(({ dueMs }) => dueMs > again.dueMs)
    later.splice(place < 0 ? later.length : place, 0, again)
  }
  // The rows come from one reader, which the workers share.
  let turn: Promise<unknown> = Promise.resolve()
  async function worker(): Promise<void> {
    for (;;) {
      const mine = turn.then(async () => {
        const row = await next()
        if (row) running++
        return row
      })
      turn = mine.catch(() => {})
      const row = await mine
      if (!row) return
      try {
        await askOne(row)
      } finally {
        running--
      }
    }
  }
  const telling = setInterval(() => work.tell(progress()), TELL_EVERY_MS)
  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  } catch (error) {
    failed.abort(error) // the other workers end too
    throw error
  } finally {
    clearInterval(telling)
  }
  return progress()
}

const answerOf = ({ result, reason, answer }: Asked): Json => ({ result, reason, answer })

/**
 * Whether a value is an answer as {@link answerOf} writes it; the journal is a file that others may have had their
 * hands on.
 */
export const isAnswer = ({ result, reason, answer, ...rest }: JsonRecord): boolean =>
  isWord(result) && isWord(reason) && isJsonRecord(answer) && Object.keys(rest).length === 0
const isWord = (value: Json | undefined): boolean => typeof value === 'string' && /^[a-z_]{0,40}$/.test(value)

/** The rows to process: the first of each key, with its number among all readable rows. */
async function* firsts(
  list: ListFile,
  seen: { readonly good: () => void; readonly bad: (row: BadRow) => void },
): AsyncGenerator<{ readonly n: number; readonly input: string }, void, undefined> {
  for await (const one of numbered(list)) {
    if ('bad' in one) seen.bad(one.bad)
    else {
      seen.good()
      if (one.first === one.n) yield { n: one.n, input: one.row.input }
    }
  }
}

type Numbered = { readonly row: GoodRow; readonly n: number; readonly first: number } | { readonly bad: BadRow }

/** The rows with their numbers, and the number of the first equal row. */
async function* numbered(list: ListFile, found: (layout: Layout) => void = () => {}): AsyncGenerator<Numbered, void> {
  const { kind, contentType, column, maxUpload } = list
  const keys = new Map<string, number>()
  const bounds = { maxUpload }
  let n = 0
  for await (const row of readList(list.open(), {
    kind,
    contentType,
    bounds,
    found,
    ...(column !== undefined && { column }),
  })) {
    if (!row.ok) {
      yield { bad: row }
      continue
    }
    const { key } = storedRow(kind, row)
    const first = keys.get(key) ?? n
    if (first === n) keys.set(key, n)
    yield { row, n, first }
    n++
  }
}

/** The results in the order of the list, as of a job: the list's own columns first. Every row has its answer. */
export async function* resultsOf(list: ListFile, answers: Answers, format: 'csv' | 'ndjson'): AsyncIterable<string> {
  let layout: Layout | undefined
  let csv: ReturnType<typeof csvOf> | undefined
  for await (const one of numbered(list, (seen) => void (layout = seen))) {
    if ('bad' in one) continue
    const { row, first } = one
    const kept = (await answers.at(first)) as { readonly [key: string]: Json }
    const result: ResultRow = {
      line: placeOf(row.line, row.part),
      input: row.input,
      columns: row.columns,
      result: String(kept.result ?? ''),
      reason: String(kept.reason ?? ''),
      answer: kept.answer as { readonly [key: string]: Json },
    }
    if (format === 'ndjson')
      yield `${formatJson({ ...presentRow(result, namesOf(layout)) } as JsonRecord)}
`
    else {
      if (!csv) {
        csv = csvOf(list, layout, 'plain')
        yield csv.header()
      }
      yield csv.row(result)
    }
  }
}
