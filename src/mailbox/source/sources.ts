import { isJsonObject, type Json } from '../../base/json.ts'
import { isTimeMs } from '../../base/time.ts'
import { type Family, familyOf, type Ip, parseIp } from '../../names/ip.ts'
import type { Ctx } from '../../world.ts'
import {
  applyEvent,
  newSourceState,
  rankSources,
  type SourceEvent,
  type SourceState,
  takeRateToken,
} from './circuit-breaker.ts'

/** A source address; undefined is the system's choice. */
export type Source = Ip | undefined
/** A provider's id, or the registrable domain of the mail host. */
export type ProviderKey = string

export type SourceRow = { readonly source: Source; readonly provider: ProviderKey; readonly state: SourceState }

/** The state of all source addresses toward all providers; it survives a restart. */
export type Sources = {
  /** Source addresses for the provider, best first, of the usable families; and those that are skipped, with the reason. */
  readonly choose: (
    pool: readonly Source[],
    provider: { readonly key: ProviderKey; readonly perMinute: number },
    families: ReadonlySet<Family>,
  ) => ReturnType<typeof rankSources<Source>>
  /** Takes a token of the rate: how long to wait in ms (0: taken). */
  readonly takeToken: (source: Source, provider: ProviderKey, perMinute: number) => number
  readonly record: (source: Source, provider: ProviderKey, perMinute: number, event: SourceEvent) => void
  readonly rows: () => readonly SourceRow[]
  /** Closes all breakers; the counts stay. */
  readonly reload: () => void
  readonly load: () => Promise<void>
  readonly save: () => Promise<void>
}

const MAX_ROWS = 5_000
const SAVE_EVERY_MS = 2_000

/** `listed`: why a blacklist makes an address useless toward a provider. */
export function sources(
  world: Pick<Ctx, 'now' | 'store' | 'log'>,
  listed: (source: Ip, provider: ProviderKey) => string | undefined = () => undefined,
): Sources {
  const rows = new Map<string, SourceRow>()
  const unsaved = new Set<string>()
  let savedAtMs = 0
  let loading: Promise<void> | undefined

  const stateOf = (source: Source, provider: ProviderKey, perMinute: number): SourceState =>
    rows.get(`${source ?? ''} ${provider}`)?.state ?? newSourceState(perMinute, world.now())

  function keep(source: Source, provider: ProviderKey, state: SourceState): void {
    const key = `${source ?? ''} ${provider}`
    rows.delete(key)
    rows.set(key, { source, provider, state })
    unsaved.add(key)
    if (rows.size > MAX_ROWS) rows.delete(rows.keys().next().value!) // the least recently used
  }
  async function save(): Promise<void> {
    savedAtMs = world.now()
    const keys = [...unsaved]
    unsaved.clear()
    const changed = keys.flatMap((key) => storedRow(key, rows.get(key)))
    try {
      await world.store.sources.putAll(changed)
    } catch (error) {
      for (const key of keys) unsaved.add(key)
      throw error
    }
  }

  /** Rows of the store that are not known yet, the least recently used first. A load that failed is tried again by the next call. */
  async function load(): Promise<void> {
    try {
      const stored = await world.store.sources.list({ limit: MAX_ROWS })
      const read = stored.flatMap(({ value }) => readRow(value))
      for (const row of read.toSorted((a, b) => a.state.lastUsedMs - b.state.lastUsedMs)) {
        const key = `${row.source ?? ''} ${row.provider}`
        if (!rows.has(key)) rows.set(key, row)
      }
    } catch (error) {
      loading = undefined
      world.log.warn('the state of the source addresses could not be read', { error: String(error) })
    }
  }

  return {
    choose: (pool, provider, families) => {
      const fitting = pool.filter((source) => source === undefined || families.has(familyOf(source)))
      const candidates = fitting.map((source) => {
        const why = source === undefined ? undefined : listed(source, provider.key)
        const state = stateOf(source, provider.key, provider.perMinute)
        return { source, state, ...(why !== undefined && { listed: why }) }
      })
      return rankSources(candidates, world.now())
    },
    takeToken: (source, provider, perMinute) => {
      const { state, waitMs } = takeRateToken(stateOf(source, provider, perMinute), world.now())
      keep(source, provider, state)
      return waitMs
    },
    record: (source, provider, perMinute, event) => {
      keep(source, provider, applyEvent(stateOf(source, provider, perMinute), event, world.now()))
      if (world.now() - savedAtMs >= SAVE_EVERY_MS)
        save().catch((error: unknown) =>
          world.log.warn('the state of the source addresses could not be saved', { error: String(error) }),
        )
    },
    rows: () => [...rows.values()],
    reload: () => {
      for (const [key, row] of rows) {
        rows.set(key, { ...row, state: { ...row.state, breaker: 'closed', restUntilMs: 0, coolDownMs: 0 } })
        unsaved.add(key)
      }
    },
    load: () => {
      loading ??= load()
      return loading
    },
    save,
  }
}

/** As it is stored; `standing` is the name in stores of earlier versions. */
const storedRow = (key: string, row: SourceRow | undefined): { readonly key: string; readonly value: Json }[] =>
  row ? [{ key, value: { source: row.source, provider: row.provider, standing: row.state as unknown as Json } }] : []

/** A row of the store; none when it is not in order. */
function readRow(row: Json): SourceRow[] {
  if (!isJsonObject(row)) return []
  const { source, provider, standing: state } = row
  const address = typeof source === 'string' ? parseIp(source) : undefined
  if (address && !address.ok) return []
  if (typeof provider !== 'string' || !isSourceState(state)) return []
  return [{ source: address?.ok ? address.value : undefined, provider, state }]
}

const TIMES = ['restUntilMs', 'trialAtMs', 'lastUsedMs'] as const
const NUMBERS = ['coolDownMs', 'perMinute', 'maxPerMinute', 'successes', 'refusals', 'latencyMs'] as const

function isSourceState(value: unknown): value is SourceState {
  if (typeof value !== 'object' || value === null) return false
  const one = value as Record<string, unknown>
  const bucket = one.bucket as Record<string, unknown> | undefined
  return (
    TIMES.every((name) => isTimeMs(one[name])) &&
    NUMBERS.every((name) => Number.isFinite(one[name])) &&
    ['closed', 'open', 'half_open'].includes(one.breaker as string) &&
    Number.isFinite(bucket?.tokens) &&
    isTimeMs(bucket?.atMs) &&
    (one.lastRefusal === undefined || isRefusal(one.lastRefusal))
  )
}

const isRefusal = (value: unknown): boolean =>
  isJsonObject(value) && typeof value.reason === 'string' && typeof value.text === 'string' && isTimeMs(value.atMs)
