import type { ColumnType, Generated, JSONColumnType } from 'kysely'
import type { BadRowReason } from '../../answers/jobs.ts'
import type { Json } from '../../base/json.ts'

type Time = ColumnType<Date, Date, Date>

/** What an address said to the question whether it wants mail. */
export type ConsentState = 'asked' | 'given' | 'refused'

export type JobKind = 'verify' | 'check' | 'blacklist'
export type JobState = 'receiving' | 'waiting' | 'running' | 'paused' | 'done' | 'canceled' | 'failed'

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
  readonly received: Generated<number>
  readonly next_line: Generated<number>
  readonly rows: Generated<number>
  readonly own_table: Generated<boolean>
  readonly has_domains: Generated<boolean>
  readonly planned_at: ColumnType<Date, Date | undefined, Date>
  readonly duplicates: Generated<number>
  readonly bad_rows: Generated<number>
  readonly failure: string | null
}

/** A row's own columns: by place (CSV), or by name (NDJSON, JSON). */
export type RowColumns = readonly string[] | { readonly [name: string]: Json }

type JsonColumn = ColumnType<unknown, string, string>

export type MonitorsTable = {
  readonly number: ColumnType<number, never, never>
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly kind: string
  readonly target: string
  readonly domain: string
  readonly organization: Generated<string>
  readonly every_ms: number
  readonly options: JsonColumn
  readonly notify: JsonColumn
  readonly conditions: JsonColumn
  readonly quiet: ColumnType<unknown, string | null, string | null>
  readonly is_public: boolean
  readonly enabled: boolean
  readonly created_at: Time
  readonly next_run: Time
  readonly message_due: Date | null
  readonly leased_until: ColumnType<Date, never, Date>
  readonly fence: Generated<number>
  readonly ran_at: Date | null
  readonly state: Generated<string>
  readonly failures: Generated<number>
  readonly last: ColumnType<unknown, string | undefined, string>
  readonly known: string | null
  readonly notifier: ColumnType<unknown, string | undefined, string>
  readonly stored: Generated<number>
  readonly unsubscribed: ColumnType<unknown, string | undefined, string>
  readonly labels: ColumnType<readonly string[], readonly string[] | undefined, readonly string[]>
  readonly contact: Generated<string>
  readonly note: Generated<string>
  readonly facts: ColumnType<unknown, string | undefined, string>
  readonly changed_at: Date | null
}

/** A finding that a key accepts, for a domain or, with `domain` '', for its monitors with a label. */
export type AcceptedTable = {
  readonly number: ColumnType<number, never, never>
  readonly id: string
  readonly owner: string
  readonly finding: string
  readonly domain: string
  readonly label: string
  readonly reason: string
  readonly author: string
  readonly created_at: Time
  readonly until: Time
  /** When its end is told next; null: never again. */
  readonly tell_at: Date | null
}

export type WebhooksTable = {
  readonly number: ColumnType<number, never, never>
  readonly id: string
  readonly owner: string
  readonly url: string
  readonly secret: string
  readonly old_secret: string | null
  readonly old_secret_until: Date | null
  readonly state: Generated<string>
  readonly reason: string | null
  readonly created_at: Time
  readonly stored: Generated<number>
}

export type DeliveriesTable = {
  readonly number: ColumnType<number, never, never>
  readonly id: string
  readonly webhook: ColumnType<number | null, number | null, never>
  readonly monitor: ColumnType<number | null, number | null, never>
  readonly owner: Generated<string>
  readonly channel: JsonColumn
  readonly type: string
  readonly body: string
  readonly created_at: Time
  readonly state: Generated<string>
  readonly next_attempt: Date | null
  readonly leased_until: ColumnType<Date, never, Date>
  readonly attempts: ColumnType<unknown, string | undefined, string>
  readonly tries: Generated<number>
}

export type StoredAnswersTable = {
  readonly number: ColumnType<number, never, never>
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

/** The tables and columns that statements of the query builder name; tables.ts has all. */
export type Schema = {
  readonly 'mailsonde.monitors': MonitorsTable
  readonly 'mailsonde.accepted': AcceptedTable
  readonly 'mailsonde.webhooks': WebhooksTable
  readonly 'mailsonde.deliveries': DeliveriesTable
  readonly 'mailsonde.mail_consents': {
    readonly owner: string
    readonly address: string
    readonly id: string
    readonly state: ConsentState
    readonly asked_at: Time
    readonly answered_at: Time | null
  }
  readonly 'mailsonde.stored_answers': StoredAnswersTable
  readonly 'mailsonde.jobs': JobsTable
  readonly 'mailsonde.job_rows': { readonly job: number }
  readonly 'mailsonde.job_bad_rows': {
    readonly job: number
    readonly line: number
    readonly reason: BadRowReason
    readonly detail: string
    readonly text: string
  }
  readonly 'mailsonde.rows': {
    readonly scope: string
    readonly repository: string
    readonly key: string
    readonly value: string
    readonly version: Generated<number>
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
    readonly body_octets: number | null
  }
}
