import type { Transaction } from 'kysely'
import { fromKysely, PgBoss } from 'pg-boss'
import type { Database } from '../../store/postgres/connect.ts'
import type { Schema } from '../../store/postgres/schema.ts'

/** A chunk of rows of one provider, as the queue carries it. */
export type Chunk = { readonly job: string; readonly number: number; readonly chunk: string; readonly provider: string }

export type ChunkQueue = {
  /** Puts a chunk into the queue with the transaction that cut it. `concurrent`: chunks of its provider that may run at a time over all nodes. */
  readonly send: (tx: Transaction<Schema>, chunk: Chunk, concurrent: number) => Promise<void>
  /** Begins to work on chunks, several at a time. A chunk whose handler rejects, or whose node died, is handed out again. */
  readonly work: (handler: (chunk: Chunk, signal: AbortSignal) => Promise<void>) => Promise<void>
  /** Takes no more chunks, waits for those under way, and hands back what is left. */
  readonly stop: () => Promise<void>
}

const QUEUE = 'job-chunks'
/** A worker shows that it lives every 4 s; after 10 s without, its chunk is somebody else's (the shortest that pg-boss allows). */
const LEASE_SECONDS = 10
const HEARTBEAT_SECONDS = 4
/** A chunk is at most a minute of work; this is the bound for one that hangs. */
const EXPIRE_SECONDS = 15 * 60
/** Maximum number of chunks that one node processes at the same time. */
const CHUNKS_AT_A_TIME = 16
/** Providers are put into tiers by how many of their chunks may run at a time. */
const TIERS = [1, 2, 4, 8, 16, 64] as const

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
  return {
    send: async (tx, chunk, concurrent) => {
      const tier = TIERS.findLast((size) => size <= concurrent) ?? 1
      await boss.send(QUEUE, chunk, { group: { id: chunk.provider, tier: String(tier) }, db: fromKysely(tx) })
    },
    work: async (handler) => {
      await boss.work<Chunk>(
        QUEUE,
        {
          batchSize: 1,
          localConcurrency: CHUNKS_AT_A_TIME,
          pollingIntervalSeconds: 0.5,
          heartbeatRefreshSeconds: HEARTBEAT_SECONDS,
          groupConcurrency: { default: 1, tiers: Object.fromEntries(TIERS.map((size) => [String(size), size])) },
        },
        async ([job]) => {
          if (job) await handler(job.data, job.signal)
        },
      )
    },
    stop: () => boss.stop({ graceful: true, timeout: 25_000, close: false }),
  }
}
