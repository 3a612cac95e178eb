import { type Bucket, fullBucket, takeToken } from '../../base/bucket.ts'

/**
 * How one source address stands with one provider: a circuit breaker, a rate that adapts, and what happened. Pure: (state, event, now) → state.
 */
export type Standing = {
  /** `open`: rests until `restUntilMs`, then one try is let through. */
  readonly breaker: 'closed' | 'open' | 'half_open'
  readonly restUntilMs: number
  /** The next rest, doubled by each refusal in a row. */
  readonly coolDownMs: number
  /** When the one try of a half-open breaker began. */
  readonly trialAtMs: number
  /** Recipients a minute that are allowed now, and the most that the provider's row allows. */
  readonly perMinute: number
  readonly maxPerMinute: number
  readonly bucket: Bucket
  readonly successes: number
  readonly refusals: number
  readonly lastUsedMs: number
  readonly lastRefusal?: { readonly reason: string; readonly text: string; readonly atMs: number }
  /** A moving average of the time to an answer; 0: none yet. */
  readonly latencyMs: number
}

export type SourceEvent =
  | { readonly kind: 'begun' }
  /** The server talked about the mailbox, so it has nothing against us. */
  | { readonly kind: 'answered'; readonly latencyMs: number }
  | { readonly kind: 'refused'; readonly reason: string; readonly text: string }
  | { readonly kind: 'throttled'; readonly reason: string; readonly text: string }
  /** No word about us at all: a dead host, a time-out. */
  | { readonly kind: 'unanswered' }

const MINUTE = 60_000
export const REFUSED_REST_MS = 10 * MINUTE
export const THROTTLED_REST_MS = MINUTE
export const LONGEST_REST_MS = 6 * 60 * MINUTE
const TRIAL_MS = MINUTE

/** A source address that this provider has not seen yet: at half of the rate that the row allows. */
export function freshStanding(maxPerMinute: number, now: number): Standing {
  const perMinute = Math.max(1, maxPerMinute / 2)
  return {
    breaker: 'closed',
    restUntilMs: 0,
    coolDownMs: 0,
    trialAtMs: 0,
    perMinute,
    maxPerMinute,
    bucket: fullBucket(sizeOf(perMinute), now),
    successes: 0,
    refusals: 0,
    lastUsedMs: 0,
    latencyMs: 0,
  }
}

/** The standing after an event. */
export function after(standing: Standing, event: SourceEvent, now: number): Standing {
  switch (event.kind) {
    case 'begun':
      return {
        ...standing,
        lastUsedMs: now,
        ...(standing.breaker !== 'closed' && { breaker: 'half_open' as const, trialAtMs: now }),
      }
    case 'answered':
      return {
        ...standing,
        breaker: 'closed',
        coolDownMs: 0,
        restUntilMs: 0,
        successes: standing.successes + 1,
        perMinute: Math.min(standing.maxPerMinute, standing.perMinute + 1),
        latencyMs: Math.round(
          standing.latencyMs === 0 ? event.latencyMs : standing.latencyMs * 0.8 + event.latencyMs * 0.2,
        ),
      }
    case 'refused':
      return resting(standing, event, REFUSED_REST_MS, now)
    case 'throttled':
      return { ...resting(standing, event, THROTTLED_REST_MS, now), perMinute: Math.max(1, standing.perMinute / 2) }
    case 'unanswered':
      // It says nothing about us: a trial that met a dead host may be made again.
      return standing.breaker === 'half_open' ? { ...standing, breaker: 'open', restUntilMs: now } : standing
  }
}

/** Takes one token of the rate: the standing that remains, and how long to wait in ms (0: taken). */
export function takeTurn(standing: Standing, now: number): { readonly standing: Standing; readonly waitMs: number } {
  const { bucket, waitMs } = takeToken(standing.bucket, sizeOf(standing.perMinute), now)
  return { standing: { ...standing, bucket }, waitMs }
}

/** Whether an address may be used now, and why not. */
export function restReason(standing: Standing, now: number): string | undefined {
  const said = standing.lastRefusal ? `: ${standing.lastRefusal.text}` : ''
  if (standing.breaker === 'open' && now < standing.restUntilMs)
    return `rests until ${new Date(standing.restUntilMs).toISOString()} after ${standing.lastRefusal?.reason ?? 'a refusal'}${said}`
  if (standing.breaker === 'half_open' && now < standing.trialAtMs + TRIAL_MS) return `one try is under way${said}`
  return undefined
}

export type Candidate<S> = {
  readonly source: S
  readonly standing: Standing
  /** Why a blacklist or the operator has it rest. */
  readonly listed?: string
}

/** The candidates that may be used, best first: healthy before half-open, then least recently used; and those that may not, with the reason. */
export function choose<S>(
  candidates: readonly Candidate<S>[],
  now: number,
): {
  readonly usable: readonly S[]
  readonly skipped: readonly { readonly source: S; readonly why: string; readonly untilMs: number }[]
} {
  const judged = candidates.map((one) => ({ ...one, why: one.listed ?? restReason(one.standing, now) }))
  const usable = judged
    .filter(({ why }) => why === undefined)
    .toSorted((a, b) => rank(a.standing) - rank(b.standing) || a.standing.lastUsedMs - b.standing.lastUsedMs)
  return {
    usable: usable.map(({ source }) => source),
    skipped: judged.flatMap(({ source, standing, why }) =>
      why === undefined ? [] : [{ source, why, untilMs: Math.max(standing.restUntilMs, now) }],
    ),
  }
}

const rank = (standing: Standing): number => (standing.breaker === 'closed' ? 0 : 1)

/** A burst is what half a minute gives. */
const sizeOf = (perMinute: number) => ({ capacity: Math.max(5, perMinute / 2), perSecond: perMinute / 60 })

function resting(
  standing: Standing,
  event: { readonly reason: string; readonly text: string },
  firstMs: number,
  now: number,
): Standing {
  const coolDownMs = Math.min(LONGEST_REST_MS, Math.max(firstMs, standing.coolDownMs * 2))
  return {
    ...standing,
    breaker: 'open',
    coolDownMs,
    restUntilMs: now + coolDownMs,
    refusals: standing.refusals + 1,
    lastRefusal: { reason: event.reason, text: event.text.slice(0, 200), atMs: now },
  }
}
