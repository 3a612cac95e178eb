import type { Reason } from '../reasons.ts'

/** One line of the table of replies: words by which servers tell a reason. */
export type ReplyRow = {
  /** Matched against folded text (lower case, no accents on Latin letters, no addresses, at most 4 KiB). No nested quantifiers: every gap is bounded. */
  readonly pattern: RegExp
  readonly reason: Reason
  /** `recipient`: speaks of the recipient, so it counts from RCPT on only; `any`: may come at any stage. */
  readonly stage: 'any' | 'recipient'
  /** Counts for permanent replies (5xx) only: a temporary one leaves the question open. */
  readonly permanent: boolean
  /** Who says so. */
  readonly seen: string
  /** A reply as it is received: the test of the row. */
  readonly reply: string
}

/** A row in one line: reason, pattern, who says so, a reply. */
export type WriteRow = (reason: Reason, pattern: RegExp, seen: string, reply: string) => ReplyRow

/** A writer of rows that share stage and permanence. */
export const rows =
  (stage: ReplyRow['stage'], permanent: boolean): WriteRow =>
  (reason, pattern, seen, reply) => ({ reason, pattern, stage, permanent, seen, reply })
