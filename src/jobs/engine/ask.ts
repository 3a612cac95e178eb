import type { Json, JsonRecord } from '../../base/json.ts'
import type { JobKind } from '../../store/postgres/schema.ts'

/** What asking about one row gave: the words that jobs count by, and the answer of the operation. */
export type Asked = {
  /** `result` of verify, `status` of check, `verdict` of blacklist. */
  readonly result: string
  /** The reason where the kind has one, else ''. */
  readonly reason: string
  readonly answer: JsonRecord
  /** When to ask again, as the answer says it. */
  readonly retryAfterMs?: number
}

/** Asks about one row by the operation of the job's kind. Rejects only with the signal's reason, and for faults of ours. */
export type Ask = (
  kind: JobKind,
  input: string,
  options: { readonly [key: string]: Json },
  signal: AbortSignal,
) => Promise<Asked>

/** Who answers for the rows of a domain, with the limits toward it over all nodes. */
export type RowProvider = {
  readonly id: string
  /** Rows that may be asked about at a time. */
  readonly concurrent: number
  /** Rows a minute. */
  readonly perMinute: number
}

/** Finds the provider of a domain; one that cannot be found out is the domain's own. */
export type FindProvider = (kind: JobKind, domain: string, signal: AbortSignal) => Promise<RowProvider>
