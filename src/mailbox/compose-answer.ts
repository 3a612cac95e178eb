import type { Email } from '../names/email.ts'
import { formatEmail } from '../names/email.ts'
import { addressOf, isProxy } from '../names/source.ts'
import type { TranscriptLine } from '../net/smtp/transcript.ts'
import { decisive } from './attempt/decide.ts'
import type { DialogueResult } from './attempt/dialogue.ts'
import { outcomeOf, type Reason, reasonRow } from './reasons.ts'
import type { Source } from './source/source-rows.ts'
import type { Attempt, MailboxAnswer } from './verification.ts'

/** The fields that every answer about an address has. */
export type AnswerBase = {
  readonly email: Pick<Email, 'smtputf8'> & Partial<Email>
  /** The address as shown to the caller. */
  readonly shown: string
  readonly mxHosts: readonly string[]
  readonly provider: string | undefined
  readonly observedAtMs: number
  /** Source addresses of the pool that were not used, with the reasons. */
  readonly skipped?: readonly { readonly source: Source; readonly why: string }[]
}

/** Maximum number of lines in the transcript of an answer. */
const MAX_TRANSCRIPT = 1_000

/**
 * An answer without a mail server's reply: what is wrong with the address or the domain, or why no server was asked.
 */
export function answerWithoutServer(
  base: AnswerBase,
  reason: Reason,
  message: string,
  retryAfterMs?: number,
): MailboxAnswer {
  return {
    ...shared(base, []),
    ...outcomeOf(reason),
    reason,
    message,
    confidence: confidence({ reason, code: 0, catchAll: null, by: 'stage', tells: 'existence' }),
    code: 0,
    mxServer: '',
    ipUsed: '',
    catchAll: null,
    starttls: null,
    ...(retryAfterMs !== undefined && { retryAfterMs: Math.max(0, Math.round(retryAfterMs)) }),
  }
}

/** The answer that follows from the sessions so far. */
export function answerOf(base: AnswerBase, results: readonly DialogueResult[]): MailboxAnswer {
  const decided = decisive(results)
  if (!decided)
    return answerWithoutServer(base, 'timeout', 'the time limit was reached before a mail server could be asked')
  const { verdict, reply, plan } = decided
  const catchAll = decided.catchAll ?? plan.catchAll ?? null
  const reason = reasonOf(decided)
  const code = reply?.code ?? 0
  return {
    ...shared(base, results),
    ...outcomeOf(reason, code),
    reason,
    confidence: confidence({ reason, code, catchAll, by: verdict.by, tells: plan.provider?.tells ?? 'existence' }),
    code,
    ...(reply?.enhanced !== undefined && { enhancedCode: reply.enhanced }),
    message: decided.message,
    mxServer: decided.answered ? plan.host : '',
    ipUsed: decided.answered ? (decided.localAddress ?? '') : '',
    catchAll,
    starttls: decided.answered ? (decided.startedTls ?? decided.tls !== undefined) : null,
    ...(decided.peer !== undefined && { peer: decided.peer }),
    usedSource: plan.source,
    ...(decided.tls && { tls: { ...decided.tls, chain: [] } }), // the certificates themselves are not kept
    ...(verdict.retryAfterMs !== undefined && { retryAfterMs: verdict.retryAfterMs }),
  }
}

/**
 * The reason of a session with the known catch-all state. If that state decides and is unknown, an accepted RCPT proves
 * nothing.
 */
function reasonOf({ plan, verdict, catchAll }: Pick<DialogueResult, 'plan' | 'verdict' | 'catchAll'>): Reason {
  if (verdict.reason !== 'mailbox_exists') return verdict.reason
  const known = catchAll ?? plan.catchAll
  if (known === true) return 'accept_all'
  return known === undefined && plan.provider?.probe === 'own_session' ? 'unverifiable_provider' : 'mailbox_exists'
}

const shared = (base: AnswerBase, results: readonly DialogueResult[]) => ({
  email: base.shown,
  smtputf8: base.email.smtputf8,
  ...(base.provider !== undefined && { provider: base.provider }),
  mxHosts: base.mxHosts,
  mxTried: results.length === 1 ? [results[0]!.plan.host] : [...new Set(results.map(({ plan }) => plan.host))],
  attempts: results.map(attemptOf),
  skippedSources: base.skipped?.slice(0, 20).map(({ source, why }) => ({ address: source, why })) ?? [],
  transcript: transcriptsOf(results),
  observedAtMs: base.observedAtMs,
})

const attemptOf = ({
  plan,
  localAddress,
  stage,
  reply,
  message,
  verdict,
  catchAll,
  durationMs,
  peer,
}: DialogueResult): Attempt => ({
  ipUsed: localAddress ?? addressOf(plan.source),
  mxServer: plan.host,
  address: plan.address,
  stage,
  code: reply?.code ?? 0,
  ...(reply?.enhanced !== undefined && { enhancedCode: reply.enhanced }),
  message,
  reason: reasonOf({ plan, verdict, catchAll: catchAll ?? null }),
  durationMs,
  ...(isProxy(plan.source) && { proxy: plan.source }),
  ...(peer !== undefined && { peer }),
})

function transcriptsOf(results: readonly DialogueResult[]): readonly TranscriptLine[] {
  const lines = results.length === 1 ? transcriptOf(results[0]!) : results.flatMap(transcriptOf)
  return lines.length > MAX_TRANSCRIPT ? lines.slice(0, MAX_TRANSCRIPT) : lines
}

const transcriptOf = ({ plan, transcript, message }: DialogueResult): readonly TranscriptLine[] => [
  { atMs: 0, from: 'note', text: `${plan.host} [${plan.address}]${transcript.length === 0 ? `: ${message}` : ''}` },
  ...transcript,
]

/** The part of {@link AnswerBase} that follows from an address. */
export const addressPart = (email: Email): Pick<AnswerBase, 'email' | 'shown'> => ({ email, shown: formatEmail(email) })

/** The facts that determine the confidence. */
type Evidence = {
  readonly reason: Reason
  readonly code: number
  readonly catchAll: boolean | null
  readonly by: 'text' | 'code' | 'stage'
  /** What an accepted RCPT shows at this provider. */
  readonly tells: 'existence' | 'nothing' | 'depends'
}

/**
 * How certain the deliverability is, 0 to 100 (docs/verification.md, "Confidence"). 0 if the deliverability is unknown.
 */
function confidence({ reason, code, catchAll, by, tells }: Evidence): number {
  if (outcomeOf(reason, code).deliverability === 'unknown') return 0
  const fixed = reasonRow(reason).confidence
  if (fixed !== 'evidence') return fixed
  if (reason === 'mailbox_not_found') return by === 'text' ? 97 : 85
  return catchAll === false ? 97 : tells === 'existence' ? 80 : 60
}
