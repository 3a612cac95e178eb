import { sleep } from '../../base/deadline.ts'
import { LimitError, limiter, type Release } from '../../base/limiter.ts'
import type { Domain } from '../../names/domain.ts'
import type { Cluster, Remembered } from './cluster.ts'
import { type Hold, type HostLimits, holdOfDomain, holdOfProvider, LIMITS, rateOf } from './host-limits.ts'

/** Interval at which a slot that was not free is requested again, ms; at least half of it, so that nodes do not ask at the same moments. */
const TRY_AGAIN_MS = 100

export type SharedLimitsOptions = {
  readonly now: () => number
  readonly random: () => number
  /** Called with the facts that nodes store about a domain. */
  readonly noted: (domain: Domain, known: readonly Remembered[]) => void
}

/**
 * The limits of one node, also applied over all nodes on one database: connections to a mail host and to a provider, recipients per minute toward a provider
 * from any source, unknown mailboxes of a domain and pauses of a provider. While the database is unavailable, a node uses its share: the limit divided by the
 * number of nodes.
 */
export function sharedLimits(
  local: HostLimits,
  cluster: Cluster,
  { now, random, noted }: SharedLimitsOptions,
): HostLimits {
  const shares = limiter({ now })

  /** Slots of this node's share: the other nodes do not count them. */
  async function acquireShare(slots: readonly { key: string; limit: number }[], signal: AbortSignal): Promise<Release> {
    const nodes = await cluster.nodes()
    const held: Release[] = []
    try {
      for (const { key, limit } of slots)
        held.push(await shares.enter(key, { concurrent: Math.max(1, Math.floor(limit / nodes)) }, signal))
    } catch (error) {
      for (const release of held) release()
      throw error
    }
    return () => {
      for (const release of held.splice(0)) release()
    }
  }
  async function acquireShared(
    slots: readonly { key: string; limit: number }[],
    signal: AbortSignal,
  ): Promise<Release> {
    for (;;) {
      signal.throwIfAborted()
      const taken = await cluster.take(slots)
      if (taken === 'away') return acquireShare(slots, signal)
      if (taken !== 'full') return taken
      await sleep(TRY_AGAIN_MS * (0.5 + random()), signal)
    }
  }
  async function waitForToken(
    { provider, perMinute }: { readonly provider: string; readonly perMinute: number },
    signal: AbortSignal,
    withinMs: number,
  ): Promise<Hold | undefined> {
    const untilMs = now() + withinMs
    for (;;) {
      const { capacity, perSecond } = rateOf(perMinute)
      const waitMs = await cluster.takeToken(`verify ${provider}`, { capacity, perSecond })
      if (waitMs === 0) return undefined
      if (waitMs === 'away') return waitForShare(provider, perMinute, signal, untilMs - now())
      if (now() + waitMs > untilMs) return tooLate(provider, perMinute, waitMs)
      await sleep(waitMs, signal)
    }
  }
  async function waitForShare(
    provider: string,
    perMinute: number,
    signal: AbortSignal,
    withinMs: number,
  ): Promise<Hold | undefined> {
    const { capacity, perSecond } = rateOf(perMinute)
    const nodes = await cluster.nodes()
    const rate = { capacity: Math.max(1, capacity / nodes), perSecond: perSecond / nodes }
    try {
      ;(await shares.enter(`rate ${provider}`, { rate }, signal, withinMs))()
      return undefined
    } catch (error) {
      if (!(error instanceof LimitError)) throw error
      return tooLate(provider, perMinute / nodes, error.retryAfterMs)
    }
  }
  return {
    ...local,
    acquire: async (to, signal) => {
      const releaseLocal = await local.acquire(to, signal)
      try {
        const slots = [
          { key: `host ${to.address}`, limit: LIMITS.hostConnections },
          { key: `provider ${to.provider}`, limit: to.maxConnections },
        ]
        const releaseShared = await acquireShared(slots, signal)
        return () => {
          releaseShared()
          releaseLocal()
        }
      } catch (error) {
        releaseLocal()
        throw error
      }
    },
    waitForRate: async (from, signal, withinMs) => {
      const begunMs = now()
      const held = await local.waitForRate(from, signal, withinMs)
      return held ?? waitForToken(from, signal, withinMs - (now() - begunMs))
    },
    hold: async (domain, provider) => {
      const held = await local.hold(domain, provider)
      if (held) return held
      const known = await cluster.about(domain, provider)
      if (known === 'away') return undefined
      noted(domain, known)
      const pause = known.find(({ kind }) => kind === 'pause')
      if (pause) return holdOfProvider(provider, pause.leftMs)
      const unknown = known.find(({ kind }) => kind === 'unknown')
      return unknown && Number(unknown.value) >= LIMITS.unknownPerDomain
        ? holdOfDomain(domain, unknown.leftMs)
        : undefined
    },
    answered: (domain, provider, unknown) => {
      const pausedMs = local.answered(domain, provider, unknown)
      if (unknown) cluster.count('unknown', domain, LIMITS.domainMs)
      if (pausedMs !== undefined) void cluster.put('pause', provider, '', '', pausedMs)
      return pausedMs
    },
  }
}

const tooLate = (provider: string, perMinute: number, retryAfterMs: number): Hold => ({
  message: `this service verifies at most ${Math.round(perMinute)} recipients per minute at ${provider} from all its nodes`,
  retryAfterMs,
})
