import type { JobAnswer } from '../answers/jobs.ts'
import type { CountRow, JobRecord } from '../store/postgres/jobs.ts'
import type { Layout } from './intake/intake.ts'

/** Minutes over which a rate is taken. */
export const PACE_MINUTES = 5
/** Providers that an answer names. */
const MAX_PROVIDERS = 100
/** Kinds of reasons and results that an answer counts: they are closed lists, this bounds what a damaged row could add. */
const MAX_WORDS = 200

export type Measures = {
  readonly counts: readonly CountRow[]
  /** Rows answered in the last {@link PACE_MINUTES} minutes, by provider. */
  readonly pace: ReadonlyMap<string, number>
  /** The earliest time at which a waiting row of a provider is due, where none is due now. */
  readonly waiting: ReadonlyMap<string, Date>
  /** The rows a minute that a provider's limit allows. */
  readonly perMinute: (provider: string) => number
  readonly nowMs: number
}

/** A job as the API answers it. */
export function presentJob(job: JobRecord, measures: Measures): JobAnswer {
  const { counts } = measures
  const parts = providersOf(job, measures)
  const time = job.state === 'running' || job.state === 'waiting' ? timeLeft(job, parts, measures) : undefined
  const layout = job.layout as Layout | null
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
    done: job.done,
    counts: summed(counts, ({ result }) => result),
    reasons: summed(counts, ({ reason }) => reason),
    providers: parts.slice(0, MAX_PROVIDERS),
    ...(parts.length > MAX_PROVIDERS && { providers_left_out: parts.length - MAX_PROVIDERS }),
    rate: round(parts.reduce((sum, { rate }) => sum + rate, 0)),
    eta_ms: time?.ms ?? null,
    ...(time?.reason !== undefined && { eta_reason: time.reason }),
    ...(layout?.format === 'csv' && {
      ...(layout.header && { columns: layout.header }),
      column: layout.header?.[layout.index] ?? String(layout.index + 1),
    }),
    ...(job.failure !== null && { failure: job.failure }),
    first_result_at: job.first_result_at?.toISOString() ?? null,
    finished_at: job.finished_at?.toISOString() ?? null,
  }
}

function summed(counts: readonly CountRow[], word: (row: CountRow) => string): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const row of counts) {
    const name = word(row)
    if (row.result === '' || name === '' || (!Object.hasOwn(sums, name) && Object.keys(sums).length >= MAX_WORDS))
      continue
    sums[name] = (sums[name] ?? 0) + row.n
  }
  return sums
}

type Part = JobAnswer['providers'][number]

/** The providers of a job, those with most rows first. */
function providersOf(job: JobRecord, { counts, pace, waiting, nowMs }: Measures): readonly Part[] {
  const parts = new Map<string, { rows: number; done: number }>()
  for (const { provider, result, n } of counts) {
    const part = parts.get(provider) ?? { rows: 0, done: 0 }
    if (result === '') part.rows += n
    else part.done += n
    parts.set(provider, part)
  }
  const minutes = minutesRunning(job, nowMs)
  return [...parts]
    .map(([provider, { rows, done }]) => {
      const due = waiting.get(provider)
      return {
        provider,
        rows,
        done,
        rate: round((pace.get(provider) ?? 0) / minutes),
        ...(due &&
          done < rows && {
            waiting_reason: `rows were deferred or rate-limited; the next is due at ${due.toISOString()}`,
          }),
      }
    })
    .sort((a, b) => b.rows - a.rows || (a.provider < b.provider ? -1 : 1))
}

/** The rate of a job that began a moment ago is taken over its own time. */
const minutesRunning = (job: JobRecord, nowMs: number): number => {
  const begun = job.first_result_at?.getTime()
  if (begun === undefined) return PACE_MINUTES
  return Math.min(PACE_MINUTES, Math.max(1 / 6, ((job.finished_at?.getTime() ?? nowMs) - begun) / 60_000))
}

/**
 * The time until the slowest provider is through: by its rate of the last minutes, but not faster than its limit allows, and not before its waiting rows are
 * due. Undefined while nothing was answered yet and no limit says more.
 */
function timeLeft(
  job: JobRecord,
  parts: readonly Part[],
  { perMinute, waiting, nowMs }: Measures,
): { readonly ms: number; readonly reason?: string } | undefined {
  const known = parts.reduce((sum, { rows }) => sum + rows, 0)
  let slowest: { ms: number; reason?: string } | undefined
  for (const { provider, rows, done, rate } of parts) {
    const left = rows - done
    if (left <= 0) continue
    const limit = perMinute(provider)
    const perMinuteNow = Math.min(limit, rate > 0 ? rate : limit)
    if (!Number.isFinite(perMinuteNow) || perMinuteNow <= 0) return undefined
    const wait = Math.max(0, (waiting.get(provider)?.getTime() ?? nowMs) - nowMs)
    const ms = Math.ceil(Math.max((left / perMinuteNow) * 60_000, wait))
    if (slowest && slowest.ms >= ms) continue
    slowest = {
      ms,
      ...(wait > 0 || rate === 0 || limit <= rate * 1.5 ? { reason: `${provider} is the slowest provider` } : {}),
    }
  }
  if (!slowest || known === 0) return undefined
  const unknown = job.rows - known // their providers are not known yet: they are taken to be like the others
  return { ...slowest, ms: Math.ceil(slowest.ms * (1 + Math.max(0, unknown) / known)) }
}

const round = (rate: number): number => Math.round(rate * 10) / 10
