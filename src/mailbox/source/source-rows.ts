import { LRUCache } from 'lru-cache'
import { isJsonRecord, type Json } from '../../base/json.ts'
import { fromWall, isTimeMs, toWall } from '../../base/time.ts'
import { parseSourceName, type SourceName } from '../../names/source.ts'
import type { Ctx } from '../../world.ts'
import type { SourceState } from './circuit-breaker.ts'
import type { Cluster } from './cluster.ts'

/** A source: an address, a proxy or a node; undefined is the system's choice. */
export type Source = SourceName | undefined
/** A provider's id, or the registrable domain of the mail host. */
export type ProviderKey = string

export type SourceRow = { readonly source: Source; readonly provider: ProviderKey; readonly state: SourceState }

/** Maximum number of states of sources that are kept. */
const MAX_ROWS = 5_000
/** Maximum age of what other nodes reported about the sources, ms. */
const SHARED_AGE_MS = 1_000

/**
 * The states of sources in memory, by the monotonic clock. What changes is stored, that of sources with a name for all
 * nodes of a cluster.
 */
export function sourceRows(
  world: Pick<Ctx, 'now' | 'monotonic' | 'store' | 'log'>,
  shared?: Pick<Cluster, 'changedSources' | 'putSources'>,
) {
  const rows = new LRUCache<string, SourceRow>({ max: MAX_ROWS })
  const unsaved = new Set<string>()
  let loading: Promise<void> | undefined
  let sharedAtMs = Number.NEGATIVE_INFINITY

  const shown = (row: SourceRow): SourceRow => ({ ...row, state: moved(row.state, (ms) => toWall(world, ms)) })
  const stored = (row: SourceRow) => storedSource(shown(row))
  const readStored = (value: Json, isLive = false): SourceRow[] =>
    readSource(value, isLive).map((row) => ({ ...row, state: moved(row.state, (ms) => fromWall(world, ms)) }))

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

  return {
    get: (source: Source, provider: ProviderKey): SourceState | undefined => rows.peek(keyOf(source, provider))?.state,
    set: (source: Source, provider: ProviderKey, state: SourceState): void => {
      const key = keyOf(source, provider)
      rows.set(key, { source, provider, state })
      unsaved.add(key)
    },
    /** All of them, the last used first. */
    all: (): readonly SourceRow[] => [...rows.values()],
    /** With times by the wall clock. */
    shown,
    /** Reads what is stored, and what other nodes have stored since. */
    load: (): Promise<void> => {
      loading ??= load()
      return shared ? loadShared(shared, loading) : loading
    },
    /** Stores what has changed. */
    save: async (): Promise<void> => {
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
    },
  }
}

export const keyOf = (source: Source, provider: ProviderKey): string => `${source ?? ''} ${provider}`

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
