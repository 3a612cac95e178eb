/** What the mail server did (docs/verification.md). */
export type Result = 'accepted' | 'catch_all' | 'rejected' | 'deferred' | 'blocked' | 'unreachable' | 'invalid'
export type Deliverability = 'deliverable' | 'risky' | 'undeliverable' | 'unknown'
type VerifyOutcome = { readonly result: Result; readonly deliverability: Deliverability }

/** All facts about a reason. */
export type ReasonRow = VerifyOutcome & {
  /** The result in place of `result` if the reply was permanent (5xx): such a question is not repeated unchanged. */
  readonly permanentResult: Result | undefined
  /**
   * The subject of the reason. `recipient`: the server judged the recipient, so it accepts us as a client. `client`:
   * our address, name, sender, rate or content. `server`: the mail host. `domain`: the DNS of the domain. `address`:
   * the syntax of the address.
   */
  readonly about: 'recipient' | 'client' | 'server' | 'domain' | 'address'
  /**
   * How certain the deliverability is, 0 to 100; 0 if it is unknown. `evidence`: depends on the reply and the catch-all
   * result (docs/verification.md).
   */
  readonly confidence: number | 'evidence'
  /**
   * Whether the same question may get another answer later, so that `retry_after_ms` is set if the reply names a delay.
   */
  readonly temporary: boolean
  /** The assumed delay in ms if a temporary reply names none. */
  readonly defaultRetryMs: number | undefined
  /**
   * Whether another source address may get another answer. `with_own_helo`: only if the HELO name depends on the
   * address.
   */
  readonly otherSource: 'no' | 'may_help' | 'with_own_helo'
  /** The event for the circuit breaker of the source address at this provider. */
  readonly sourceHealth: 'good' | 'refused' | 'throttled' | 'none'
  /** Whether the answer is cached. `when_conclusive`: only if catch-all is not open any more. */
  readonly cached: 'yes' | 'no' | 'when_conclusive'
  /**
   * As the reply about a made-up mailbox: it is refused because it does not exist, so the domain is not a catch-all.
   */
  readonly absent: boolean
  /** Whether the host counts as down and gets no new connection for a minute. */
  readonly hostDown: boolean
  /**
   * How a row of a bulk job with this reason is repeated (docs/jobs.md). `as_told`: at the time in the reply; `steps`:
   * after 5 and 30 minutes and 2 hours; `backoff`: later each time, because our address was refused; `own_limit`: as
   * soon as our limit permits, any number of times.
   */
  readonly bulkRetry: 'no' | 'as_told' | 'steps' | 'backoff' | 'own_limit'
  /** Of faults without a reply, the one of the highest rank is the verdict; 0: not such a fault. */
  readonly faultRank: number
}

type Rest = Omit<ReasonRow, keyof VerifyOutcome | 'confidence'>
const row = (
  result: Result,
  deliverability: Deliverability,
  confidence: ReasonRow['confidence'],
  rest: Rest,
): ReasonRow => ({
  result,
  deliverability,
  confidence,
  ...rest,
})

const MINUTE = 60_000
const FINAL: Omit<Rest, 'about'> = {
  permanentResult: undefined,
  temporary: false,
  defaultRetryMs: undefined,
  otherSource: 'no',
  sourceHealth: 'none',
  cached: 'no',
  absent: false,
  hostDown: false,
  bulkRetry: 'no',
  faultRank: 0,
}
const recipient: Rest = { ...FINAL, about: 'recipient', sourceHealth: 'good', cached: 'yes' }
const absent: Rest = { ...recipient, absent: true }
const domain: Rest = { ...FINAL, about: 'domain', cached: 'yes' }
const server: Rest = { ...FINAL, about: 'server' }
const later: Rest = { ...server, temporary: true, permanentResult: 'blocked', bulkRetry: 'steps' }
const client: Rest = { ...FINAL, about: 'client' }
const refused: Rest = { ...client, otherSource: 'may_help', sourceHealth: 'refused', bulkRetry: 'backoff' }
const fault = (faultRank: number): Rest => ({ ...server, bulkRetry: 'steps', faultRank })

/** The closed list of reasons with all their facts. */
const TABLE = {
  mailbox_exists: row('accepted', 'deliverable', 'evidence', { ...recipient, cached: 'when_conclusive' }),
  accept_all: row('catch_all', 'risky', 90, recipient),
  unverifiable_provider: row('accepted', 'unknown', 0, { ...recipient, cached: 'when_conclusive' }),
  mailbox_not_found: row('rejected', 'undeliverable', 'evidence', absent),
  mailbox_disabled: row('rejected', 'undeliverable', 95, absent),
  domain_not_found: row('rejected', 'undeliverable', 100, domain),
  no_mail_host: row('rejected', 'undeliverable', 98, domain),
  null_mx: row('rejected', 'undeliverable', 100, domain),
  // the domain's own server may be misconfigured
  relay_denied: row('rejected', 'undeliverable', 75, { ...recipient, cached: 'no' }),
  recipient_restricted: row('rejected', 'undeliverable', 95, recipient),
  mailbox_full: row('deferred', 'risky', 90, {
    ...recipient,
    permanentResult: 'rejected',
    temporary: true,
    cached: 'no',
  }),
  greylisted: row('deferred', 'unknown', 0, {
    ...later,
    sourceHealth: 'good',
    defaultRetryMs: 5 * MINUTE, // postgrey's delay
    bulkRetry: 'as_told',
  }),
  recipient_throttled: row('deferred', 'deliverable', 85, {
    ...recipient,
    temporary: true,
    cached: 'no',
    bulkRetry: 'steps',
  }),
  temporary_failure: row('deferred', 'unknown', 0, later),
  /** One of our limits toward the host or provider delayed the question: no server refused anything. */
  own_limit: row('deferred', 'unknown', 0, { ...FINAL, about: 'client', temporary: true, bulkRetry: 'own_limit' }),
  verification_in_progress: row('deferred', 'unknown', 0, { ...later, defaultRetryMs: 15_000, bulkRetry: 'as_told' }),
  source_blocked: row('blocked', 'unknown', 0, refused),
  reverse_dns_required: row('blocked', 'unknown', 0, refused),
  helo_refused: row('blocked', 'unknown', 0, { ...refused, otherSource: 'with_own_helo' }),
  sender_refused: row('blocked', 'unknown', 0, client),
  policy: row('blocked', 'unknown', 0, client),
  /** A permanent refusal that no row of the reply table and no code explains: it blames nobody. */
  unclear_refusal: row('blocked', 'unknown', 0, client),
  tls_required: row('blocked', 'unknown', 0, client),
  rate_limited: row('blocked', 'unknown', 0, { ...refused, sourceHealth: 'throttled', temporary: true }),
  too_many_recipients: row('blocked', 'unknown', 0, { ...client, sourceHealth: 'throttled', bulkRetry: 'backoff' }),
  connect_timeout: row('unreachable', 'unknown', 0, { ...fault(3), hostDown: true }),
  connect_refused: row('unreachable', 'unknown', 0, { ...fault(4), hostDown: true }),
  // no route, or a source address that cannot be bound
  network_unreachable: row('unreachable', 'unknown', 0, { ...fault(1), otherSource: 'may_help' }),
  port25_blocked: row('unreachable', 'unknown', 0, { ...client, bulkRetry: 'steps' }),
  dns_failure: row('unreachable', 'unknown', 0, { ...server, bulkRetry: 'steps' }),
  tls_failure: row('unreachable', 'unknown', 0, fault(8)),
  protocol_error: row('unreachable', 'unknown', 0, fault(7)),
  connection_lost: row('unreachable', 'unknown', 0, fault(5)),
  timeout: row('unreachable', 'unknown', 0, fault(6)),
  /** A row of a job that could not be asked about because of a fault of ours, or of what the service depends on. */
  internal_error: row('unreachable', 'unknown', 0, { ...client, bulkRetry: 'steps' }),
  unsafe_address: row('unreachable', 'unknown', 0, { ...fault(2), bulkRetry: 'no' }),
  bad_syntax: row('invalid', 'undeliverable', 100, { ...FINAL, about: 'address' }),
  smtputf8_required: row('rejected', 'undeliverable', 95, { ...server, cached: 'yes' }),
} as const satisfies Record<string, ReasonRow>

/** Why a verification ended as it did: the stable sub-status of an answer. */
export type Reason = keyof typeof TABLE

export const REASONS = Object.keys(TABLE) as readonly Reason[]

/** Whether a text of an answer is a reason that this version knows. */
export const isReason = (text: string): text is Reason => Object.hasOwn(TABLE, text)

export const reasonRow = (reason: Reason): ReasonRow => TABLE[reason]

/**
 * The result and deliverability of a reason, as in the table of docs/verification.md. `code` is the SMTP reply code, 0
 * or absent without a reply.
 */
export function outcomeOf(reason: Reason, code = 0): VerifyOutcome {
  const { result, permanentResult, deliverability } = reasonRow(reason)
  return { result: code >= 500 ? (permanentResult ?? result) : result, deliverability }
}

/** Whether the server judged the recipient: it then accepts us as a client. */
export const isAboutRecipient = (reason: Reason): boolean => reasonRow(reason).about === 'recipient'

/** Whether another source address may get another answer (docs/verification.md, "Source addresses"). */
export function anotherSourceMayHelp(reason: Reason, heloFollowsSource: boolean): boolean {
  const { otherSource } = reasonRow(reason)
  return otherSource === 'may_help' || (otherSource === 'with_own_helo' && heloFollowsSource)
}
