import { LRUCache } from 'lru-cache'
import { isSuccess, type Reply, type Stage, textOf } from '../../net/smtp/reply.ts'
import type { Provider } from '../provider/provider.ts'
import { type Reason, reasonRow } from '../reasons.ts'
import { reasonByCode, reasonByStage } from './codes.ts'
import { normalizeReply } from './normalize.ts'
import { retryAfter } from './retry-after.ts'
import type { ReplyRow } from './row.ts'
import { REPLIES } from './table.ts'

/** One reply and its stage. `provider` is the provider of the host. */
export type Answered = { readonly stage: Stage; readonly reply: Reply; readonly provider?: Provider | undefined }

export type Verdict = {
  readonly reason: Reason
  /**
   * The basis of the verdict: the text of the reply, its codes, or the stage. Only `text` is explicit: a `mailbox_not_found` by text holds whatever reply a
   * made-up recipient got.
   */
  readonly by: 'text' | 'code' | 'stage'
  /** How long the server asks us to wait, in ms (at most 24 hours); only for temporary reasons, if the text names a delay or there is a default. */
  readonly retryAfterMs?: number
}

/** Stages whose refusals may be about the recipient. Refusals at earlier stages are about us, whatever their text says. */
const RECIPIENT_STAGES: readonly Stage[] = ['rcpt', 'data']

/**
 * The reason of one reply: by its text (the reply table), otherwise by its codes, otherwise by its stage (docs/verification.md). Pure, total, linear. A
 * temporary reply (4xx), and any reply before RCPT, is never `mailbox_not_found`. An accepted recipient (2xx at RCPT) is `mailbox_exists`, or
 * `unverifiable_provider` if the provider accepts anything. A permanent
 * refusal of the recipient that is not explained is `unclear_refusal`.
 */
export function classify({ stage, reply, provider }: Answered): Verdict {
  if (reply.code < 400) return { reason: accepted(stage, reply.code, provider), by: 'code' }
  const about = RECIPIENT_STAGES.includes(stage) ? 'recipient' : 'us'
  const row = rowOf(normalizeReply(textOf(reply)), about, reply.code >= 500 ? '5xx' : '4xx')
  if (row) return withRetry({ reason: row.reason, by: 'text' }, reply)
  const reason = reasonByCode({ stage, reply, about })
  if (reason) return withRetry({ reason, by: 'code' }, reply)
  return withRetry({ reason: reasonByStage(stage, reply.code), by: 'stage' }, reply)
}

function accepted(stage: Stage, code: number, provider: Provider | undefined): Reason {
  if (stage !== 'rcpt' || !isSuccess(stage, { code })) return 'protocol_error'
  const isVerified = code !== 252 && provider?.tells !== 'nothing' // RFC 5321 §3.5.3: 252 is accepted without verification
  return isVerified ? 'mailbox_exists' : 'unverifiable_provider'
}

type About = 'recipient' | 'us'
type Codes = '4xx' | '5xx'

/** The rows that count for a reply, in the order of the table. */
const candidates = (about: About, codes: Codes): readonly ReplyRow[] =>
  REPLIES.filter(
    (row) => (row.stage === 'any' || about === 'recipient') && (row.codes === 'any' || row.codes === codes),
  )
const CANDIDATES = {
  recipient: { '4xx': candidates('recipient', '4xx'), '5xx': candidates('recipient', '5xx') },
  us: { '4xx': candidates('us', '4xx'), '5xx': candidates('us', '5xx') },
}

/**
 * The rows of recent texts, at most 256 KiB of text: without the addresses, a server refuses most recipients in the
 * same words.
 */
const known = new LRUCache<string, { readonly row: ReplyRow | undefined }>({
  maxSize: 2 ** 18,
  sizeCalculation: (_, key) => key.length,
})

/** The first row that matches a normalized text. */
function rowOf(text: string, about: About, codes: Codes): ReplyRow | undefined {
  const key = `${about} ${codes} ${text}`
  const kept = known.get(key)
  if (kept) return kept.row
  const row = CANDIDATES[about][codes].find(({ pattern }) => pattern.test(text))
  known.set(key, { row })
  return row
}

function withRetry(verdict: Omit<Verdict, 'retryAfterMs'>, reply: Reply): Verdict {
  const { temporary, defaultRetryMs } = reasonRow(verdict.reason)
  if (!temporary || (verdict.reason === 'mailbox_full' && reply.code >= 500)) return verdict
  const retryAfterMs = retryAfter(textOf(reply)) ?? defaultRetryMs
  return retryAfterMs === undefined ? verdict : { ...verdict, retryAfterMs }
}
