import { LRUCache } from 'lru-cache'
import { raced, within } from '../base/deadline.ts'
import type { Json } from '../base/json.ts'
import type { Cluster } from '../mailbox/source/cluster.ts'
import { statusOf } from '../peers/peer.ts'
import type { PeerRegistry } from '../peers/registry.ts'
import type { Repository } from '../store/contract.ts'
import type { LazyDatabase } from '../store/postgres/connect.ts'
import { takeTokensOf } from '../store/postgres/provider-rates.ts'
import { changedRows, sharedMemory } from '../store/postgres/shared-memory.ts'
import { sharedSlots } from '../store/postgres/shared-slots.ts'
import type { World } from '../world.ts'

/** Default time limit of a database query; after that the database counts as unavailable, and is not queried for the same time, ms. */
const ANSWER_MS = 1_000
const AWAY_MS = 1_000
/** Interval between removals of expired rows, ms. */
const PURGE_EVERY_MS = 60_000
/** Number of tokens taken in advance: two seconds of the rate. */
const AHEAD_SECONDS = 2

/** Maximum number of providers whose tokens are kept. */
const MAX_PROVIDERS = 2_000

export type OpenedCluster = { readonly cluster: Cluster; readonly close: () => Promise<void> }

/** The state of verification that is shared through `--database-url`. `sources`: the repository of source states of the whole cluster. */
export function openCluster(
  { open }: Pick<LazyDatabase, 'open'>,
  parts: {
    readonly world: Pick<World, 'now' | 'log'>
    readonly peers: () => Promise<Pick<PeerRegistry, 'all' | 'ttlMs' | 'self'>>
    readonly sources: Repository
    /** Time limit of a database query, ms; by default a second. */
    readonly answerMs?: number
  },
): OpenedCluster {
  const { world, peers, sources, answerMs = ANSWER_MS } = parts
  const steady = (): number => performance.now()
  const db = async () => (await open()).db
  const memory = sharedMemory(db)
  const slots = sharedSlots(open, { now: steady, log: world.log, answerMs })
  const tokens = new LRUCache<string, number>({ max: MAX_PROVIDERS })
  let awayUntilMs = Number.NEGATIVE_INFINITY
  let seen = '0'

  /** The result of the database, or `away`; a fault is one line of the log. */
  async function asked<T>(work: () => Promise<T>): Promise<T | 'away'> {
    if (steady() < awayUntilMs) return 'away'
    try {
      return await raced(within(answerMs), work())
    } catch (error) {
      awayUntilMs = steady() + AWAY_MS
      world.log.debug('the database did not answer', { error: String(error) })
      return 'away'
    }
  }
  const purging = setInterval(() => void asked(memory.purge), PURGE_EVERY_MS).unref()

  let nodes = 1 // a share is computed from the last known number
  async function countNodes(): Promise<number> {
    const { all, ttlMs, self } = await peers()
    const others = [...(await all()).values()].filter(
      (peer) => peer.id !== self.id && statusOf(peer, world.now(), ttlMs) !== 'dead',
    )
    return others.length + 1
  }
  async function takeToken(key: string, rate: { readonly perSecond: number; readonly capacity: number }) {
    const held = tokens.get(key) ?? 0
    if (held >= 1) {
      tokens.set(key, held - 1)
      return 0
    }
    const want = Math.max(1, Math.floor(rate.perSecond * AHEAD_SECONDS))
    const taken = await asked(async () => takeTokensOf(await db())(key, rate, want))
    if (taken === 'away') return taken
    if (taken.granted < 1) return taken.waitMs
    tokens.set(key, (tokens.get(key) ?? 0) + taken.granted - 1)
    return 0
  }
  return {
    cluster: {
      take: slots.take,
      takeToken,
      nodes: async () => {
        nodes = await raced(within(answerMs), countNodes()).catch(() => nodes)
        return nodes
      },
      about: (domain, provider) => asked(() => memory.about(domain, provider)),
      get: (kind, name) => asked(() => memory.get(kind, name)),
      put: async (...said) => void (await asked(() => memory.put(...said))),
      count: (...said) => void asked(() => memory.count(...said)),
      forget: memory.forget,
      changedSources: async () => {
        const rows = await asked(async () => changedRows(await db(), 'sources', seen))
        if (rows === 'away') return []
        seen = rows.at(-1)?.version ?? seen
        return rows.map(({ value }): Json => JSON.parse(value))
      },
      putSources: async (rows) => {
        if (rows.length > 0) await sources.putAll(rows)
      },
    },
    close: async () => {
      clearInterval(purging)
      await slots.close()
    },
  }
}
