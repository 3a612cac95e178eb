import type { Reason } from '../reasons.ts'

/** One line of the table of replies: words by which servers tell a reason. */
export type ReplyRow = {
  /** Matched against normalized text (lower case, no accents on Latin letters, no addresses, at most 4 KiB). No nested quantifiers: every gap is bounded. */
  readonly pattern: RegExp
  readonly reason: Reason
  /** `recipient`: speaks of the recipient, so it counts from RCPT on only; `any`: may come at any stage. */
  readonly stage: 'any' | 'recipient'
  /** The replies for which it counts. `5xx`: a temporary reply leaves the question open. */
  readonly codes: 'any' | '4xx' | '5xx'
  /** Who says so. */
  readonly seen: string
  /** A reply as it is received: the test of the row. */
  readonly reply: string
}

/** A row in one line: reason, pattern, who says so, a reply. */
export type WriteRow = (reason: Reason, pattern: RegExp, seen: string, reply: string) => ReplyRow

/** A writer of rows that share stage and codes. */
export const rows =
  (stage: ReplyRow['stage'], codes: ReplyRow['codes']): WriteRow =>
  (reason, pattern, seen, reply) => ({ reason, pattern, stage, codes, seen, reply })
