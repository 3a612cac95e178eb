import { LRUCache } from 'lru-cache'
import { LimitError, limiter, type Release } from '../../base/limiter.ts'
import { type TtlCache, ttlCache } from '../../base/ttl-cache.ts'
import type { Domain } from '../../names/domain.ts'
import type { Ip } from '../../names/ip.ts'
import type { Reason } from '../reasons.ts'
import type { ProviderKey, Source } from './sources.ts'

/** The limits toward mail hosts, over all callers (docs/verification.md). */
export const LIMITS = {
  /** Concurrent connections to one address of a mail host. */
  hostConnections: 20,
  /** How long a failed host gets no new connection, ms. */
  failedMs: 60_000,
  /** Unknown mailboxes of one domain per hour. */
  unknownPerDomain: 100,
  domainMs: 3_600_000,
  /** A provider for which more than this share of the last recipients were unknown is paused for `pauseMs`. */
  unknownShare: 0.3,
  recipients: 100,
  pauseMs: 600_000,
} as const

/** A connection failure. */
export type HostFailure = { readonly reason: Reason; readonly message: string; readonly atMs: number }
/** Why a question is not asked now. */
export type Hold = { readonly message: string; readonly retryAfterMs: number }

export type HostLimits = {
  /** Waits for a connection slot at the address and the provider; the returned function frees it. Rejects with the signal's reason. */
  readonly acquire: (
    to: { address: Ip; provider: ProviderKey; maxConnections: number; source: Source },
    signal: AbortSignal,
  ) => Promise<Release>
  /**
   * Waits for the rate of recipients from the source to the provider. Returns undefined at its turn, or at once the reason why the turn would come later than
   * in `withinMs`. Rejects with the signal's reason.
   */
  readonly waitForRate: (
    from: { source: Source; provider: ProviderKey; perMinute: number },
    signal: AbortSignal,
    withinMs: number,
  ) => Promise<Hold | undefined>
  /** A connection failure of the last minute from this source. */
  readonly failure: (address: Ip, source: Source) => HostFailure | undefined
  readonly failed: (address: Ip, source: Source, failure: Omit<HostFailure, 'atMs'>) => void
  /** Whether the domain and its provider may be asked now. */
  readonly hold: (domain: Domain, provider: ProviderKey) => Hold | undefined | Promise<Hold | undefined>
  /** Counts a reply about a recipient; returns how long the provider is paused, ms, if this reply caused it. */
  readonly answered: (domain: Domain, provider: ProviderKey, unknown: boolean) => number | undefined
}

/** Pauses a provider for this time. */
export const holdOfProvider = (provider: ProviderKey, leftMs: number): Hold => ({
  message: `this service has paused verification at ${provider}: more than 30 % of the last ${LIMITS.recipients} recipients there were unknown`,
  retryAfterMs: leftMs,
})
/** Marks a domain as asked about too many unknown names, for this time. */
export const holdOfDomain = (domain: Domain, leftMs: number): Hold => ({
  message: `this service reached its limit of ${LIMITS.unknownPerDomain} unknown recipients per hour at ${domain}`,
  retryAfterMs: leftMs,
})

/** With `lifted` there are no limits (`--no-courtesy`). */
export function hostLimits(now: () => number, lifted: boolean): HostLimits {
  const connections = limiter({ now })
  const rates = limiter({ now })
  const failures: TtlCache<HostFailure> = ttlCache({ maxEntries: 10_000, now })
  const unknowns: TtlCache<{ count: number }> = ttlCache({ maxEntries: 10_000, now })
  const recent = new LRUCache<ProviderKey, boolean[]>({ max: 2_000 })
  const pauses: TtlCache<{ readonly untilMs: number }> = ttlCache({ maxEntries: 2_000, now })
  if (lifted) return NONE

  function noteDomain(domain: Domain): void {
    const kept = unknowns.get(domain)
    if (kept) kept.value.count++
    else unknowns.set(domain, { count: 1 }, LIMITS.domainMs)
  }
  function noteProvider(provider: ProviderKey, unknown: boolean): number | undefined {
    const last = recent.get(provider) ?? []
    last.push(unknown)
    if (last.length > LIMITS.recipients) last.shift()
    recent.set(provider, last)
    if (last.length < LIMITS.recipients) return undefined
    if (last.filter(Boolean).length <= LIMITS.unknownShare * LIMITS.recipients) return undefined
    pauses.set(provider, { untilMs: now() + LIMITS.pauseMs }, LIMITS.pauseMs)
    recent.delete(provider)
    return LIMITS.pauseMs
  }
  return {
    acquire: async ({ address, provider, maxConnections, source }, signal) => {
      const releaseHost = await connections.enter(`host ${address}`, { concurrent: LIMITS.hostConnections }, signal)
      try {
        const releaseProvider = await connections.enter(
          `provider ${provider} ${source ?? ''}`,
          { concurrent: maxConnections },
          signal,
        )
        return () => {
          releaseProvider()
          releaseHost()
        }
      } catch (error) {
        releaseHost()
        throw error
      }
    },
    waitForRate: async ({ source, provider, perMinute }, signal, withinMs) => {
      try {
        const done = await rates.enter(`${provider} ${source ?? ''}`, { rate: rateOf(perMinute) }, signal, withinMs)
        done()
        return undefined
      } catch (error) {
        if (!(error instanceof LimitError)) throw error
        const message = `this service verifies at most ${Math.round(perMinute)} recipients per minute at ${provider} from one address: ${error.message}`
        return { message, retryAfterMs: error.retryAfterMs }
      }
    },
    failure: (address, source) => failures.get(`${address} ${source ?? ''}`)?.value,
    failed: (address, source, failure) =>
      failures.set(`${address} ${source ?? ''}`, { ...failure, atMs: now() }, LIMITS.failedMs),
    hold: (domain, provider) => {
      const pause = pauses.get(provider)
      if (pause) return holdOfProvider(provider, pause.value.untilMs - now())
      const kept = unknowns.get(domain)
      if (!kept || kept.value.count < LIMITS.unknownPerDomain) return undefined
      return holdOfDomain(domain, kept.expiresAtMs - now())
    },
    answered: (domain, provider, unknown) => {
      if (unknown) noteDomain(domain)
      return noteProvider(provider, unknown)
    },
  }
}

/** A burst of half a minute's rate. */
export const rateOf = (perMinute: number) => ({ capacity: Math.max(5, perMinute / 2), perSecond: perMinute / 60 })

const NONE: HostLimits = {
  acquire: async () => () => {},
  waitForRate: async () => undefined,
  failure: () => undefined,
  failed: () => {},
  hold: () => undefined,
  answered: () => undefined,
}
