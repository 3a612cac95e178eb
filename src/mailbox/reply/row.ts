import type { Reason } from '../reasons.ts'

/** One row of the reply table: a text by which servers express a reason. */
export type ReplyRow = {
  /**
   * Matched against normalized text (lower case, no accents on Latin letters, no addresses, at most 4 KiB). No nested
   * quantifiers: every gap is bounded.
   */
  readonly pattern: RegExp
  readonly reason: Reason
  /** `recipient`: is about the recipient, so it applies from RCPT on only; `any`: may occur at any stage. */
  readonly stage: 'any' | 'recipient'
  /** The replies to which it applies. `5xx`: a temporary reply leaves the question open. */
  readonly codes: 'any' | '4xx' | '5xx'
  /** The software or provider that sends it. */
  readonly seen: string
  /** An example reply: the test of the row. */
  readonly reply: string
  /** What was refused, where the reason has several: for explanations. */
  readonly detail: Detail | undefined
}

/** What the reasons `sender_refused` and `policy` have in them. */
export type Detail = 'unauthenticated' | 'login_required' | 'message_size' | 'message_content'

/** A row in one line: reason, pattern, sender, example reply. */
type WriteRow = (reason: Reason, pattern: RegExp, seen: string, reply: string, detail?: Detail) => ReplyRow

/** Creates rows that share stage and codes. */
export const rows =
  (stage: ReplyRow['stage'], codes: ReplyRow['codes']): WriteRow =>
  (reason, pattern, seen, reply, detail) => ({ reason, pattern, stage, codes, seen, reply, detail })

/** Matches what one of the patterns does: the words of a row, several to a line. They have the same flags. */
export const anyOf = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), patterns[0]?.flags)

/** What a server calls a mailbox, its address or its owner. */
export const BOX =
  '(?:users?(?! agent)|user ?names?|recipients?|mail ?box(?:es)?|in-?box(?:es)?|accounts?|address(?:es)?|addressees?|alias(?:es)?|customers?|persons?|e-?mails?|local.?part|receivers?|rcpts?|subscribers?|members?|(?:mail ?)?drop)'
