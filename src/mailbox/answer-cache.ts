import { type TtlCache, ttlCache } from '../base/ttl-cache.ts'
import { providerById } from './provider.ts'
import { reasonRow } from './reasons.ts'
import type { MailboxAnswer } from './verification.ts'

export type AnswerCache = ReturnType<typeof answerCache>

type Kept = { readonly answer: MailboxAnswer; readonly observedMs: number }

/** How long a conclusive answer is cached, ms. */
const KEPT_MS = 3_600_000
/** Maximum size of all cached answers, bytes. */
const MAX_BYTES = 32 * 1024 * 1024
/** An estimate: transcript and certificates are most of it. */
const bytesOf = ({ answer: { transcript, attempts, tls } }: Kept): number =>
  transcript.reduce((sum, { text }) => sum + text.length + 100, 1_000 + attempts.length * 500) +
  (tls?.chain ?? []).reduce((sum, der) => sum + der.length + 200, 0)

/**
 * Whether an answer is cached: it contains a fact about the mailbox that stays true for a while. Temporary, blocked and
 * unreachable answers are never cached.
 */
function isCached({ reason, catchAll, provider }: MailboxAnswer): boolean {
  const { cached } = reasonRow(reason)
  if (cached !== 'when_conclusive') return cached === 'yes'
  // If catch-all is unknown, only if the provider's row always leaves it unknown.
  const row = provider === undefined ? undefined : providerById(provider)
  return catchAll !== null || row?.probe === 'never' || row?.tells === 'nothing'
}

/** The cache of one verifier: conclusive answers for an hour, at most 50,000 and 32 MiB. */
export function answerCache(monotonic: () => number) {
  const kept: TtlCache<Kept> = ttlCache({ maxEntries: 50_000, maxBytes: MAX_BYTES, bytesOf, now: monotonic })
  return {
    recall: (key: string, maxAgeMs: number): MailboxAnswer | undefined => {
      const entry = maxAgeMs > 0 ? kept.get(key) : undefined
      return entry && monotonic() - entry.value.observedMs <= maxAgeMs ? entry.value.answer : undefined
    },
    /** `observedMs`: when the question started, by the monotonic clock. */
    remember: (key: string, answer: MailboxAnswer, observedMs: number): void => {
      if (isCached(answer)) kept.set(key, { answer, observedMs }, KEPT_MS)
      else kept.delete(key)
    },
    /** Removes the entries whose key satisfies `test`; returns their number. */
    forget: kept.deleteWhere,
  }
}
