import type { VerifyAnswer } from '../answers/verify.ts'
import type { Reason } from '../mailbox/reasons.ts'
import type { Stage } from '../net/smtp/reply.ts'
import type { Mark } from './block.ts'
import { wordsFor } from './words.ts'

/** What to do: a sentence, or one that says when to try again; `wait` is such as `5 min`, if the answer has it. */
type Advice = string | ((wait: string | undefined) => string)
/** Why a verification ended as it did, as a sentence; and what to do about it, if anything. */
type Words = { readonly why: string; readonly advice?: Advice }

const again =
  (usually: string, rest = '.'): Advice =>
  (wait) =>
    `Try again${wait === undefined ? usually : ` in ${wait}`}${rest}`
const LATER = again(' later')
const SERVER_DOWN = again(' later', '; if it lasts, the mail server is down or does not accept connections from here.')

export const REASONS: Readonly<Record<Reason, Words>> = {
  mailbox_exists: { why: 'The mail server accepts mail for this address.' },
  accept_all: {
    why: 'The mail server accepts every address of this domain, so its answer does not show whether the mailbox exists.',
  },
  unverifiable_provider: {
    why: 'The provider accepts addresses that do not exist, so its answer does not show whether the mailbox exists.',
  },
  mailbox_not_found: { why: 'The mail server says that the mailbox does not exist.' },
  mailbox_disabled: { why: 'The mail server says that the mailbox is disabled.' },
  domain_not_found: { why: 'The domain does not exist.', advice: 'Check the domain for a typing error.' },
  no_mail_host: { why: 'The domain has no mail server.', advice: 'Check the domain for a typing error.' },
  null_mx: { why: 'The domain declares that it accepts no mail (null MX, RFC 7505).' },
  relay_denied: { why: 'The mail server does not accept mail for this domain.' },
  recipient_restricted: { why: 'The mailbox, group or list accepts no mail from outside.' },
  mailbox_full: { why: 'The mailbox exists but is full.', advice: LATER },
  greylisted: {
    why: 'The mail server uses greylisting (try again later), so it is not known whether the mailbox exists.',
    advice: again('', ', from the same source address.'),
  },
  recipient_throttled: { why: 'The mailbox exists, but receives too much mail at the moment.' },
  temporary_failure: {
    why: 'The mail server reports a temporary fault, so it is not known whether the mailbox exists.',
    advice: LATER,
  },
  own_limit: {
    why: 'This service has reached its own limit toward the mail server, so it did not connect.',
    advice: LATER,
  },
  verification_in_progress: {
    why: 'The mail server is still looking the recipient up, so it is not known whether the mailbox exists.',
    advice: again(' in a few seconds'),
  },
  source_blocked: {
    why: 'The mail server refuses our source address, so it is not known whether the mailbox exists.',
    advice: 'Use another source address (pool), or request removal from the blacklist named in the reply.',
  },
  reverse_dns_required: {
    why: 'The mail server requires a matching PTR record of our source address, so it is not known whether the mailbox exists.',
    advice: 'Set a PTR record for the source address to a name that resolves to it; mailsonde doctor shows it.',
  },
  helo_refused: {
    why: 'The mail server refuses our HELO name, so it is not known whether the mailbox exists.',
    advice: 'Set --helo to a name that resolves to the source address; mailsonde doctor shows it.',
  },
  sender_refused: {
    why: 'The mail server refuses our sender address, so it is not known whether the mailbox exists.',
    advice: 'Set --mail-from to an address whose domain lets the source address send (SPF).',
  },
  policy: {
    why: 'The mail server refuses us by its own policy, so it is not known whether the mailbox exists.',
  },
  unclear_refusal: {
    why: 'The mail server refused without a reason that is known, so it is not known whether the mailbox exists.',
  },
  tls_required: { why: 'The mail server requires STARTTLS, so it is not known whether the mailbox exists.' },
  rate_limited: {
    why: 'The mail server limits our rate, so it is not known whether the mailbox exists.',
    advice: LATER,
  },
  too_many_recipients: {
    why: 'The mail server limits the recipients of a session, so it is not known whether the mailbox exists.',
    advice: LATER,
  },
  connect_timeout: { why: 'The mail server did not answer the connection in time.', advice: SERVER_DOWN },
  connect_refused: { why: 'The mail server refused the connection.', advice: SERVER_DOWN },
  network_unreachable: { why: 'There is no route to the mail server.', advice: SERVER_DOWN },
  port25_blocked: {
    why: 'Connections from here to port 25 are blocked, so no mail server can be contacted.',
    advice: 'Ask the network provider to open port 25, or verify from another node.',
  },
  dns_failure: {
    why: 'The mail hosts of the domain could not be looked up.',
    advice: again(' later', '; mailsonde doctor checks the resolver.'),
  },
  tls_failure: { why: 'The TLS handshake with the mail server failed.', advice: LATER },
  protocol_error: { why: 'The reply of the mail server is not valid SMTP.', advice: LATER },
  connection_lost: { why: 'The mail server closed the connection.', advice: LATER },
  timeout: { why: 'The mail server did not answer in time.', advice: again('', ' with a longer timeout.') },
  unsafe_address: {
    why: 'The mail server has a private or reserved address, to which no connection is made.',
    advice: 'If the network is yours, allow it with --allow-network.',
  },
  bad_syntax: { why: 'This is not an e-mail address (RFC 5321 §4.1.2).', advice: 'Check it for a typing error.' },
  smtputf8_required: {
    why: 'The local part is not ASCII, and the mail server does not accept such addresses (SMTPUTF8, RFC 6531).',
  },
}

/** What to do about a reason, if anything; `wait`: the time after which the same may be asked again. */
export function adviceFor(reason: string, wait: string | undefined): string | undefined {
  const advice = wordsFor(REASONS, reason)?.advice
  if (typeof advice === 'function') return advice(wait)
  const sentences = [advice, wait === undefined ? undefined : `Try again in ${wait}.`]
  return sentences.filter((one) => one !== undefined).join(' ') || undefined
}

export const DELIVERABILITY: Readonly<Record<VerifyAnswer['deliverability'], readonly [Mark, string]>> = {
  deliverable: ['good', 'Deliverable'],
  risky: ['warn', 'Risky'],
  undeliverable: ['bad', 'Undeliverable'],
  unknown: ['open', 'Unknown'],
}

/** The stage that a session reached (RFC 5321 §4.1.1). */
export const STAGES: Readonly<Record<Stage, string>> = {
  connect: 'the connection',
  banner: 'the greeting',
  ehlo: 'EHLO',
  starttls: 'STARTTLS',
  mail: 'MAIL FROM',
  rcpt: 'RCPT TO',
  data: 'DATA',
  rset: 'RSET',
  quit: 'QUIT',
}
