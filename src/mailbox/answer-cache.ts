import { raced } from '../base/deadline.ts'
import { type TtlCache, ttlCache } from '../base/ttl-cache.ts'
import { providerById } from './provider/provider.ts'
import type { MailboxAnswer } from './verification.ts'

/** Work under way that several callers may wait for. */
export type Work = {
  readonly result: Promise<MailboxAnswer>
  /** What is known so far. */
  readonly sofar: () => MailboxAnswer
  /** Ends the work: called when nobody waits any more. */
  readonly stop: () => void
}

/** Answers already had, and questions under way. */
export type Answers = {
  readonly recall: (key: string, maxAgeMs: number) => MailboxAnswer | undefined
  readonly remember: (key: string, answer: MailboxAnswer) => void
  /** Joins the work under `key`, or begins it. When `signal` fires first, what is known so far is the answer. */
  readonly share: (key: string, begin: () => Work, signal: AbortSignal) => Promise<MailboxAnswer>
}

type Running = { readonly work: Work; waiting: number }

const KEPT_MS = 3_600_000
const MAX_BYTES = 32 * 1024 * 1024
/** A guess: the transcript and the certificates are most of it. */
const bytesOf = ({ transcript, attempts, tls }: MailboxAnswer): number =>
  transcript.reduce((sum, { text }) => sum + text.length + 100, 1_000 + attempts.length * 500) +
  (tls?.chain ?? []).reduce((sum, der) => sum + der.length + 200, 0)

/** A firm answer says something of the mailbox that will hold for a while. Temporary, blocked and unreachable ones never do. */
export function isFirm({ result, reason, catchAll, provider }: MailboxAnswer): boolean {
  if (result === 'catch_all') return true
  if (result === 'rejected') return reason !== 'relay_denied' && reason !== 'mailbox_full'
  // With the catch-all question open, accepted is firm only where the provider's row leaves it open.
  const row = provider === undefined ? undefined : providerById(provider)
  return result === 'accepted' && (catchAll !== null || row?.secondRcpt === 'hurts' || row?.tells === 'nothing')
}

/** The memory of one verifier: firm answers for an hour, at most 50,000 and 32 MiB. */
export function answers(now: () => number): Answers {
  const kept: TtlCache<MailboxAnswer> = ttlCache({ maxEntries: 50_000, maxBytes: MAX_BYTES, bytesOf, now })
  const running = new Map<string, Running>()
  const forget = (key: string, own: Running): void => {
    if (running.get(key) === own) running.delete(key)
  }
  return {
    recall: (key, maxAgeMs) => {
      const entry = maxAgeMs > 0 ? kept.get(key) : undefined
      return entry && now() - entry.value.observedAtMs <= maxAgeMs ? entry.value : undefined
    },
    remember: (key, answer) => {
      if (isFirm(answer)) kept.set(key, answer, KEPT_MS)
      else kept.delete(key)
    },
    share: async (key, begin, signal) => {
      const own = running.get(key) ?? { work: begin(), waiting: 0 }
      if (!running.has(key)) {
        running.set(key, own)
        own.work.result.catch(() => {}).finally(() => forget(key, own))
      }
      own.waiting++
      try {
        return await raced(signal, own.work.result)
      } catch (error) {
        if (!signal.aborted) throw error
        return own.work.sofar()
      } finally {
        if (--own.waiting === 0 && running.get(key) === own) {
          forget(key, own)
          own.work.stop()
        }
      }
    },
  }
}
