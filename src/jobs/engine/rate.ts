import { raced, sleep } from '../../base/deadline.ts'
import { throughOutage } from '../../store/postgres/away.ts'
import type { TakeTokens } from '../../store/postgres/provider-rates.ts'
import type { RowProvider } from './ask.ts'

/** The share of a rate that one lease takes, and the size of the bucket. */
const LEASE_SECONDS = 2

/** Takes a slot in the rate of a provider across all nodes: undefined if one was free, else the time to wait, ms. */
export type TakeTurn = (provider: RowProvider, signal: AbortSignal) => Promise<number | undefined>

/** Leases of the providers' rates: one query leases some seconds of a rate, whose slots are then taken from memory. While the database is unavailable, callers wait until `ending` fires. */
export function rateLeases(take: TakeTokens, ending: AbortSignal): TakeTurn {
  const held = new Map<string, { tokens: number; asking?: Promise<number> }>()

  async function lease(provider: RowProvider): Promise<number> {
    const perSecond = provider.perMinute / 60
    const capacity = Math.max(1, perSecond * LEASE_SECONDS)
    const { granted, waitMs } = await throughOutage(
      () => take(provider.id, { perSecond, capacity }, Math.ceil(capacity)),
      ending,
    )
    const entry = held.get(provider.id)
    if (entry) entry.tokens += granted
    return waitMs
  }
  return async (provider, signal) => {
    if (provider.perMinute === Number.POSITIVE_INFINITY) return undefined
    const entry = held.get(provider.id) ?? { tokens: 0 }
    held.set(provider.id, entry)
    for (;;) {
      if (entry.tokens >= 1) {
        entry.tokens--
        return undefined
      }
      entry.asking ??= lease(provider).finally(() => delete entry.asking)
      const waitMs = await raced(signal, entry.asking)
      if (waitMs > PATIENCE_MS) return waitMs
      if (waitMs > 0) await sleep(waitMs, signal)
    }
  }
}

/** Maximum time that a worker waits for a slot; a row that must wait longer is returned and occupies no worker. */
const PATIENCE_MS = 3_000
