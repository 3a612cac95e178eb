import { ABOUT_US } from './replies-about-us.ts'
import { AT_THE_MAILBOX, CLOSED_TO_OUTSIDERS } from './replies-mailbox.ts'
import { NOT_FOUND } from './replies-not-found.ts'
import { NOT_FOUND_ABROAD } from './replies-not-found-abroad.ts'
import { ABOUT_SOURCE } from './replies-source.ts'
import type { ReplyRow } from './reply-row.ts'

/** The whole table in the order of docs/verification.md: the first row that matches decides. */
export const REPLIES: readonly ReplyRow[] = [
  ...CLOSED_TO_OUTSIDERS,
  ...ABOUT_US,
  ...AT_THE_MAILBOX,
  ...ABOUT_SOURCE,
  ...NOT_FOUND,
  ...NOT_FOUND_ABROAD,
]
