import { createHash } from 'node:crypto'
import { sleep } from '../base/deadline.ts'
import { isJsonRecord, type Json } from '../base/json.ts'
import { REASONS } from './reasons.ts'
import type { Cluster } from './source/cluster.ts'
import type { MailboxAnswer, VerifyInput } from './verification.ts'

/** How long an answer is kept for nodes that wait for it, ms. */
const KEPT_MS = 60_000
/**
 * Interval at which the node that asks says so again, ms; one that died is replaced after twice this time
 * (store/postgres/shared-memory.ts).
 */
const RENEW_MS = 1_500
/** Interval at which a waiting node looks for the answer, ms. */
const LOOK_EVERY_MS = 100
/** Size above which an answer is stored without its transcript, octets. */
const MAX_OCTETS = 64 * 1024

/**
 * Asks a question unless another node is asking it. If one is, waits for its answer, which is accepted if it was given
 * after the wait began. If that node gives none (it failed, or its time was short), this node asks. While the database
 * is unavailable, every node asks separately. Rejects with the signal's reason.
 */
export async function askOnce(
  cluster: Pick<Cluster, 'claimQuestion' | 'releaseQuestion' | 'get' | 'put'>,
  key: string,
  ask: () => Promise<MailboxAnswer>,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal },
): Promise<MailboxAnswer> {
  const name = createHash('sha256').update(key).digest('base64url')
  const begunMs = now()
  let hasWaited = false
  for (;;) {
    const isMine = await cluster.claimQuestion(name)
    if (isMine === 'away') return ask()
    if (isMine) {
      const renewing = setInterval(() => void cluster.claimQuestion(name), RENEW_MS).unref()
      try {
        const known = hasWaited ? await answerSince(cluster, name, now() - begunMs) : undefined
        if (known) return known
        const answer = await ask()
        if (!signal.aborted) await cluster.put('answer', name, '', textOf(answer), KEPT_MS)
        return answer
      } finally {
        clearInterval(renewing)
        cluster.releaseQuestion(name)
      }
    }
    hasWaited = true
    await sleep(LOOK_EVERY_MS, signal)
  }
}

/** The answer of the last `ms`; older answers were given before anybody waited. */
async function answerSince(
  cluster: Pick<Cluster, 'get'>,
  name: string,
  ms: number,
): Promise<MailboxAnswer | undefined> {
  const kept = await cluster.get('answer', name)
  if (kept === undefined || kept === 'away' || KEPT_MS - kept.leftMs > ms) return undefined
  const read: Json = JSON.parse(kept.value)
  return isAnswer(read) ? read : undefined
}

function textOf(answer: MailboxAnswer): string {
  const text = JSON.stringify(answer)
  return text.length <= MAX_OCTETS ? text : JSON.stringify({ ...answer, transcript: [] })
}

/** An answer that one of our nodes wrote; its reason identifies versions with other reasons. */
const isAnswer = (value: unknown): value is MailboxAnswer =>
  isJsonRecord(value) &&
  typeof value.email === 'string' &&
  Array.isArray(value.attempts) &&
  REASONS.some((reason) => reason === value.reason)

/** Whether another node may answer: the question accepts any source, and does not require a new answer. */
export const sharesAnswers = ({ bindIp, maxAgeMs }: VerifyInput, defaultMs: number): boolean =>
  bindIp === undefined && (maxAgeMs ?? defaultMs) > 0

/** The result known so far, if the wait for another node ended with the time of the question. */
export const unlessLate =
  (signal: AbortSignal, partial: () => MailboxAnswer) =>
  (error: unknown): MailboxAnswer => {
    if (!signal.aborted) throw error
    return partial()
  }
