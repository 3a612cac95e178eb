import { isJsonObject, type Json } from '../../base/json.ts'
import { type Family, familyOf, type Ip, parseIp } from '../../names/ip.ts'
import type { Ctx } from '../../world.ts'
import { after, choose, freshStanding, type SourceEvent, type Standing, takeTurn } from './circuit-breaker.ts'

/** A source address; undefined is the system's choice. */
export type Source = Ip | undefined
/** Who the other side is, as far as a standing goes: a provider's id, or the registrable domain of the mail host. */
export type ProviderKey = string

export type SourceRow = { readonly source: Source; readonly provider: ProviderKey; readonly standing: Standing }

/** The standings of all source addresses with all providers, remembered over a restart. */
export type Sources = {
  /** Source addresses for the provider, best first, of the families that can be used; and those that rest, with the reason. */
  readonly pick: (
    pool: readonly Source[],
    provider: { readonly key: ProviderKey; readonly perMinute: number },
    families: ReadonlySet<Family>,
  ) => ReturnType<typeof choose<Source>>
  /** How long to wait in ms for a turn (0: taken). */
  readonly turn: (source: Source, provider: ProviderKey, perMinute: number) => number
  readonly tell: (source: Source, provider: ProviderKey, perMinute: number, event: SourceEvent) => void
  readonly rows: () => readonly SourceRow[]
  /** Forgets that addresses rest; the counts stay. */
  readonly reload: () => void
  readonly load: () => Promise<void>
  readonly save: () => Promise<void>
}

const MAX_ROWS = 5_000
const KEY = 'mailbox/sources'
const SAVE_EVERY_MS = 2_000

/** `listed` tells why a blacklist makes an address useless with a provider. */
export function sources(
  world: Pick<Ctx, 'now' | 'store' | 'log'>,
  listed: (source: Ip, provider: ProviderKey) => string | undefined = () => undefined,
): Sources {
  const rows = new Map<string, SourceRow>()
  let savedAtMs = 0
  let loading: Promise<void> | undefined

  const standingOf = (source: Source, provider: ProviderKey, perMinute: number): Standing =>
    rows.get(`${source ?? ''} ${provider}`)?.standing ?? freshStanding(perMinute, world.now())

  function keep(source: Source, provider: ProviderKey, standing: Standing): void {
    const key = `${source ?? ''} ${provider}`
    rows.delete(key)
    rows.set(key, { source, provider, standing })
    if (rows.size > MAX_ROWS) rows.delete(rows.keys().next().value!) // the one longest unused
  }
  async function save(): Promise<void> {
    savedAtMs = world.now()
    await world.store.set(KEY, [...rows.values()].slice(-1_000) as unknown as Json)
  }
  return {
    pick: (pool, provider, families) => {
      const fitting = pool.filter((source) => source === undefined || families.has(familyOf(source)))
      const candidates = fitting.map((source) => {
        const why = source === undefined ? undefined : listed(source, provider.key)
        const standing = standingOf(source, provider.key, provider.perMinute)
        return { source, standing, ...(why !== undefined && { listed: why }) }
      })
      return choose(candidates, world.now())
    },
    turn: (source, provider, perMinute) => {
      const { standing, waitMs } = takeTurn(standingOf(source, provider, perMinute), world.now())
      keep(source, provider, standing)
      return waitMs
    },
    tell: (source, provider, perMinute, event) => {
      keep(source, provider, after(standingOf(source, provider, perMinute), event, world.now()))
      if (world.now() - savedAtMs >= SAVE_EVERY_MS)
        save().catch((error: unknown) => world.log.warn('the pool could not be remembered', { error: String(error) }))
    },
    rows: () => [...rows.values()],
    reload: () => {
      for (const [key, row] of rows)
        rows.set(key, { ...row, standing: { ...row.standing, breaker: 'closed', restUntilMs: 0, coolDownMs: 0 } })
    },
    load: () => {
      loading ??= world.store.get(KEY).then((kept) => {
        for (const row of readRows(kept))
          if (!rows.has(`${row.source ?? ''} ${row.provider}`)) keep(row.source, row.provider, row.standing)
      })
      return loading
    },
    save,
  }
}

/** What the store kept, as far as it is readable: a row that is not is left out. */
function readRows(kept: Json | undefined): readonly SourceRow[] {
  if (!Array.isArray(kept)) return []
  return (kept as readonly Json[]).flatMap((row) => {
    if (!isJsonObject(row)) return []
    const { source, provider, standing } = row
    const address = typeof source === 'string' ? parseIp(source) : undefined
    if (address && !address.ok) return []
    if (typeof provider !== 'string' || !isStanding(standing)) return []
    return [{ source: address?.ok ? address.value : undefined, provider, standing }]
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

function isStanding(value: unknown): value is Standing {
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
