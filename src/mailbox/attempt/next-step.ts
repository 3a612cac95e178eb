import { isAboutMailbox } from '../about-mailbox.ts'
import type { Reason } from '../reasons.ts'
import type { Conversed } from './dialogue.ts'

/** What to do behind a conversation that did not settle the question. */
export type Next = 'stop' | 'next_host' | 'without_tls'

/**
 * RFC 5321 §5.1: the next address or host is tried where the connection failed or broke, at 421 and at a banner of 4xx; never behind a word about
 * the mailbox. Where TLS itself failed the same address is tried once more in the clear, as opportunistic TLS has it (RFC 7435 §3).
 */
export function nextAfter({ stage, reply, plan, verdict }: Conversed): Next {
  if (verdict.reason === 'smtputf8_required') return 'stop'
  if (!reply) return verdict.reason === 'tls_failure' && plan.startTls ? 'without_tls' : 'next_host'
  if (isAboutMailbox(verdict.reason) && reply.code < 400) return 'stop'
  if (reply.code === 421) return 'next_host'
  return stage === 'banner' && reply.code >= 400 && reply.code < 500 ? 'next_host' : 'stop'
}

/** Reasons for which another source address may get another answer (docs/verification.md, "Source addresses"). */
export function anotherSourceMayHelp(reason: Reason, heloFollowsSource: boolean): boolean {
  if (reason === 'helo_refused') return heloFollowsSource
  return ['source_blocked', 'reverse_dns_required', 'rate_limited', 'network_unreachable'].includes(reason)
}

/** How much a fault tells of the mail host; a reply tells more than all of them. */
const TELLS: readonly Reason[] = [
  'network_unreachable', // of us: no route, no such source address
  'unsafe_address',
  'connect_timeout',
  'connect_refused',
  'connection_lost',
  'timeout',
  'protocol_error',
  'tls_failure',
]

/** The conversation that the answer rests on: the last one with a reply, else the fault that tells most (the later one of equals). A host that could not be reached never covers what another one said. */
export function decisive(conversations: readonly Conversed[]): Conversed | undefined {
  const replied = conversations.findLast(({ reply, verdict }) => reply || verdict.reason === 'smtputf8_required')
  if (replied) return replied
  return conversations.reduce<Conversed | undefined>(
    (best, one) => (best === undefined || rank(one) >= rank(best) ? one : best),
    undefined,
  )
}

const rank = ({ verdict }: Conversed): number => TELLS.indexOf(verdict.reason)
