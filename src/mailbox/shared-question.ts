import { createHash } from 'node:crypto'
import { sleep } from '../base/deadline.ts'
import { isJsonRecord, type Json } from '../base/json.ts'
import { REASONS } from './reasons.ts'
import type { Cluster } from './source/cluster.ts'
import type { MailboxAnswer, VerifyInput } from './verification.ts'

/** Time that an answer is kept for nodes that wait for it, ms. */
const KEPT_MS = 60_000
/** How often a node that waits looks, ms. */
const LOOK_EVERY_MS = 100
/** Size above which an answer is kept without its transcript, octets. */
const MAX_OCTETS = 64 * 1024

/**
 * Asks a question that no other node asks now. While one does, waits for its answer, which is taken when it came after the wait began; where it gives none (its node
 * died, or its time was short), this node asks. While the database is away every node asks by itself. Rejects with the signal's reason.
 */
export async function askOnce(
  cluster: Pick<Cluster, 'take' | 'get' | 'put'>,
  key: string,
  ask: () => Promise<MailboxAnswer>,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal },
): Promise<MailboxAnswer> {
  const name = createHash('sha256').update(key).digest('base64url')
  const begunMs = now()
  let hasWaited = false
  for (;;) {
    const claim = await cluster.take([{ key: `question ${name}`, limit: 1 }])
    if (claim === 'away') return ask()
    if (claim !== 'full') {
      try {
        const known = hasWaited ? await answerSince(cluster, name, now() - begunMs) : undefined
        if (known) return known
        const answer = await ask()
        if (!signal.aborted) await cluster.put('answer', name, '', textOf(answer), KEPT_MS)
        return answer
      } finally {
        claim()
      }
    }
    hasWaited = true
    await sleep(LOOK_EVERY_MS, signal)
  }
}

/** The answer that came within the last `ms`; answers that are older were given before anybody waited. */
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

/** What one of our nodes wrote: its reason tells versions apart that know others. */
const isAnswer = (value: unknown): value is MailboxAnswer =>
  isJsonRecord(value) &&
  typeof value.email === 'string' &&
  Array.isArray(value.attempts) &&
  REASONS.some((reason) => reason === value.reason)

/** Whether another node may answer: a question from any source, and not one that wants an answer of this moment. */
export const sharesAnswers = ({ bindIp, maxAgeMs }: VerifyInput, defaultMs: number): boolean =>
  bindIp === undefined && (maxAgeMs ?? defaultMs) > 0

/** What is known so far, where the wait for another node ended with the time of the question. */
export const unlessLate =
  (signal: AbortSignal, partial: () => MailboxAnswer) =>
  (error: unknown): MailboxAnswer => {
    if (!signal.aborted) throw error
    return partial()
  }
