import type { Email } from '../names/email.ts'
import { formatEmail } from '../names/email.ts'
import type { TranscriptLine } from '../net/smtp/transcript.ts'
import type { Conversed } from './attempt/dialogue.ts'
import { decisive } from './attempt/next-step.ts'
import { confidence } from './confidence.ts'
import { outcomeOf, type Reason } from './reasons.ts'
import type { Source } from './source/sources.ts'
import type { Attempt, MailboxAnswer } from './verification.ts'

/** What is the same for every answer about an address. */
export type About = {
  readonly email: Pick<Email, 'smtputf8'> & Partial<Email>
  /** As it is shown. */
  readonly shown: string
  readonly mxHosts: readonly string[]
  readonly provider: string | undefined
  readonly observedAtMs: number
  /** Source addresses of the pool that were not used, and why. */
  readonly skipped?: readonly { readonly source: Source; readonly why: string }[]
}

const MAX_TRANSCRIPT = 1_000

/** An answer that no mail server gave: what is wrong with the address or the domain, or why nobody was asked. */
export function unasked(about: About, reason: Reason, message: string, retryAfterMs?: number): MailboxAnswer {
  return {
    ...shared(about, []),
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

/** The answer that the conversations had so far give. */
export function answerOf(about: About, heard: readonly Conversed[]): MailboxAnswer {
  const said = decisive(heard)
  if (!said) return unasked(about, 'timeout', 'time ran out before a mail server could be asked')
  const { verdict, reply, plan } = said
  const taken = verdict.reason === 'mailbox_exists'
  const catchAll = said.catchAll ?? plan.catchAll ?? null
  const reason = taken && catchAll === true ? 'accept_all' : verdict.reason
  const code = reply?.code ?? 0
  return {
    ...shared(about, heard),
    ...outcomeOf(reason, code),
    reason,
    confidence: confidence({ reason, code, catchAll, by: verdict.by, tells: plan.provider?.tells ?? 'existence' }),
    code,
    ...(reply?.enhanced !== undefined && { enhancedCode: reply.enhanced }),
    message: said.message,
    mxServer: said.answered ? plan.host : '',
    ipUsed: said.answered ? (said.localAddress ?? '') : '',
    catchAll,
    starttls: said.answered ? said.tls !== undefined : null,
    ...(said.tls && { tls: { ...said.tls, chain: [] } }), // the certificates themselves are not kept
    ...(verdict.retryAfterMs !== undefined && { retryAfterMs: verdict.retryAfterMs }),
  }
}

const shared = (about: About, heard: readonly Conversed[]) => ({
  email: about.shown,
  smtputf8: about.email.smtputf8,
  ...(about.provider !== undefined && { provider: about.provider }),
  mxHosts: about.mxHosts,
  mxTried: [...new Set(heard.map(({ plan }) => plan.host))],
  attempts: heard.map(attemptOf),
  skippedSources: (about.skipped ?? []).slice(0, 20).map(({ source, why }) => ({ address: source, why })),
  transcript: heard.flatMap(transcriptOf).slice(0, MAX_TRANSCRIPT),
  observedAtMs: about.observedAtMs,
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
}: Conversed): Attempt => ({
  ipUsed: localAddress ?? plan.source,
  mxServer: plan.host,
  address: plan.address,
  stage,
  code: reply?.code ?? 0,
  ...(reply?.enhanced !== undefined && { enhancedCode: reply.enhanced }),
  message,
  reason: verdict.reason === 'mailbox_exists' && (catchAll ?? plan.catchAll) === true ? 'accept_all' : verdict.reason,
  durationMs,
})

const transcriptOf = ({ plan, transcript, message }: Conversed): readonly TranscriptLine[] => [
  { atMs: 0, from: 'note', text: `${plan.host} [${plan.address}]${transcript.length === 0 ? `: ${message}` : ''}` },
  ...transcript,
]

/** An address for {@link About}. */
export const aboutEmail = (email: Email): Pick<About, 'email' | 'shown'> => ({ email, shown: formatEmail(email) })
