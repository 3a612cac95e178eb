import type { VerifyAnswer } from '../answers/verify.ts'
import type { Reason } from '../mailbox/reasons.ts'
import type { Stage } from '../net/smtp/reply.ts'
import {
  type Attempt,
  type Block,
  blocksOf,
  bullets,
  code,
  codes,
  conclude,
  type Document,
  type Fact,
  facts,
  heading,
  type Inline,
  type Line,
  type Mark,
  type Parts,
  text,
} from './block.ts'
import { duration, footerOf, wordsFor } from './words.ts'

/**
 * A verification: the verdict as a sentence, what to do, the reply to each source address, and further facts about the
 * address.
 */
export function verifyDocument(answer: VerifyAnswer, version: string): Document {
  const { email, deliverability, transcript = [] } = answer
  const [mark, badge] = DELIVERABILITY[deliverability]
  return {
    title: `Verification: ${email}`,
    blocks: blocksOf([
      conclude(email, mark, badge, whyOf(answer.reason), notesOf(answer)),
      adviceParts(answer),
      replyParts(answer),
      heading(2, 'Evidence', 'evidence'),
      attemptParts(answer),
      transcript.length > 0 && {
        kind: 'conversation',
        conversation: {
          label: 'SMTP session',
          lines: transcript.map(({ from, text }) => ({ from, text })),
        },
      },
      factsOf(answer),
    ]),
    footer: footerOf(version, answer.observed_at),
  }
}

/** The sentence for a reason; an unknown reason of a newer service is shown by its name. */
export const whyOf = (reason: string): string =>
  wordsFor(REASONS, reason)?.why ?? `The verification ended with "${reason.replaceAll('_', ' ')}".`

function notesOf({ confidence, deliverability, cached, peer, ...answer }: VerifyAnswer): Line[] {
  return [
    ...(deliverability === 'unknown' ? [] : [[`Confidence ${confidence} of 100.`]]),
    ...(cached ? [['This is a cached answer; the mail server was not asked again.']] : []),
    ...(peer === undefined ? [] : [['Asked by the node ', code(peer), '.']]),
    ...(answer.suggestion === '' ? [] : [['Did you mean ', { strong: answer.suggestion }, '?']]),
  ]
}

function adviceParts({ reason, retry_after_ms }: VerifyAnswer): Parts {
  const advice = adviceFor(reason, retry_after_ms === undefined ? undefined : duration(retry_after_ms))
  return advice !== undefined && text({ strong: 'What to do: ' }, advice)
}

const replyParts = ({ message, code: reply, mx_server }: VerifyAnswer): Parts =>
  message !== '' && {
    kind: 'seen',
    label: mx_server === '' ? 'Detail' : `Reply of ${mx_server}`,
    text: replyOf(reply, message),
  }

/** A reply as received; 0 stands for none. */
const replyOf = (reply: number, message: string): string => (reply === 0 ? message : `${reply} ${message}`)

const attemptParts = ({ attempts, message, skipped_sources = [] }: VerifyAnswer): Parts => [
  attempts.length === 0
    ? text('No mail server was contacted.')
    : {
        kind: 'attempts',
        attempts: {
          label: attempts.length === 1 ? 'What the mail server said' : 'Replies to each source address',
          attempts: attempts.map((one) => attemptOf(one, attempts.length === 1 ? message : '')),
        },
      },
  skipped_sources.length > 0 && [
    text('Source addresses that were not used:'),
    bullets(skipped_sources.map(({ address, reason }) => [code(address), `: ${reason.replaceAll('_', ' ')}`])),
  ],
]

/** One attempt. A reply that is already `shown` above is not repeated. */
function attemptOf(one: VerifyAnswer['attempts'][number], shown: string): Attempt {
  const { ip_used, mx_server, address, stage, code: reply, message, reason, duration_ms, peer } = one
  return {
    from: ip_used === '' ? 'this machine' : ip_used,
    to: [code(mx_server), ...(address === '' || address === mx_server ? [] : [' (', code(address), ')'])],
    outcome: { mark: markOf(reason), text: whyOf(reason) },
    ...(message === '' || message === shown ? {} : { reply: replyOf(reply, message) }),
    notes: [
      [
        `At ${wordsFor(STAGES, stage) ?? stage}, after ${duration(duration_ms)}`,
        ...(peer === undefined ? [] : [', from the node ', code(peer)]),
        '.',
      ],
    ],
  }
}

const GOOD = new Set(['mailbox_exists'])
const BAD = new Set([
  'mailbox_not_found',
  'mailbox_disabled',
  'null_mx',
  'relay_denied',
  'recipient_restricted',
  'smtputf8_required',
])
const markOf = (reason: string): Mark => (GOOD.has(reason) ? 'good' : BAD.has(reason) ? 'bad' : 'open')

function factsOf(answer: VerifyAnswer): Block | undefined {
  const { result, reason, provider, catch_all, starttls, smtputf8, checked, mx_tried, duration_ms, cached } = answer
  const isContacted = mx_tried.length > 0
  const looked = (what: (typeof checked)[number], label: string, yes: boolean, value: string): Fact =>
    checked.includes(what) && [label, yes ? value : 'no']
  return facts(
    ['Result', [code(result), ' (', code(reason), ')']],
    provider !== undefined && ['Provider', code(provider)],
    isContacted && ['Catch-all', knownOr(catch_all, 'yes: every address of the domain is accepted', 'no')],
    isContacted && ['STARTTLS', knownOr(starttls, 'offered', 'not offered')],
    smtputf8 && ['SMTPUTF8', 'needed for this address'],
    looked('disposable', 'Disposable', answer.disposable, 'yes: disposable-mail provider'),
    looked('free', 'Free mail', answer.free, 'yes: free-mail provider'),
    looked('role', 'Role address', answer.is_role, `yes: ${answer.role}`),
    isContacted && [mx_tried.length === 1 ? 'Mail server' : 'Mail servers', codes(mx_tried)],
    !cached && ['Time', duration(duration_ms)],
  )
}

const knownOr = (value: boolean | null, yes: string, no: string): Inline =>
  value === null ? 'not known' : value ? yes : no

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

const REASONS: Readonly<Record<Reason, Words>> = {
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
  internal_error: {
    why: 'This service could not work on the row because of an internal error; its log has the cause.',
    advice: LATER,
  },
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
function adviceFor(reason: string, wait: string | undefined): string | undefined {
  const advice = wordsFor(REASONS, reason)?.advice
  if (typeof advice === 'function') return advice(wait)
  const sentences = [advice, wait === undefined ? undefined : `Try again in ${wait}.`]
  return sentences.filter((one) => one !== undefined).join(' ') || undefined
}

const DELIVERABILITY: Readonly<Record<VerifyAnswer['deliverability'], readonly [Mark, string]>> = {
  deliverable: ['good', 'Deliverable'],
  risky: ['warn', 'Risky'],
  undeliverable: ['bad', 'Undeliverable'],
  unknown: ['open', 'Unknown'],
}

/** The stage that a session reached (RFC 5321 §4.1.1). */
const STAGES: Readonly<Record<Stage, string>> = {
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
