import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { raced, within } from '../base/deadline.ts'
import type { Json } from '../base/json.ts'
import type { Cluster } from '../mailbox/source/cluster.ts'
import { statusOf } from '../peers/peer.ts'
import type { PeerRegistry } from '../peers/registry.ts'
import type { Repository } from '../store/contract.ts'
import type { LazyDatabase } from '../store/postgres/connect.ts'
import { purgeLeases, takeLeases } from '../store/postgres/provider-leases.ts'
import type { Schema } from '../store/postgres/schema.ts'
import { changedRows, type SharedMemory, sharedMemory } from '../store/postgres/shared-memory.ts'
import type { World } from '../world.ts'

/**
 * Default time limit of a database query; after that the database counts as unavailable, and is not queried for the
 * same time, ms.
 */
const ANSWER_MS = 1_000
const AWAY_MS = 1_000
/** Interval between removals of expired rows, ms. */
const PURGE_EVERY_MS = 60_000
export type OpenedCluster = { readonly cluster: Cluster; readonly close: () => Promise<void> }

/**
 * The state of verification that is shared through `--database-url`. `sources`: the repository of source states of the
 * whole cluster.
 */
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
  /**
   * Names the leases and questions of this process: a node that is started again does not have those of its
   * predecessor.
   */
  const holder = randomUUID()
  let awayUntilMs = Number.NEGATIVE_INFINITY
  let isAwaySaid = false
  let seen = 0

  /**
   * The result of the database, or `away`. The time that statements of this node wait for each other does not count.
   */
  async function asked<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T | 'away'> {
    if (steady() < awayUntilMs) return 'away'
    try {
      const opened = await db()
      const sent = Promise.withResolvers<void>()
      const answer = opened.connection().execute((one) => {
        sent.resolve()
        return work(one)
      })
      await Promise.race([sent.promise, answer])
      const result = await raced(within(answerMs), answer)
      if (isAwaySaid) world.log.info('limits are shared again: the database answers', {})
      isAwaySaid = false
      return result
    } catch (error) {
      awayUntilMs = steady() + AWAY_MS
      if (!isAwaySaid)
        world.log.warn('limits are kept by a local share: the database does not answer', { error: String(error) })
      isAwaySaid = true
      return 'away'
    }
  }
  const purging = setInterval(
    () =>
      void asked(async (one) => {
        await sharedMemory(async () => one).purge()
        await purgeLeases(one)
      }),
    PURGE_EVERY_MS,
  ).unref()

  let counting: Promise<unknown> = Promise.resolve() // one after another: they are about the same rows
  let nodes = 1 // a share is computed from the last known number
  async function countNodes(): Promise<number> {
    const { all, ttlMs, self } = await peers()
    const others = [...(await all()).values()].filter(
      (peer) => peer.id !== self.id && statusOf(peer, world.now(), ttlMs) !== 'dead',
    )
    return others.length + 1
  }
  const remembered = <T>(work: (of: SharedMemory) => Promise<T>): Promise<T | 'away'> =>
    asked((one) => work(sharedMemory(async () => one)))
  return {
    cluster: {
      lease: (wants) => asked((one) => takeLeases(one, holder, wants)),
      claimQuestion: (name) => remembered((of) => of.claim(name, holder)),
      releaseQuestion: (name) => void remembered((of) => of.release(name, holder)),
      nodes: async () => {
        nodes = await raced(within(answerMs), countNodes()).catch(() => nodes)
        return nodes
      },
      about: (domain, provider) => remembered((of) => of.about(domain, provider)),
      get: (kind, name) => remembered((of) => of.get(kind, name)),
      put: async (...said) => void (await remembered((of) => of.put(...said))),
      count: (...said) => {
        counting = counting.then(() => remembered((of) => of.count(...said)))
      },
      forget: memory.forget,
      changedSources: async () => {
        const rows = await asked((one) => changedRows(one, 'sources', seen))
        if (rows === 'away') return []
        seen = rows.at(-1)?.version ?? seen
        return rows.map(({ value }): Json => JSON.parse(value))
      },
      putSources: async (rows) => {
        if (rows.length > 0) await sources.putAll(rows)
      },
    },
    close: async () => clearInterval(purging),
  }
}
