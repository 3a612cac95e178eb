import type { Transaction } from 'kysely'
import { fromKysely, type Job, PgBoss } from 'pg-boss'
import type { Database } from '../../store/postgres/connect.ts'
import type { Schema } from '../../store/postgres/schema.ts'
import { type Chunk, type ChunkWorkers, chunkWorkers } from './workers.ts'

export type ChunkQueue = {
  /** Queues chunks of one provider in the transaction that created them. `concurrent`: maximum number of the provider's chunks that run at a time across all nodes. */
  readonly send: (tx: Transaction<Schema>, chunks: readonly Chunk[], concurrent: number) => Promise<void>
  /** Starts to process chunks, several at a time. A chunk whose handler rejects, or whose node died, is assigned again. */
  readonly work: ChunkWorkers['work']
  /** Polls for chunks at once. */
  readonly wake: () => void
  /** Accepts no more chunks, waits for those in progress, and returns the rest. */
  readonly stop: () => Promise<void>
}

const QUEUE = 'job-chunks'
/** A worker sends a heartbeat every 4 s; after 10 s without one (the shortest time that pg-boss allows), another worker gets its chunk. */
const LEASE_SECONDS = 10
/** A chunk takes at most about a minute; this is the limit for one that hangs. */
const EXPIRE_SECONDS = 15 * 60
/** Providers are grouped into tiers by the number of chunks that may run at a time. */
const TIERS = [1, 2, 4, 8, 16, 64] as const
const GROUP_LIMITS = { default: 1, tiers: Object.fromEntries(TIERS.map((size) => [String(size), size])) }

/** The queue of chunks on pg-boss, in the schema `mailsonde_queue` of the same database. */
export async function chunkQueue(database: Database, onFault: (error: Error) => void): Promise<ChunkQueue> {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => database.pool.query(text, values) },
    schema: 'mailsonde_queue',
    monitorIntervalSeconds: 2,
    superviseIntervalSeconds: 2,
    schedule: false,
  })
  boss.on('error', onFault)
  await boss.start()
  await boss.createQueue(QUEUE, {
    policy: 'standard',
    heartbeatSeconds: LEASE_SECONDS,
    expireInSeconds: EXPIRE_SECONDS,
    retryLimit: 10_000, // rows decide when to give up, not chunks
    retryDelay: 0,
    deleteAfterSeconds: 3_600,
  })
  const workers = chunkWorkers(
    {
      // The workers of pg-boss poll separately: 16 of them cost the database more than the chunks themselves.
      fetch: (most): Promise<Job<Chunk>[]> => boss.fetch(QUEUE, { batchSize: most, groupConcurrency: GROUP_LIMITS }),
      complete: async (chunks) => void (await boss.complete(QUEUE, [...chunks])),
      release: async (chunks, reason) => void (await boss.fail(QUEUE, [...chunks], { message: reason })),
      renew: async (chunks) => {
        const told: object = await boss.touch(QUEUE, [...chunks])
        // The renewed ids, which are missing from the declared type.
        return 'settled' in told && Array.isArray(told.settled) ? told.settled.map(String) : chunks.map(({ id }) => id)
      },
    },
    onFault,
  )
  return {
    send: async (tx, chunks, concurrent) => {
      const tier = String(TIERS.findLast((size) => size <= concurrent) ?? 1)
      const jobs = chunks.map((chunk) => ({ data: chunk, group: { id: chunk.provider, tier } }))
      await boss.insert(QUEUE, jobs, { db: fromKysely(tx) })
    },
    work: workers.work,
    wake: workers.wake,
    stop: async () => {
      try {
        await workers.stop()
      } finally {
        await boss.stop({ graceful: false, close: false })
      }
    },
  }
}
