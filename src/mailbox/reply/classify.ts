import { type Reply, type Stage, textOf } from '../../net/smtp/reply.ts'
import type { Provider } from '../provider/provider.ts'
import type { Reason } from '../reasons.ts'
import { reasonByCode, reasonByStage } from './codes.ts'
import { foldReply } from './normalize.ts'
import { GREYLIST_RETRY_MS, retryAfter, VERIFICATION_RETRY_MS } from './retry-after.ts'
import type { ReplyRow } from './row.ts'
import { REPLIES } from './table.ts'

/** One reply and where it came. `provider` is the one of the host that was talked to. */
export type Answered = { readonly stage: Stage; readonly reply: Reply; readonly provider?: Provider | undefined }

export type Verdict = {
  readonly reason: Reason
  /**
   * What the verdict rests on: the words of the reply, its codes alone, or the stage alone. Only `text` is explicit: a `mailbox_not_found` by text always
   * stands, whatever a made-up recipient got.
   */
  readonly by: 'text' | 'code' | 'stage'
  /** How long the server asks us to wait, in ms (at most 24 hours); only for temporary reasons, and where the text says it or there is a default. */
  readonly retryAfterMs?: number
}

/** Stages whose refusals may be about the recipient. What comes before is about us, whatever it says. */
const RECIPIENT_STAGES: readonly Stage[] = ['rcpt', 'data']
const TEMPORARY: readonly Reason[] = [
  'greylisted',
  'verification_in_progress',
  'recipient_throttled',
  'temporary_failure',
  'rate_limited',
  'mailbox_full',
]

/**
 * Reads one reply: first its words by the table of replies, then its codes, then its stage (docs/verification.md, the order of the classifier). Pure, total,
 * linear. A temporary reply (4xx), and any reply before RCPT, is never `mailbox_not_found`. An accepted recipient (2xx at RCPT) is `mailbox_exists`, or
 * `unverifiable_provider` where the provider accepts anything. What nothing explains is `policy`: refused, and unknown why.
 */
export function classify({ stage, reply, provider }: Answered): Verdict {
  if (reply.code < 400) return { reason: accepted(stage, reply.code, provider), by: 'code' }
  const text = foldReply(textOf(reply))
  const row = REPLIES.find((row) => counts(row, stage, reply.code) && row.pattern.test(text))
  if (row) return withRetry({ reason: row.reason, by: 'text' }, reply)
  const reason = reasonByCode({ stage, reply, about: RECIPIENT_STAGES.includes(stage) ? 'recipient' : 'us' })
  if (reason) return withRetry({ reason, by: 'code' }, reply)
  return withRetry({ reason: reasonByStage(stage, reply.code), by: 'stage' }, reply)
}

function accepted(stage: Stage, code: number, provider: Provider | undefined): Reason {
  if (stage !== 'rcpt' || code >= 300) return 'protocol_error'
  return provider?.tells === 'nothing' ? 'unverifiable_provider' : 'mailbox_exists'
}

const counts = (row: ReplyRow, stage: Stage, code: number): boolean =>
  (row.stage === 'any' || RECIPIENT_STAGES.includes(stage)) && (!row.permanent || code >= 500)

function withRetry(verdict: Omit<Verdict, 'retryAfterMs'>, reply: Reply): Verdict {
  if (!TEMPORARY.includes(verdict.reason) || (verdict.reason === 'mailbox_full' && reply.code >= 500)) return verdict
  const retryAfterMs =
    retryAfter(textOf(reply)) ??
    (verdict.reason === 'greylisted'
      ? GREYLIST_RETRY_MS
      : verdict.reason === 'verification_in_progress'
        ? VERIFICATION_RETRY_MS
        : undefined)
  return retryAfterMs === undefined ? verdict : { ...verdict, retryAfterMs }
}
