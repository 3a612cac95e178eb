import { anotherSourceMayHelp, type Reason, reasonRow } from '../reasons.ts'

/**
 * The state of one source address toward one provider: a circuit breaker and an adaptive rate, with counts. Pure:
 * (state, event, now) → state.
 */
export type SourceState = {
  /** `open`: not used until `pausedUntilMs`; then one trial is permitted. */
  readonly breaker: 'closed' | 'open' | 'half_open'
  readonly pausedUntilMs: number
  /** The last cooldown; each further refusal in a row doubles it. */
  readonly coolDownMs: number
  /** The start of the trial of a half-open breaker. */
  readonly trialAtMs: number
  /** Permitted recipients per minute at present, and the maximum of the provider's row. */
  readonly perMinute: number
  readonly maxPerMinute: number
  readonly successes: number
  readonly refusals: number
  readonly lastUsedMs: number
  readonly lastRefusal?: { readonly reason: string; readonly text: string; readonly atMs: number }
  /** A moving average of the response time; 0: none yet. */
  readonly latencyMs: number
}

export type SourceEvent =
  | { readonly kind: 'begun' }
  /** The server judged the recipient, so it accepts this address. */
  | { readonly kind: 'answered'; readonly latencyMs: number }
  | { readonly kind: 'refused'; readonly reason: string; readonly text: string }
  | { readonly kind: 'throttled'; readonly reason: string; readonly text: string }
  /** The proxy or node itself failed. */
  | { readonly kind: 'failed'; readonly reason: string; readonly text: string }
  /** No information about this address: a dead host, a timeout. */
  | { readonly kind: 'unanswered' }

const MINUTE = 60_000
export const REFUSED_PAUSE_MS = 10 * MINUTE
export const THROTTLED_PAUSE_MS = MINUTE
const FAILED_PAUSE_MS = MINUTE
/** Maximum cooldown of a circuit breaker, ms. */
export const LONGEST_PAUSE_MS = 6 * 60 * MINUTE
const TRIAL_MS = MINUTE

/** The state of an address that was not used toward the provider yet: half of the rate of the provider's row. */
export function newSourceState(maxPerMinute: number): SourceState {
  const perMinute = Math.max(1, maxPerMinute / 2)
  return {
    breaker: 'closed',
    pausedUntilMs: 0,
    coolDownMs: 0,
    trialAtMs: 0,
    perMinute,
    maxPerMinute,
    successes: 0,
    refusals: 0,
    lastUsedMs: 0,
    latencyMs: 0,
  }
}

/** The state after an event. */
export function applyEvent(state: SourceState, event: SourceEvent, now: number): SourceState {
  switch (event.kind) {
    case 'begun':
      return {
        ...state,
        lastUsedMs: now,
        ...(state.breaker !== 'closed' && { breaker: 'half_open' as const, trialAtMs: now }),
      }
    case 'answered':
      return {
        ...state,
        breaker: 'closed',
        coolDownMs: 0,
        pausedUntilMs: 0,
        successes: state.successes + 1,
        perMinute: Math.min(state.maxPerMinute, state.perMinute + 1),
        latencyMs: Math.round(state.latencyMs === 0 ? event.latencyMs : state.latencyMs * 0.8 + event.latencyMs * 0.2),
      }
    case 'refused':
      return opened(state, event, REFUSED_PAUSE_MS, now)
    case 'throttled':
      return { ...opened(state, event, THROTTLED_PAUSE_MS, now), perMinute: Math.max(1, state.perMinute / 2) }
    case 'failed':
      return opened(state, event, FAILED_PAUSE_MS, now)
    case 'unanswered':
      // No result: a trial that met a dead host may be repeated.
      return state.breaker === 'half_open' ? { ...state, breaker: 'open', pausedUntilMs: now } : state
  }
}

/** Why an address must not be used while it is on trial. */
export const ON_TRIAL = 'a trial attempt is in progress'

/** Why an address must not be used now; undefined if it may. `stepMs` is added to displayed times. */
export const unavailableReason = (state: SourceState, now: number, stepMs = 0): string | undefined =>
  openReason(state, now, stepMs) ?? (isOnTrial(state, now) ? `${ON_TRIAL}${lastText(state)}` : undefined)

function openReason(state: SourceState, now: number, stepMs = 0): string | undefined {
  if (state.breaker !== 'open' || now >= state.pausedUntilMs) return undefined
  const until = new Date(state.pausedUntilMs + stepMs).toISOString()
  return `is paused until ${until} after ${state.lastRefusal?.reason ?? 'a refusal'}${lastText(state)}`
}

/** A trial without an end counts for a minute. */
const isOnTrial = (state: SourceState, now: number): boolean =>
  state.breaker === 'half_open' && now < state.trialAtMs + TRIAL_MS

const lastText = ({ lastRefusal }: SourceState): string => (lastRefusal ? `: ${lastRefusal.text}` : '')

type Candidate<S> = {
  readonly source: S
  readonly state: SourceState
  /** Why a blacklist prevents its use. */
  readonly listed?: string
}

/**
 * The usable candidates, best first (healthy, then those due for a trial, then those on trial, which must be waited
 * for; among equals the least recently used), and the others with the reason. `stepMs` is added to displayed times.
 */
export function rankSources<S>(
  candidates: readonly Candidate<S>[],
  now: number,
  stepMs = 0,
): {
  readonly usable: readonly S[]
  readonly skipped: readonly { readonly source: S; readonly why: string; readonly untilMs: number }[]
} {
  const judged = candidates.map((one) => ({ ...one, why: one.listed ?? openReason(one.state, now, stepMs) }))
  const usable = judged
    .filter(({ why }) => why === undefined)
    .toSorted((a, b) => rank(a.state, now) - rank(b.state, now) || a.state.lastUsedMs - b.state.lastUsedMs)
  return {
    usable: usable.map(({ source }) => source),
    skipped: judged.flatMap(({ source, state, why }) =>
      why === undefined ? [] : [{ source, why, untilMs: Math.max(state.pausedUntilMs, now) }],
    ),
  }
}

/** 0: healthy; 1: due for a trial; 2: on trial; 3: in its cooldown. */
export const healthOf = (state: SourceState, now: number): number =>
  openReason(state, now) === undefined ? rank(state, now) : 3

function rank(state: SourceState, now: number): number {
  if (state.breaker === 'closed') return 0
  return isOnTrial(state, now) ? 2 : 1
}

/** Sessions that were in progress when the breaker opened do not extend the cooldown: only a refused trial does. */
function opened(
  state: SourceState,
  event: { readonly reason: string; readonly text: string },
  firstMs: number,
  now: number,
): SourceState {
  const isOpen = state.breaker === 'open' && now < state.pausedUntilMs
  const coolDownMs = Math.min(LONGEST_PAUSE_MS, Math.max(firstMs, isOpen ? state.coolDownMs : state.coolDownMs * 2))
  return {
    ...state,
    breaker: 'open',
    coolDownMs,
    pausedUntilMs: isOpen ? Math.max(state.pausedUntilMs, now + firstMs) : now + coolDownMs,
    refusals: state.refusals + 1,
    lastRefusal: { reason: event.reason, text: event.text.slice(0, 200), atMs: now },
  }
}

/** What an answer shows about its source. `text`: the text of the reply. */
export function sourceEvent(
  { reason, text, latencyMs }: { readonly reason: Reason; readonly text: string; readonly latencyMs: number },
  heloFollowsSource: boolean,
): SourceEvent {
  switch (reasonRow(reason).sourceHealth) {
    case 'good':
      return { kind: 'answered', latencyMs }
    case 'throttled':
      return { kind: 'throttled', reason, text }
    case 'refused':
      return anotherSourceMayHelp(reason, heloFollowsSource)
        ? { kind: 'refused', reason, text }
        : { kind: 'unanswered' }
    case 'none':
      return { kind: 'unanswered' }
  }
}
