import { isJsonObject, type Json } from '../../base/json.ts'
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
const KEY = 'mailbox/sources'
const SAVE_EVERY_MS = 2_000

/** `listed`: why a blacklist makes an address useless toward a provider. */
export function sources(
  world: Pick<Ctx, 'now' | 'store' | 'log'>,
  listed: (source: Ip, provider: ProviderKey) => string | undefined = () => undefined,
): Sources {
  const rows = new Map<string, SourceRow>()
  let savedAtMs = 0
  let loading: Promise<void> | undefined

  const stateOf = (source: Source, provider: ProviderKey, perMinute: number): SourceState =>
    rows.get(`${source ?? ''} ${provider}`)?.state ?? newSourceState(perMinute, world.now())

  function keep(source: Source, provider: ProviderKey, state: SourceState): void {
    const key = `${source ?? ''} ${provider}`
    rows.delete(key)
    rows.set(key, { source, provider, state })
    if (rows.size > MAX_ROWS) rows.delete(rows.keys().next().value!) // the least recently used
  }
  async function save(): Promise<void> {
    savedAtMs = world.now()
    const last = [...rows.values()].slice(-1_000)
    // `standing` is the name in stores of earlier versions.
    await world.store.set(
      KEY,
      last.map(({ source, provider, state }) => ({ source, provider, standing: state })) as unknown as Json,
    )
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
      for (const [key, row] of rows)
        rows.set(key, { ...row, state: { ...row.state, breaker: 'closed', restUntilMs: 0, coolDownMs: 0 } })
    },
    load: () => {
      loading ??= world.store.get(KEY).then((kept) => {
        for (const row of readRows(kept))
          if (!rows.has(`${row.source ?? ''} ${row.provider}`)) keep(row.source, row.provider, row.state)
      })
      return loading
    },
    save,
  }
}

/** The rows of the store; unreadable ones are left out. */
function readRows(kept: Json | undefined): readonly SourceRow[] {
  if (!Array.isArray(kept)) return []
  return (kept as readonly Json[]).flatMap((row) => {
    if (!isJsonObject(row)) return []
    const { source, provider, standing: state } = row
    const address = typeof source === 'string' ? parseIp(source) : undefined
    if (address && !address.ok) return []
    if (typeof provider !== 'string' || !isSourceState(state)) return []
    return [{ source: address?.ok ? address.value : undefined, provider, state }]
  })
}

const NUMBERS = [
  'restUntilMs',
  'coolDownMs',
  'trialAtMs',
  'perMinute',
  'maxPerMinute',
  'successes',
  'refusals',
  'lastUsedMs',
  'latencyMs',
] as const

function isSourceState(value: unknown): value is SourceState {
  if (typeof value !== 'object' || value === null) return false
  const one = value as Record<string, unknown>
  const bucket = one.bucket as Record<string, unknown> | undefined
  return (
    NUMBERS.every((name) => typeof one[name] === 'number') &&
    ['closed', 'open', 'half_open'].includes(one.breaker as string) &&
    typeof bucket?.tokens === 'number' &&
    typeof bucket.atMs === 'number'
  )
}
