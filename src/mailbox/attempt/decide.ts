import { isNode, isProxy } from '../../names/source.ts'
import { anotherSourceMayHelp, isAboutRecipient, reasonRow } from '../reasons.ts'
import type { DialogueResult } from './dialogue.ts'

export type NextStep = 'stop' | 'next_host' | 'without_tls'

/**
 * What to do after a dialogue. RFC 5321 §5.1: the next address or host is tried when the connection failed or broke, at 421, at a 4xx banner and at a code
 * that is none of SMTP;
 * never after a reply about the recipient. When TLS itself failed, the same address is tried once more in the clear (opportunistic TLS, RFC 7435 §3).
 */
export function nextStep({ stage, reply, plan, verdict, sourceFailed }: DialogueResult): NextStep {
  if (sourceFailed) return 'stop' // no other host can be reached from there
  if (verdict.reason === 'smtputf8_required') return 'stop'
  if (!reply) return verdict.reason === 'tls_failure' && plan.startTls ? 'without_tls' : 'next_host'
  if (isAboutRecipient(verdict.reason) && reply.code < 400) return 'stop'
  if (reply.code === 421 || (reply.code < 400 && stage !== 'rcpt')) return 'next_host'
  return stage === 'banner' && reply.code >= 400 && reply.code < 500 ? 'next_host' : 'stop'
}

/**
 * Whether another source may get another answer. That a proxy or a node could not connect says as much of it as of the host, so that another source is tried;
 * for an address of this machine the table of reasons decides.
 */
export const mayFailOver = ({ plan, stage, reply, verdict }: DialogueResult, heloFollowsSource: boolean): boolean =>
  anotherSourceMayHelp(verdict.reason, heloFollowsSource || isNode(plan.source)) ||
  (stage === 'connect' && !reply && (isProxy(plan.source) || isNode(plan.source)))

/**
 * The dialogue that the answer rests on: the last one with a reply, else the fault of the highest rank (the later one of equals). So a host that
 * could not be reached never hides what another one said. Undefined when there was none.
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
