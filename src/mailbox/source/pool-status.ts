import type { SourceName } from '../../names/source.ts'
import { unavailableReason } from './circuit-breaker.ts'
import type { ProviderKey, Source, SourceRow } from './sources.ts'

/** The state of one source address. */
export type PoolRow = {
  /** Undefined: the system's choice. */
  readonly address: Source
  /** Whether it belongs to the configured pool. */
  readonly configured: boolean
  readonly providers: readonly {
    readonly provider: ProviderKey
    readonly breaker: 'closed' | 'open' | 'half_open'
    /** Why it is not used toward this provider now. */
    readonly pausedReason?: string
    readonly pausedUntilMs?: number
    readonly perMinute: number
    readonly successes: number
    readonly refusals: number
    readonly lastRefusal?: { readonly reason: string; readonly text: string; readonly atMs: number }
    readonly lastUsedMs: number
    readonly latencyMs: number
  }[]
}

/**
 * One row per address: those of the pool first, in their order, then others that were used. At most 100 providers each,
 * the latest used first.
 */
export function poolStatus(
  pool: readonly SourceName[],
  rows: readonly SourceRow[],
  now: number,
  listed: (source: SourceName, provider: ProviderKey) => string | undefined = () => undefined,
): readonly PoolRow[] {
  const addresses = [...new Set<Source>([...pool, ...rows.map(({ source }) => source)])]
  return addresses.map((address) => ({
    address,
    configured: address === undefined ? pool.length === 0 : pool.includes(address),
    providers: rows
      .filter(({ source }) => source === address)
      .toSorted((a, b) => b.state.lastUsedMs - a.state.lastUsedMs)
      .slice(0, 100)
      .map((row) => providerRow(row, now, listed)),
  }))
}

function providerRow(
  { source, provider, state }: SourceRow,
  now: number,
  listed: (source: SourceName, provider: ProviderKey) => string | undefined,
): PoolRow['providers'][number] {
  const pausedReason = (source === undefined ? undefined : listed(source, provider)) ?? unavailableReason(state, now)
  const { breaker, pausedUntilMs, perMinute, successes, refusals, lastRefusal, lastUsedMs, latencyMs } = state
  return {
    provider,
    breaker,
    ...(pausedReason !== undefined && { pausedReason }),
    ...(pausedUntilMs > now && { pausedUntilMs }),
    perMinute,
    successes,
    refusals,
    ...(lastRefusal && { lastRefusal }),
    lastUsedMs,
    latencyMs,
  }
}
