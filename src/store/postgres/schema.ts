import type { ColumnType, Generated, JSONColumnType } from 'kysely'
import type { Json } from '../../base/json.ts'

/** 64-bit integers arrive as text; ours stay far below 2^53. */
type Bigint = ColumnType<string, number | string, number | string>
type Time = ColumnType<Date, Date, Date>

export type JobKind = 'verify' | 'check' | 'blacklist'
export type JobState = 'receiving' | 'waiting' | 'running' | 'paused' | 'done' | 'canceled' | 'failed'
export type RowState = 'new' | 'ready' | 'queued' | 'done' | 'duplicate'

export type JobsTable = {
  readonly number: Generated<number>
  readonly id: string
  readonly kind: JobKind
  readonly name: string
  readonly owner: string
  readonly state: JobState
  readonly options: JSONColumnType<{ readonly [key: string]: Json }>
  readonly layout: JSONColumnType<{ readonly [key: string]: Json }> | null
  readonly created_at: Generated<Date>
  readonly touched_at: ColumnType<Date, Date | undefined, Date>
  readonly expires_at: Time
  readonly finished_at: Date | null
  readonly first_result_at: Date | null
  readonly received: ColumnType<string, number | undefined, number>
  readonly next_line: ColumnType<string, number | undefined, number>
  readonly rows: ColumnType<string, number | undefined, number>
  readonly done: ColumnType<string, number | undefined, number>
  readonly duplicates: ColumnType<string, number | undefined, number>
  readonly bad_rows: ColumnType<string, number | undefined, number>
  readonly failure: string | null
}

/** A row's own columns: by place (CSV), or by name (NDJSON, JSON). */
export type RowColumns = readonly string[] | { readonly [name: string]: Json }

export type JobRowsTable = {
  readonly job: number
  readonly line: Bigint
  readonly input: string
  readonly columns: JSONColumnType<RowColumns> | null
  readonly key: string
  readonly domain: string
  readonly first_line: Bigint | null
  readonly copies: Generated<number>
  readonly provider: string | null
  readonly state: Generated<RowState>
  readonly due: Date | null
  readonly attempts: Generated<number>
  readonly fence: Generated<string>
  readonly chunk: string | null
  readonly first_asked_at: Date | null
  readonly result: string | null
  readonly reason: string | null
  readonly answer: JSONColumnType<{ readonly [key: string]: Json }> | null
  readonly answered_at: Date | null
}

export type StoredAnswersTable = {
  readonly number: ColumnType<string, never, never>
  readonly id: string
  readonly kind: string
  readonly owner: string
  readonly subject: string
  readonly domain: string | null
  readonly email: string | null
  readonly ip: string | null
  readonly status: string
  readonly score: number | null
  readonly saved_at: Time
  readonly expires_at: Time
  readonly answer: string | null
}

export type Schema = {
  readonly 'mailsonde.stored_answers': StoredAnswersTable
  readonly 'mailsonde.jobs': JobsTable
  readonly 'mailsonde.job_rows': JobRowsTable
  readonly 'mailsonde.job_bad_rows': {
    readonly job: number
    readonly line: Bigint
    readonly reason: string
    readonly text: string
  }
  readonly 'mailsonde.job_domains': {
    readonly job: number
    readonly domain: string
    readonly provider: string | null
    readonly leased_until: ColumnType<Date, Date | undefined, Date>
  }
  readonly 'mailsonde.job_pace': {
    readonly job: number
    readonly provider: string
    readonly minute: Time
    readonly n: Bigint
  }
  readonly 'mailsonde.job_counts': {
    readonly job: number
    readonly provider: string
    readonly result: string
    readonly reason: string
    readonly n: Bigint
  }
  readonly 'mailsonde.provider_rates': {
    readonly provider: string
    readonly tokens: number
    readonly at: Time
    readonly granted: number
  }
  readonly 'mailsonde.rows': {
    readonly scope: string
    readonly repository: string
    readonly key: string
    readonly value: string
    readonly version: Generated<string>
  }
  readonly 'mailsonde.idempotency_keys': {
    readonly owner: string
    readonly key: string
    readonly request: string
    readonly claim: Generated<string>
    readonly seed: string
    readonly leased_until: Time
    readonly expires_at: Time
    readonly status: number | null
    readonly answer: string | null
    readonly body_sha256: string | null
    readonly body_octets: Bigint | null
  }
}
