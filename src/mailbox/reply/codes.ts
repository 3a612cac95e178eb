import type { Reply, Stage } from '../../net/smtp/reply.ts'
import type { Reason } from '../reasons.ts'

/** An enhanced status code in text, not part of an IP address or a version (RFC 3463 §2). */
const ENHANCED = /(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d]|\.\d)/

/** The enhanced status code of a reply: as read by the session, otherwise the first in its text (`(#5.1.1)`); undefined if there is none. */
export function enhancedOf(reply: Reply): string | undefined {
  return reply.enhanced ?? ENHANCED.exec(reply.lines.join(' ').slice(0, 4_096))?.[0]
}

type Coded = { readonly stage: Stage; readonly reply: Reply; readonly about: 'recipient' | 'us' }

/** Subject and detail codes that have the same meaning at any stage (RFC 3463 §3, RFC 7372 §3, RFC 7505 §4.2, IANA registry). */
const ABOUT_US: Readonly<Record<string, Reason>> = {
  '1.7': 'sender_refused',
  '1.8': 'sender_refused',
  '5.3': 'too_many_recipients',
  '7.10': 'tls_required',
  '7.11': 'tls_required',
  '7.20': 'sender_refused',
  '7.21': 'sender_refused',
  '7.22': 'sender_refused',
  '7.23': 'sender_refused',
  '7.24': 'sender_refused',
  '7.25': 'reverse_dns_required',
  '7.26': 'sender_refused',
  '7.27': 'sender_refused',
  '7.28': 'rate_limited',
  '7.30': 'tls_required',
}

/** Codes about the recipient, in a permanent reply. 5.1.0, 5.1.4, 5.1.5 and 5.1.9 do not specify whose address is meant. */
const OF_RECIPIENT: Readonly<Record<string, Reason>> = {
  '1.1': 'mailbox_not_found',
  '1.2': 'domain_not_found',
  '1.3': 'mailbox_not_found',
  '1.6': 'mailbox_not_found',
  '1.10': 'mailbox_not_found',
  '2.1': 'mailbox_disabled',
  '4.4': 'domain_not_found',
  '6.7': 'smtputf8_required',
  '6.10': 'smtputf8_required',
  '7.13': 'mailbox_disabled', // IANA: user account disabled
  '7.17': 'mailbox_not_found', // RFC 7293 §7.1: mailbox owner has changed
  '7.18': 'domain_not_found', // RFC 7293 §7.2: domain owner has changed
}

/** Steps 8 and 9: what follows from the codes alone, or undefined. */
export function reasonByCode({ reply, about }: Coded): Reason | undefined {
  const [kind, ...rest] = (enhancedOf(reply) ?? '').split('.')
  const detail = rest.join('.')
  const ours = ABOUT_US[detail]
  if (ours) return ours
  if (about === 'recipient' && detail === '2.2') return 'mailbox_full'
  if (reply.code < 500) return reply.code === 421 || about === 'recipient' ? 'temporary_failure' : undefined
  if (kind === '4') return 'temporary_failure' // the codes contradict each other: not final
  if (about === 'recipient') {
    if (reply.code === 556) return 'null_mx' // RFC 7504 §4
    const theirs = OF_RECIPIENT[detail]
    if (theirs) return theirs
    if (reply.code === 552 && detail === '') return 'mailbox_full' // RFC 5321 §4.2.3
  }
  if (/^3\.[0-35-9]/.test(detail) || /^4\./.test(detail)) return 'temporary_failure' // RFC 3463 §3.4, §3.5: the system, the network
  if ([500, 502, 503].includes(reply.code)) return 'protocol_error'
  // A server that refuses the recipient talks to us, whatever its codes say about the syntax.
  if (about === 'us' && (/^5\.[124]$/.test(detail) || [501, 504].includes(reply.code))) return 'protocol_error'
  if (/^7\./.test(detail) || [530, 534, 535, 538].includes(reply.code)) return 'policy' // RFC 3463 §3.8
  return undefined
}

/** The most likely reason of a refusal that neither its text nor its codes explain, by stage. */
export function reasonByStage(stage: Stage, code: number): Reason {
  if (code < 500) return 'temporary_failure'
  if (stage === 'connect' || stage === 'banner') return 'source_blocked' // RFC 5321 §3.1: 554 at the opening
  if (stage === 'ehlo') return 'helo_refused'
  if (stage === 'starttls') return 'tls_failure'
  if (stage === 'mail') return 'sender_refused'
  return 'unclear_refusal'
}
