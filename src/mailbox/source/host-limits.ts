import { LRUCache } from 'lru-cache'
import { LimitError, limiter, type Release } from '../../base/limiter.ts'
import { type TtlCache, ttlCache } from '../../base/ttl-cache.ts'
import type { Domain } from '../../names/domain.ts'
import type { Ip } from '../../names/ip.ts'
import type { Memory } from '../../store/postgres/shared-memory.ts'
import type { Reason } from '../reasons.ts'
import type { Cluster } from './cluster.ts'
import { type LeaseLimits, leases, rateOf } from './leases.ts'
import type { ProviderKey, Source } from './source-rows.ts'

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

export type HostFailure = { readonly reason: Reason; readonly message: string; readonly atMs: number }
/** Why a question is not asked now. */
type Hold = { readonly message: string; readonly retryAfterMs: number }

/** The limits toward a provider from all sources and nodes together. */
export type ProviderAllowance = { readonly key: ProviderKey } & LeaseLimits

export type HostLimits = {
  /**
   * Waits for a connection to the address and the provider; the returned function frees it. Rejects with the signal's
   * reason.
   */
  readonly acquire: (address: Ip, provider: ProviderAllowance, signal: AbortSignal) => Promise<Release>
  /**
   * Waits for the rate of recipients of the source (`perMinute`), and of the provider. Returns undefined at its turn,
   * or at once the reason why the turn would come later than in `withinMs`. Rejects with the signal's reason.
   */
  readonly waitForRate: (
    from: { readonly source: Source; readonly perMinute: number; readonly provider: ProviderAllowance },
    signal: AbortSignal,
    withinMs: number,
  ) => Promise<Hold | undefined>
  /** Questions that may begin at the provider at once, if `claimed` are about to. */
  readonly room: (provider: ProviderAllowance, claimed: number) => number
  /** Calls the listener when there may be more room. */
  readonly onRoom: (listener: () => void) => void
  /** A connection failure of the last minute from this source, or what made the host rest for all of them. */
  readonly failure: (address: Ip, source: Source) => HostFailure | undefined
  readonly failed: (address: Ip, source: Source, failure: Omit<HostFailure, 'atMs'>) => void
  /** The host gets no new connection from any source for `forMs`, by default as long as a failed one. */
  readonly rests: (address: Ip, failure: Omit<HostFailure, 'atMs'>, forMs: number | undefined) => void
  /** Whether the domain and its provider may be asked now. */
  readonly hold: (domain: Domain, provider: ProviderKey) => Promise<Hold | undefined>
  /** Counts a reply about a recipient; returns how long the provider is paused, ms, if this reply caused it. */
  readonly answered: (domain: Domain, provider: ProviderKey, unknown: boolean) => number | undefined
}

/** Pauses a provider for this time. */
const holdOfProvider = (provider: ProviderKey, leftMs: number): Hold => ({
  message: `this service has paused verification at ${provider}: more than 30 % of the last ${LIMITS.recipients} recipients there were unknown`,
  retryAfterMs: leftMs,
})
/** Marks a domain as asked about too many unknown names, for this time. */
const holdOfDomain = (domain: Domain, leftMs: number): Hold => ({
  message: `this service reached its limit of ${LIMITS.unknownPerDomain} unknown recipients per hour at ${domain}`,
  retryAfterMs: leftMs,
})

type HostLimitsOptions = {
  /** Milliseconds that never step back. */
  readonly now: () => number
  /** No limits (`--no-courtesy`). */
  readonly isLifted: boolean
  /** The state that the nodes on one database share. */
  readonly cluster: Cluster | undefined
  /** Called with the facts that nodes store about a domain. */
  readonly noted: (domain: Domain, known: readonly Memory[]) => void
}

/**
 * The limits of this node, and those that all nodes on one database share: connections, recipients per minute, unknown
 * mailboxes of a domain and pauses of a provider.
 */
export function hostLimits({ now, isLifted, cluster, noted }: HostLimitsOptions): HostLimits {
  const shared = leases(now, cluster)
  const rates = limiter({ now })
  const failures: TtlCache<HostFailure> = ttlCache({ maxEntries: 10_000, now })
  const unknowns: TtlCache<{ count: number }> = ttlCache({ maxEntries: 10_000, now })
  const recent = new LRUCache<ProviderKey, boolean[]>({ max: 2_000 })
  const pauses: TtlCache<{ readonly untilMs: number }> = ttlCache({ maxEntries: 2_000, now })
  if (isLifted) return NONE

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
  async function rateOfSource(
    { source, perMinute, provider }: Parameters<HostLimits['waitForRate']>[0],
    signal: AbortSignal,
    withinMs: number,
  ): Promise<Hold | undefined> {
    const from = `${provider.key} from one address`
    try {
      ;(await rates.enter(`${provider.key} ${source ?? ''}`, { rate: rateOf(perMinute) }, signal, withinMs))()
      return undefined
    } catch (error) {
      if (!(error instanceof LimitError)) throw error
      return tooLate(perMinute, from, error.retryAfterMs)
    }
  }
  return {
    acquire: async (address, provider, signal) => {
      const host = { connections: LIMITS.hostConnections, perMinute: Number.POSITIVE_INFINITY }
      const releaseHost = await shared.connect(`host ${address}`, host, signal)
      try {
        const releaseProvider = await shared.connect(provider.key, provider, signal)
        return () => {
          releaseProvider()
          releaseHost()
        }
      } catch (error) {
        releaseHost()
        throw error
      }
    },
    waitForRate: async (from, signal, withinMs) => {
      const { provider } = from
      const begunMs = now()
      const late = await rateOfSource(from, signal, withinMs)
      if (late) return late
      const waitMs = await shared.recipient(provider.key, provider, signal, withinMs - (now() - begunMs))
      return waitMs === undefined ? undefined : tooLate(provider.perMinute, provider.key, waitMs)
    },
    room: (provider, claimed) => shared.room(provider.key, provider, claimed),
    onRoom: shared.onRoom,
    failure: (address, source) => (failures.get(address) ?? failures.get(`${address} ${source ?? ''}`))?.value,
    failed: (address, source, failure) =>
      failures.set(`${address} ${source ?? ''}`, { ...failure, atMs: now() }, LIMITS.failedMs),
    rests: (address, failure, forMs = LIMITS.failedMs) =>
      void failures.set(address, { ...failure, atMs: now() }, Math.max(forMs, LIMITS.failedMs)),
    hold: async (domain, provider) => {
      const pause = pauses.get(provider)
      if (pause) return holdOfProvider(provider, pause.value.untilMs - now())
      const kept = unknowns.get(domain)
      if (kept && kept.value.count >= LIMITS.unknownPerDomain) return holdOfDomain(domain, kept.expiresAtMs - now())
      return cluster && holdOfOthers(cluster, domain, provider)
    },
    answered: (domain, provider, unknown) => {
      if (unknown) noteDomain(domain)
      if (unknown) cluster?.count('unknown', domain, LIMITS.domainMs)
      const pausedMs = noteProvider(provider, unknown)
      if (pausedMs !== undefined) void cluster?.put('pause', provider, '', '', pausedMs)
      return pausedMs
    },
  }

  async function holdOfOthers(others: Cluster, domain: Domain, provider: ProviderKey): Promise<Hold | undefined> {
    const known = await others.about(domain, provider)
    if (known === 'away') return undefined
    noted(domain, known)
    const pause = known.find(({ kind }) => kind === 'pause')
    if (pause) return holdOfProvider(provider, pause.leftMs)
    const unknown = known.find(({ kind }) => kind === 'unknown')
    const isMany = unknown && Number(unknown.value) >= LIMITS.unknownPerDomain
    return isMany ? holdOfDomain(domain, unknown.leftMs) : undefined
  }
}

const tooLate = (perMinute: number, where: string, retryAfterMs: number): Hold => ({
  message: `this service verifies at most ${Math.round(perMinute)} recipients per minute at ${where}: the next is due in ${Math.ceil(retryAfterMs)} ms, after the deadline`,
  retryAfterMs,
})

const NONE: HostLimits = {
  acquire: async () => () => {},
  waitForRate: async () => undefined,
  room: () => Number.POSITIVE_INFINITY,
  onRoom: () => {},
  failure: () => undefined,
  failed: () => {},
  rests: () => {},
  hold: async () => undefined,
  answered: () => undefined,
}
