import type { Json, JsonRecord } from '../../base/json.ts'
import type { JobKind } from '../../store/postgres/schema.ts'

/** The result of one row: the words by which jobs are counted, and the answer of the operation. */
export type Asked = {
  /** `result` of verify, `status` of check, `verdict` of blacklist. */
  readonly result: string
  /** The reason if the kind has one, else ''. */
  readonly reason: string
  readonly answer: JsonRecord
  /** When to try again, according to the answer. */
  readonly retryAfterMs?: number
}

/**
 * Runs the operation of the job's kind for one row. `begin` is awaited before a mail host is contacted: it rejects once
 * the row is no longer to be asked. Rejects only with the signal's reason, or for a bug.
 */
export type Ask = (
  kind: JobKind,
  input: string,
  options: { readonly [key: string]: Json },
  signal: AbortSignal,
  begin?: () => Promise<void>,
) => Promise<Asked>

/** The limits toward a provider across all nodes. */
export type RowProvider = {
  readonly id: string
  /** Rows that may be asked at a time. */
  readonly concurrent: number
  /** Rows per minute. */
  readonly perMinute: number
}

/** Finds the provider of a domain; if it cannot be determined, the domain is its own provider. */
export type FindProvider = (kind: JobKind, domain: string, signal: AbortSignal) => Promise<RowProvider>
