import type { ReplyRow } from './row.ts'
import { ABOUT_US } from './table-client.ts'
import { NOT_FOUND_ABROAD } from './table-languages.ts'
import { AT_THE_MAILBOX, CLOSED_TO_OUTSIDERS } from './table-mailbox.ts'
import { NOT_FOUND } from './table-not-found.ts'
import { ABOUT_SOURCE } from './table-source.ts'

/** The whole table in the order of docs/verification.md: the first matching row decides. */
export const REPLIES: readonly ReplyRow[] = [
  ...CLOSED_TO_OUTSIDERS,
  ...ABOUT_US,
  ...AT_THE_MAILBOX,
  ...ABOUT_SOURCE,
  ...NOT_FOUND,
  NOT_FOUND_ABROAD,
]
