import type { Reason } from './reasons.ts'

/** A reason that says that the server talked about the mailbox, and so has nothing against us. */
export const isAboutMailbox = (reason: Reason): boolean =>
  [
    'mailbox_exists',
    'accept_all',
    'unverifiable_provider',
    'mailbox_not_found',
    'mailbox_disabled',
    'mailbox_full',
    'recipient_restricted',
    'recipient_throttled',
    'relay_denied',
  ].includes(reason)
