import { stepMs } from '../../base/time.ts'
import type { Family } from '../../names/ip.ts'
import { familyOfSource, type SourceName } from '../../names/source.ts'
import type { Ctx } from '../../world.ts'
import {
  applyEvent,
  healthOf,
  newSourceState,
  ON_TRIAL,
  rankSources,
  type SourceEvent,
  type SourceState,
  unavailableReason,
} from './circuit-breaker.ts'
import type { Cluster } from './cluster.ts'
import { keyOf, type ProviderKey, type Source, sourceRows } from './source-rows.ts'

/**
 * A provider as needed for source addresses: its key, and the recipients per minute that its row permits from one of
 * them.
 */
export type ProviderLimits = { readonly key: ProviderKey; readonly perMinute: number }

/** A use of a source in progress. `end` records its outcome and must be called; further calls do nothing. */
export type Use = {
  readonly ok: true
  /** Whether it is the trial of a circuit breaker. */
  readonly isTrial: boolean
  readonly end: (event: SourceEvent) => void
}
export type Unavailable = {
  readonly ok: false
  readonly why: string
  /** By the monotonic clock. */
  readonly untilMs: number
  /** Resolves when the trial in progress has ended; absent if there is none. */
  readonly trialEnded?: Promise<void>
}

/** The state of all source addresses toward all providers; it survives a restart. */
export type Sources = ReturnType<typeof sources>

const SAVE_EVERY_MS = 2_000

/** `listed`: why a blacklist makes an address unusable toward a provider. */
export function sources(
  world: Pick<Ctx, 'now' | 'monotonic' | 'store' | 'log'>,
  listed: (source: SourceName, provider: ProviderKey) => string | undefined = () => undefined,
  shared?: Pick<Cluster, 'changedSources' | 'putSources'>,
) {
  const rows = sourceRows(world, shared)
  let savedAtMs = Number.NEGATIVE_INFINITY
  const trials = new Map<string, Promise<void>>()

  const stateOf = (source: Source, { key, perMinute }: ProviderLimits): SourceState =>
    rows.get(source, key) ?? newSourceState(perMinute)

  async function save(): Promise<void> {
    savedAtMs = world.monotonic()
    await rows.save()
  }
  function record(source: Source, provider: ProviderLimits, event: SourceEvent): void {
    const nowMs = world.monotonic()
    const before = stateOf(source, provider)
    const after = applyEvent(before, event, nowMs)
    rows.set(source, provider.key, after)
    const isNews = shared !== undefined && event.kind !== 'unanswered' && after.breaker !== before.breaker
    if (!isNews && nowMs - savedAtMs < SAVE_EVERY_MS) return
    save().catch((error: unknown) =>
      world.log.warn('the state of the source addresses could not be saved', { error: String(error) }),
    )
  }
  /** Why the source must not be used now; undefined if it may. */
  function unavailable(source: Source, provider: ProviderLimits): Unavailable | undefined {
    const state = stateOf(source, provider)
    const trialEnded = trials.get(keyOf(source, provider.key))
    const why = unavailableReason(state, world.monotonic(), stepMs(world)) ?? (trialEnded && ON_TRIAL)
    if (why === undefined) return undefined
    const untilMs = Math.max(state.pausedUntilMs, world.monotonic())
    return { ok: false, why, untilMs, ...(trialEnded && { trialEnded }) }
  }
  /**
   * Starts a use of the source. The check and the record are one step: of many verifications that wait for a half-open
   * breaker, one is the trial. With `force` a use is never refused.
   */
  function begin(source: Source, provider: ProviderLimits, force: boolean): Use | Unavailable {
    const refused = force ? undefined : unavailable(source, provider)
    if (refused) return refused
    const key = keyOf(source, provider.key)
    const trial = stateOf(source, provider).breaker === 'closed' ? undefined : Promise.withResolvers<void>()
    if (trial && !trials.has(key)) trials.set(key, trial.promise)
    record(source, provider, { kind: 'begun' })
    let hasEnded = false
    const end = (event: SourceEvent): void => {
      if (hasEnded) return
      hasEnded = true
      record(source, provider, event)
      if (trial && trials.get(key) === trial.promise) trials.delete(key)
      trial?.resolve()
    }
    return { ok: true, isTrial: trial !== undefined, end }
  }
  return {
    /**
     * Source addresses for the provider, best first, of the usable families; and those that are skipped, with the
     * reason.
     */
    choose: (
      pool: readonly Source[],
      provider: ProviderLimits,
      families: ReadonlySet<Family>,
    ): ReturnType<typeof rankSources<Source>> => {
      const fitting = pool.filter((source) => {
        const family = familyOfSource(source) // a proxy or a node may reach both
        return family === undefined || families.has(family)
      })
      const candidates = fitting.map((source) => {
        const why = source === undefined ? undefined : listed(source, provider.key)
        const state = stateOf(source, provider)
        return { source, state, ...(why !== undefined && { listed: why }) }
      })
      return rankSources(candidates, world.monotonic(), stepMs(world))
    },
    /** Recipients per minute that the source may ask the provider about now. */
    perMinute: (source: Source, provider: ProviderLimits) => stateOf(source, provider).perMinute,
    unavailable,
    begin,
    /** 0: healthy; 1: due for a trial; 2: on trial; 3: in its cooldown. */
    health: (source: Source, provider: ProviderLimits) => healthOf(stateOf(source, provider), world.monotonic()),
    /** With displayed times; all other members use the monotonic clock. */
    rows: () => rows.all().map(rows.shown).reverse(), // the least recently used first
    /** Closes all breakers; the counts stay. */
    reload: (): void => {
      for (const { source, provider, state } of rows.all())
        rows.set(source, provider, { ...state, breaker: 'closed', pausedUntilMs: 0, coolDownMs: 0 })
    },
    load: rows.load,
    save,
  }
}
