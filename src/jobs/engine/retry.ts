import { REASONS, type ReasonRow, reasonRow } from '../../mailbox/reasons.ts'
import type { Asked } from './claims.ts'

const MINUTE = 60_000
/** Delays before the second, third and fourth attempt if the reply names none. */
const STEPS_MS = [5 * MINUTE, 30 * MINUTE, 120 * MINUTE] as const
/** Delay for a greylisting server that names none (postgrey's default). */
const GREYLISTED_MS = 5 * MINUTE
const REFUSED_MS = 15 * MINUTE
/** Our own limit is never the result of a row: the row is retried as soon as the limit allows. */
const OWN_LIMIT_MS = 5_000
/** Longest delay requested by a mail server that is honoured. */
const LONGEST_MS = 6 * 60 * MINUTE

/** The next attempt of a row: the delay, and whether this attempt counts toward the maximum. */
export type Retry = { readonly waitMs: number; readonly counts: boolean }

type Kind = ReasonRow['bulkRetry']

/** How to retry: by the reason of a verification; an unknown check is retried too. */
function kindOf({ result, reason }: Pick<Asked, 'result' | 'reason'>): Kind {
  const known = REASONS.find((one) => one === reason)
  if (known) return reasonRow(known).bulkRetry
  return result === 'unknown' ? 'steps' : 'no'
}

/**
 * Whether and when to retry a row after `attempts` attempts, the first at `firstAskedAtMs`; undefined: the answer is
 * final. After `giveUpMs` every answer is final, except our own limit, which is not an answer.
 */
export function retryOf(
  asked: Pick<Asked, 'result' | 'reason' | 'retryAfterMs'>,
  row: { readonly attempts: number; readonly firstAskedAtMs: number },
  nowMs: number,
  giveUpMs: number,
): Retry | undefined {
  const kind = kindOf(asked)
  if (kind === 'no') return undefined
  if (kind === 'own_limit') return { waitMs: bounded(asked.retryAfterMs ?? OWN_LIMIT_MS), counts: false }
  const waitMs = waitOf(kind, asked.retryAfterMs, row.attempts)
  if (waitMs === undefined || nowMs + waitMs > row.firstAskedAtMs + giveUpMs) return undefined
  return { waitMs, counts: true }
}

function waitOf(
  kind: Exclude<Kind, 'no' | 'own_limit'>,
  told: number | undefined,
  attempts: number,
): number | undefined {
  if (kind === 'as_told') return bounded(told ?? GREYLISTED_MS)
  if (kind === 'backoff') return bounded(told ?? REFUSED_MS * 2 ** Math.min(attempts, 5))
  const step = STEPS_MS[attempts]
  return step === undefined ? undefined : bounded(Math.max(told ?? 0, step))
}

const bounded = (ms: number): number => Math.min(LONGEST_MS, Math.max(0, ms))
