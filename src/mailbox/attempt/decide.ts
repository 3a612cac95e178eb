import { isNode, isProxy } from '../../names/source.ts'
import { anotherSourceMayHelp, isAboutRecipient, reasonRow } from '../reasons.ts'
import type { DialogueResult } from './dialogue.ts'

type NextStep = 'stop' | 'next_host' | 'without_tls'

/**
 * What to do after a session. RFC 5321 §5.1: the next address or host is tried if the connection failed or broke, after
 * 421, a 4xx banner and a code that is not SMTP; never after a reply about the recipient. If TLS itself failed, the
 * same address is tried once more without TLS (opportunistic TLS, RFC 7435 §3).
 */
export function nextStep({ stage, reply, plan, verdict, sourceFailed }: DialogueResult): NextStep {
  if (sourceFailed) return 'stop' // no other host can be reached from this source
  if (verdict.reason === 'smtputf8_required') return 'stop'
  if (!reply) return verdict.reason === 'tls_failure' && plan.startTls ? 'without_tls' : 'next_host'
  if (isAboutRecipient(verdict.reason) && reply.code < 400) return 'stop'
  if (reply.code === 421 || (reply.code < 400 && stage !== 'rcpt')) return 'next_host'
  return stage === 'banner' && reply.code >= 400 && reply.code < 500 ? 'next_host' : 'stop'
}

/**
 * Whether another source may get another answer. If a proxy or a node could not connect, the fault may be its own, so
 * another source is tried. For an address of this machine the table of reasons decides, unless the host is to rest.
 */
export const mayFailOver = ({ plan, stage, reply, verdict }: DialogueResult, heloFollowsSource: boolean): boolean =>
  (!verdict.restsHost && anotherSourceMayHelp(verdict.reason, heloFollowsSource || isNode(plan.source))) ||
  (stage === 'connect' && !reply && (isProxy(plan.source) || isNode(plan.source)))

/**
 * The session that decides the answer: the last one with a reply, otherwise the fault of the highest rank (the later
 * one of equals). So an unreachable host never hides the reply of another one. Undefined if there was no session.
 */
export function decisive(results: readonly DialogueResult[]): DialogueResult | undefined {
  const replied = results.findLast(({ reply, verdict }) => reply || verdict.reason === 'smtputf8_required')
  if (replied) return replied
  return results.reduce<DialogueResult | undefined>(
    (best, one) => (best === undefined || rankOf(one) >= rankOf(best) ? one : best),
    undefined,
  )
}

const rankOf = ({ verdict }: DialogueResult): number => reasonRow(verdict.reason).faultRank
