import type { JobAnswer } from '../answers/jobs.ts'
import type { JobSums } from '../store/postgres/job-sums.ts'
import type { JobRecord } from '../store/postgres/jobs.ts'
import type { Layout } from './intake/intake.ts'
import { type Counted, columnNames, type Noted } from './intake/row.ts'
import { takenProblem } from './problems.ts'

/** Minutes over which a rate is measured. */
export const PACE_MINUTES = 5
/** Maximum number of providers in an answer. */
const MAX_PROVIDERS = 100

export type Measures = {
  /** Recently answered rows are those of the last {@link PACE_MINUTES} minutes. */
  readonly sums: JobSums
  /** The earliest time at which a waiting row of a provider is due, if none is due now. */
  readonly waiting: ReadonlyMap<string, Date>
  /** The rate that a provider's limit allows, rows per minute. */
  readonly perMinute: (provider: string) => number
  readonly nowMs: number
}

/** A job as returned by the API, without the columns of its list ({@link columnsOf}). */
export function presentJob(job: JobRecord, measures: Measures): JobAnswer {
  const { words, providerCount, recent } = measures.sums
  const parts = providersOf(job, measures)
  const time = job.state === 'running' || job.state === 'waiting' ? timeLeft(job, parts, measures) : undefined
  return {
    id: job.id,
    kind: job.kind,
    name: job.name,
    state: job.state,
    created_at: job.created_at.toISOString(),
    expires_at: job.expires_at.toISOString(),
    rows: job.rows,
    duplicates: job.duplicates,
    bad_rows: job.bad_rows,
    received: job.received,
    done: measures.sums.done,
    counts: summed(words, ({ result }) => result),
    reasons: summed(words, ({ reason }) => reason),
    providers: parts.slice(0, MAX_PROVIDERS),
    ...(providerCount > MAX_PROVIDERS && { providers_left_out: providerCount - MAX_PROVIDERS }),
    rate: round(recent / minutesRunning(job, measures.nowMs)),
    eta_ms: time?.ms ?? null,
    ...(time?.reason !== undefined && { eta_reason: time.reason }),
    ...(job.failure !== null && { failure: job.failure }),
    first_result_at: job.first_result_at?.toISOString() ?? null,
    finished_at: job.finished_at?.toISOString() ?? null,
  }
}

/** The columns of a CSV list, the one that is read, and what was taken away from the list. */
export function columnsOf(layout: Layout | undefined): Pick<JobAnswer, 'columns' | 'column' | 'notes'> {
  if (!layout) return {}
  const { taken = {} } = layout
  const notes = { ...(Object.keys(taken).length > 0 && { notes: notesOf(taken) }) }
  if (layout.format !== 'csv') return notes
  const columns = layout.header && columnNames(layout.header)
  return { ...(columns && { columns }), column: columns?.[layout.index] ?? String(layout.index + 1), ...notes }
}

/** What was taken away from a list, in words. */
export const notesOf = (taken: NonNullable<Counted['taken']>): string[] =>
  (Object.keys(takenProblem.table) as Noted[]).flatMap((one) => {
    const count = taken[one]
    return count === undefined ? [] : [takenProblem(one, { count }).text]
  })

type Word = JobSums['words'][number]

function summed(words: readonly Word[], nameOf: (word: Word) => string): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const word of words) {
    const name = nameOf(word)
    if (name !== '') sums[name] = (Object.hasOwn(sums, name) ? sums[name]! : 0) + word.n
  }
  return sums
}

type Part = JobAnswer['providers'][number]

/** The known providers of a job, those with the most rows first. */
function providersOf(job: JobRecord, { sums, waiting, nowMs }: Measures): readonly Part[] {
  const minutes = minutesRunning(job, nowMs)
  return sums.providers
    .map(({ provider, rows, done, recent }) => {
      const due = waiting.get(provider)
      return {
        provider,
        rows,
        done,
        rate: round(recent / minutes),
        ...(due &&
          done < rows && {
            waiting_reason: `rows were deferred or rate-limited; the next is due at ${due.toISOString()}`,
          }),
      }
    })
    .sort((a, b) => b.rows - a.rows || (a.provider < b.provider ? -1 : 1))
}

/** The rate of a job that started recently is measured over its own time. */
const minutesRunning = (job: JobRecord, nowMs: number): number => {
  const begun = job.first_result_at?.getTime()
  if (begun === undefined) return PACE_MINUTES
  return Math.min(PACE_MINUTES, Math.max(1 / 6, ((job.finished_at?.getTime() ?? nowMs) - begun) / 60_000))
}

type TimeLeft = { readonly ms: number; readonly reason?: string }

/** Answered rows from which on the recent rate of an unlimited provider is taken for its own. */
const KNOWN_PACE = 10

/**
 * The time until the slowest provider is done: by its recent rate, but not faster than its limit allows, and not before
 * its waiting rows are due. Unlimited providers that have answered few rows are expected to go on together at the rate
 * of all unlimited ones. Undefined while no row has an answer, no limit applies and no row waits. The reason tells when
 * rows wait or a limit applies.
 */
function timeLeft(job: JobRecord, parts: readonly Part[], measures: Measures): TimeLeft | undefined {
  const { known } = measures.sums
  if (known === 0) return undefined
  const more = Math.max(1, job.rows / known) // rows whose providers are not known yet are assumed to be like the others
  const isUnlimited = ({ provider }: Part): boolean => !Number.isFinite(measures.perMinute(provider))
  const unlimited = parts.filter(isUnlimited)
  const together = unlimited.filter(({ rows, done }) => done < rows && done < KNOWN_PACE)
  let slowest = togetherLeft(together, unlimited, more)
  for (const part of parts) {
    if (part.done >= part.rows) continue
    const time = timeLeftOf(part, job, more, measures)
    if (together.includes(part) && time?.reason === undefined) continue
    if (!time) return undefined
    if (!slowest || time.ms >= slowest.ms) slowest = time
  }
  return slowest
}

/** The time for the rows of some providers at the rate of all; undefined while nothing was answered. */
function togetherLeft(some: readonly Part[], all: readonly Part[], more: number): TimeLeft | undefined {
  const left = some.reduce((sum, { rows, done }) => sum + rows - done, 0)
  const rate = all.reduce((sum, part) => sum + part.rate, 0)
  return left > 0 && rate > 0 ? { ms: Math.ceil((left / rate) * 60_000 * more) } : undefined
}

function timeLeftOf(
  part: Part,
  job: JobRecord,
  more: number,
  { perMinute, waiting, nowMs }: Measures,
): TimeLeft | undefined {
  const { provider, rows, done, rate } = part
  const limit = perMinute(provider)
  const pace = Math.min(limit, rate > 0 ? rate : limit)
  const isPaced = Number.isFinite(pace) && pace > 0
  const workMs = isPaced ? ((rows - done) / pace) * 60_000 * more : 0
  const due = waiting.get(provider)
  const waitMs = due ? due.getTime() - nowMs : 0
  const waits =
    due && waitMs > 0 ? `rows of ${provider} were deferred or limited until ${due.toISOString()}` : undefined
  if (due && waits !== undefined) {
    const waitingMs = waitMs + (rate > 0 ? 0 : pausesMs(part, job, due))
    if (waitingMs >= workMs) return { ms: Math.ceil(waitingMs), reason: waits }
  }
  if (!isPaced) return undefined
  const reason = limit <= pace * 1.5 ? `${provider} is limited to ${round(limit)} rows a minute` : waits
  return { ms: Math.ceil(workMs), ...(reason !== undefined && { reason }) }
}

/**
 * The time after `due` for a provider that answered nothing recently and has more rows left than answered: it probably
 * lets as many rows through and pauses as long as it did until then. Otherwise 0: the rows left are expected to be
 * answered soon after they are due.
 */
function pausesMs({ rows, done }: Part, job: JobRecord, due: Date): number {
  const beyond = rows - done - done
  if (done === 0 || beyond <= 0 || job.first_result_at === null) return 0
  return (beyond / done) * (due.getTime() - job.first_result_at.getTime())
}

const round = (rate: number): number => Math.round(rate * 10) / 10
