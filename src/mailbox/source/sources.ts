import { LRUCache } from 'lru-cache'
import { isJsonRecord, type Json } from '../../base/json.ts'
import { fromWall, isTimeMs, stepMs, toWall } from '../../base/time.ts'
import type { Family } from '../../names/ip.ts'
import { familyOfSource, parseSourceName, type SourceName } from '../../names/source.ts'
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

/** A source: an address, a proxy or a node; undefined is the system's choice. */
export type Source = SourceName | undefined
/** A provider's id, or the registrable domain of the mail host. */
export type ProviderKey = string

export type SourceRow = { readonly source: Source; readonly provider: ProviderKey; readonly state: SourceState }

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

/** Maximum number of states of sources that are kept. */
const MAX_ROWS = 5_000
const SAVE_EVERY_MS = 2_000
/** Maximum age of what other nodes reported about the sources, ms. */
const SHARED_AGE_MS = 1_000

/** `listed`: why a blacklist makes an address unusable toward a provider. */
export function sources(
  world: Pick<Ctx, 'now' | 'monotonic' | 'store' | 'log'>,
  listed: (source: SourceName, provider: ProviderKey) => string | undefined = () => undefined,
  shared?: Pick<Cluster, 'changedSources' | 'putSources'>,
) {
  const rows = new LRUCache<string, SourceRow>({ max: MAX_ROWS })
  const unsaved = new Set<string>()
  let savedAtMs = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | undefined
  let sharedAtMs = Number.NEGATIVE_INFINITY
  const trials = new Map<string, Promise<void>>()

  const shown = (row: SourceRow): SourceRow => ({ ...row, state: moved(row.state, (ms) => toWall(world, ms)) })
  const stored = (row: SourceRow) => storedSource(shown(row))
  const readStored = (value: Json, isLive = false): SourceRow[] =>
    readSource(value, isLive).map((row) => ({ ...row, state: moved(row.state, (ms) => fromWall(world, ms)) }))
  const stateOf = (source: Source, { key, perMinute }: ProviderLimits): SourceState =>
    rows.peek(keyOf(source, key))?.state ?? newSourceState(perMinute)

  function keep(source: Source, provider: ProviderKey, state: SourceState): void {
    const key = keyOf(source, provider)
    rows.set(key, { source, provider, state })
    unsaved.add(key)
  }
  async function save(): Promise<void> {
    savedAtMs = world.monotonic()
    const keys = [...unsaved]
    unsaved.clear()
    const changed = keys.flatMap((key) => rows.peek(key) ?? [])
    const isShared = ({ source }: SourceRow): boolean => shared !== undefined && source !== undefined
    try {
      await shared?.putSources(changed.filter(isShared).map(stored))
      await world.store.sources.putAll(changed.filter((row) => !isShared(row)).map(stored))
    } catch (error) {
      for (const key of keys) unsaved.add(key)
      throw error
    }
  }

  /** Rows of the store that are not loaded yet, the least recently used first. The next call repeats a failed load. */
  async function load(): Promise<void> {
    try {
      const kept = await world.store.sources.list({ limit: MAX_ROWS })
      const read = kept.flatMap(({ value }) => readStored(value))
      for (const row of read.toSorted((a, b) => a.state.lastUsedMs - b.state.lastUsedMs)) {
        const key = keyOf(row.source, row.provider)
        if (!rows.has(key)) rows.set(key, row)
      }
    } catch (error) {
      loading = undefined
      world.log.warn('the state of the source addresses could not be read', { error: String(error) })
    }
  }

  /** What other nodes stored about a source in the meantime, if it is newer than the state here. */
  async function takeUpShared(others: NonNullable<typeof shared>): Promise<void> {
    sharedAtMs = world.monotonic()
    const told = await others.changedSources()
    for (const row of told.flatMap((value) => readStored(value, true))) {
      const key = keyOf(row.source, row.provider)
      const known = rows.peek(key)
      if (!known || learntAtMs(known.state) < learntAtMs(row.state)) rows.set(key, row)
    }
  }

  async function loadShared(others: NonNullable<typeof shared>, own: Promise<void>): Promise<void> {
    await own
    if (world.monotonic() - sharedAtMs >= SHARED_AGE_MS) await takeUpShared(others)
  }

  function record(source: Source, provider: ProviderLimits, event: SourceEvent): void {
    const nowMs = world.monotonic()
    const before = stateOf(source, provider)
    const after = applyEvent(before, event, nowMs)
    keep(source, provider.key, after)
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
    rows: () => [...rows.values()].map(shown).reverse(), // the least recently used first
    /** Closes all breakers; the counts stay. */
    reload: (): void => {
      for (const [key, row] of [...rows]) {
        rows.set(key, { ...row, state: { ...row.state, breaker: 'closed', pausedUntilMs: 0, coolDownMs: 0 } })
        unsaved.add(key)
      }
    },
    load: (): Promise<void> => {
      loading ??= load()
      return shared ? loadShared(shared, loading) : loading
    },
    save,
  }
}

const keyOf = (source: Source, provider: ProviderKey): string => `${source ?? ''} ${provider}`

const storedSource = ({ source, provider, state }: SourceRow): { readonly key: string; readonly value: Json } => ({
  key: keyOf(source, provider),
  value: { source, provider, state: state as unknown as Json },
})

/** A row of the store; none if it is invalid. With `isLive` the process that wrote it may still be running. */
function readSource(row: Json, isLive = false): SourceRow[] {
  if (!isJsonRecord(row)) return []
  const { source, provider, state } = row
  const address = typeof source === 'string' ? parseSourceName(source) : undefined
  if (address && !address.ok) return []
  if (typeof provider !== 'string' || !isSourceState(state)) return []
  // The trial of a process that has ended is over.
  const breaker = state.breaker === 'half_open' && !isLive ? 'open' : state.breaker
  return [{ source: address?.ok ? address.value : undefined, provider, state: { ...state, breaker } }]
}

/** A state whose times are converted to another clock. */
const moved = (state: SourceState, to: (ms: number) => number): SourceState => ({
  ...state,
  pausedUntilMs: to(state.pausedUntilMs),
  trialAtMs: to(state.trialAtMs),
  lastUsedMs: to(state.lastUsedMs),
  ...(state.lastRefusal && { lastRefusal: { ...state.lastRefusal, atMs: to(state.lastRefusal.atMs) } }),
})

const learntAtMs = ({ lastUsedMs, lastRefusal }: SourceState): number => Math.max(lastUsedMs, lastRefusal?.atMs ?? 0)

const TIMES = ['pausedUntilMs', 'trialAtMs', 'lastUsedMs'] as const
const NUMBERS = ['coolDownMs', 'perMinute', 'maxPerMinute', 'successes', 'refusals', 'latencyMs'] as const

function isSourceState(value: unknown): value is SourceState {
  if (typeof value !== 'object' || value === null) return false
  const one = value as Record<string, unknown>
  return (
    TIMES.every((name) => isTimeMs(one[name])) &&
    NUMBERS.every((name) => Number.isFinite(one[name])) &&
    ['closed', 'open', 'half_open'].includes(one.breaker as string) &&
    (one.lastRefusal === undefined || isRefusal(one.lastRefusal))
  )
}

const isRefusal = (value: unknown): boolean =>
  isJsonRecord(value) && typeof value.reason === 'string' && typeof value.text === 'string' && isTimeMs(value.atMs)
