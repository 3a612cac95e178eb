import type { LimitError } from '../../base/limiter.ts'
import { limitsFor } from '../provider/provider.ts'
import type { Reason } from '../reasons.ts'
import type { ProviderAllowance } from '../source/host-limits.ts'
import { type Destination, providerKeyOf } from './destinations.ts'
import type { SourcePass } from './state.ts'

/** Why one of our limits or a circuit breaker kept a source from being used. */
export type Held = {
  readonly reason: Reason
  readonly message: string
  readonly retryAfterMs: number
  /** Resolves when the trial of the source's circuit breaker has ended; absent if there is none. */
  readonly trialEnded?: Promise<void>
}

/** The result of a question that a full limiter delayed. */
export const tooMany = ({ message, retryAfterMs }: LimitError): Held => ({
  reason: 'own_limit',
  message: `the limits of this service toward the mail host: ${message}`,
  retryAfterMs: Math.max(retryAfterMs, 1_000),
})

/** The limits toward the provider of a destination. */
export function limitsOf(destination: Destination): ProviderAllowance {
  const { perMinute, maxConnections } = limitsFor(destination.provider)
  return { key: providerKeyOf(destination), perMinute, connections: maxConnections }
}

/**
 * Waits for the rate of the source toward the provider; `held` if the turn would come too late, undefined if the time
 * ran out.
 */
export async function waitForRate(
  { ctx, state, source, query }: SourcePass,
  provider: ProviderAllowance,
): Promise<'now' | { readonly held: Held } | undefined> {
  const perMinute = state.sources.perMinute(source, provider)
  const withinMs = query.deadlineMs() - ctx.monotonic()
  try {
    const hold = await state.limits.waitForRate({ source, perMinute, provider }, ctx.signal, withinMs)
    return hold ? { held: { reason: 'own_limit', ...hold } } : 'now'
  } catch (error) {
    if (ctx.signal.aborted) return undefined
    throw error
  }
}
