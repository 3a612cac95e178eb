/** What the mail server did (docs/verification.md). */
export type Result = 'accepted' | 'catch_all' | 'rejected' | 'deferred' | 'blocked' | 'unreachable' | 'invalid'
export type Deliverability = 'deliverable' | 'risky' | 'undeliverable' | 'unknown'
export type VerifyOutcome = { readonly result: Result; readonly deliverability: Deliverability }

const row = (result: Result, deliverability: Deliverability): VerifyOutcome => ({ result, deliverability })
const notThere = row('rejected', 'undeliverable')
const later = row('deferred', 'unknown')
const aboutUs = row('blocked', 'unknown')
const notReached = row('unreachable', 'unknown')

/** The closed list of reasons and what each means. `mailbox_full` also looks at the code: see {@link outcomeOf}. */
const OUTCOMES = {
  mailbox_exists: row('accepted', 'deliverable'),
  accept_all: row('catch_all', 'risky'),
  unverifiable_provider: row('accepted', 'unknown'),
  mailbox_not_found: notThere,
  mailbox_disabled: notThere,
  domain_not_found: notThere,
  no_mail_host: notThere,
  null_mx: notThere,
  relay_denied: notThere,
  recipient_restricted: notThere,
  mailbox_full: row('rejected', 'risky'),
  greylisted: later,
  recipient_throttled: row('deferred', 'deliverable'),
  temporary_failure: later,
  verification_in_progress: later,
  source_blocked: aboutUs,
  reverse_dns_required: aboutUs,
  helo_refused: aboutUs,
  sender_refused: aboutUs,
  policy: aboutUs,
  tls_required: aboutUs,
  rate_limited: aboutUs,
  too_many_recipients: aboutUs,
  connect_timeout: notReached,
  connect_refused: notReached,
  network_unreachable: notReached,
  port25_blocked: notReached,
  dns_failure: notReached,
  tls_failure: notReached,
  protocol_error: notReached,
  connection_lost: notReached,
  timeout: notReached,
  unsafe_address: notReached,
  bad_syntax: row('invalid', 'undeliverable'),
  smtputf8_required: notThere,
} as const satisfies Record<string, VerifyOutcome>

/** Why a verification ended as it did: the stable sub-status of an answer. */
export type Reason = keyof typeof OUTCOMES

/** Every reason, in the order of the table. */
export const REASONS = Object.keys(OUTCOMES) as readonly Reason[]

/** The result and deliverability of a reason, as the table of docs/verification.md has them. `code` is the SMTP reply code, 0 or absent where nothing answered. */
export function outcomeOf(reason: Reason, code = 0): VerifyOutcome {
  if (reason === 'mailbox_full' && code >= 400 && code < 500) return row('deferred', 'risky')
  return OUTCOMES[reason]
}
