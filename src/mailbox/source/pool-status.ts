import type { Ip } from '../../names/ip.ts'
import { restReason } from './circuit-breaker.ts'
import type { ProviderKey, Source, SourceRow } from './sources.ts'

/** How one source address stands. */
export type PoolRow = {
  /** Undefined: the system's choice. */
  readonly address: Source
  /** It belongs to the pool that is configured now. */
  readonly configured: boolean
  readonly providers: readonly {
    readonly provider: ProviderKey
    readonly breaker: 'closed' | 'open' | 'half_open'
    /** Why it is not used toward this provider now. */
    readonly resting?: string
    readonly restUntilMs?: number
    readonly perMinute: number
    readonly successes: number
    readonly refusals: number
    readonly lastRefusal?: { readonly reason: string; readonly text: string; readonly atMs: number }
    readonly lastUsedMs: number
    readonly latencyMs: number
  }[]
}

/** A row an address: those of the pool first, in their order, then others that were used. At most 100 providers each, the latest used first. */
export function poolView(
  pool: readonly Ip[],
  rows: readonly SourceRow[],
  now: number,
  listed: (source: Ip, provider: ProviderKey) => string | undefined = () => undefined,
): readonly PoolRow[] {
  const addresses = [...new Set<Source>([...pool, ...rows.map(({ source }) => source)])]
  return addresses.map((address) => ({
    address,
    configured: address === undefined ? pool.length === 0 : pool.includes(address),
    providers: rows
      .filter(({ source }) => source === address)
      .toSorted((a, b) => b.standing.lastUsedMs - a.standing.lastUsedMs)
      .slice(0, 100)
      .map((row) => providerRow(row, now, listed)),
  }))
}

function providerRow(
  { source, provider, standing }: SourceRow,
  now: number,
  listed: (source: Ip, provider: ProviderKey) => string | undefined,
): PoolRow['providers'][number] {
  const resting = (source === undefined ? undefined : listed(source, provider)) ?? restReason(standing, now)
  const { breaker, restUntilMs, perMinute, successes, refusals, lastRefusal, lastUsedMs, latencyMs } = standing
  return {
    provider,
    breaker,
    ...(resting !== undefined && { resting }),
    ...(restUntilMs > now && { restUntilMs }),
    perMinute,
    successes,
    refusals,
    ...(lastRefusal && { lastRefusal }),
    lastUsedMs,
    latencyMs,
  }
}
