import { raced, sleep, within } from '../../base/deadline.ts'
import { wakeable } from '../../base/wakeable.ts'

/** A chunk of rows of one provider in the queue. */
export type Chunk = { readonly job: string; readonly number: number; readonly chunk: string; readonly provider: string }

/** What the handler of a chunk gets. */
export type ChunkLease = {
  /** Fires when the chunk no longer belongs to this node, or when stopping takes too long. */
  readonly signal: AbortSignal
  /** Reports that the chunk will have at most `rows` in progress from now on; what it no longer needs is given to other chunks. */
  readonly needs: (rows: number) => void
}

/** A chunk that this node holds; `retryCount` distinguishes this attempt from later ones. */
export type HeldChunk = { readonly id: string; readonly retryCount: number; readonly data: Chunk }

/** The queue as the workers of a node use it. Each call handles several chunks, because a statement costs the database more than the chunks in it. */
export type ChunkSource = {
  /** Takes at most `most` chunks, which are held until they are completed, released, or not renewed in time. */
  readonly fetch: (most: number) => Promise<readonly HeldChunk[]>
  readonly complete: (chunks: readonly HeldChunk[]) => Promise<void>
  /** Returns chunks, which are assigned again at once. */
  readonly release: (chunks: readonly HeldChunk[], reason: string) => Promise<void>
  /** Sends a heartbeat; returns the ids of the chunks that this node still holds. */
  readonly renew: (chunks: readonly HeldChunk[]) => Promise<readonly string[]>
}

export type ChunkWorkers = {
  readonly work: (handler: (chunk: Chunk, lease: ChunkLease) => Promise<void>) => void
  readonly wake: () => void
  readonly stop: () => Promise<void>
}

/** Maximum number of rows of a chunk that are processed at the same time. */
export const ROWS_AT_A_TIME = 10
/** Maximum number of rows that one node processes at the same time. */
const MAX_ROWS = 160
/** Maximum number of chunks that one node holds: more than fit at full width, because a chunk that waits for its last rows needs few of the rows. */
const CHUNKS_AT_A_TIME = 48
const POLL_MS = 500
/** Chunks that end within this time are completed and replaced together, ms. */
const TOGETHER_MS = 50
const RENEW_MS = 4_000
/** Time after a stop at which chunks that still run are returned, ms. */
const STOP_MS = 25_000

type Handler = Parameters<ChunkWorkers['work']>[0]
type Running = {
  readonly chunk: HeldChunk
  readonly stopped: AbortController
  handled: Promise<void>
  /** The most rows that it may have in progress. */
  rows: number
}

/** Keeps as many chunks running on a node as allowed, and renews them while they run. */
export function chunkWorkers(source: ChunkSource, onFault: (error: Error) => void, renewMs = RENEW_MS): ChunkWorkers {
  const running = new Map<string, Running>()
  const stopping = new AbortController()
  let completed: HeldChunk[] = []
  let failed: HeldChunk[] = []
  const polling = wakeable()
  /** Whether the last fetch returned all that it asked for. */
  let hasMore = false
  let loop: Promise<void> | undefined

  /** The number of chunks that the free rows of this node are enough for. */
  function freePlaces(): number {
    let rows = 0
    for (const one of running.values()) rows += one.rows
    return Math.min(CHUNKS_AT_A_TIME - running.size, Math.floor((MAX_ROWS - rows) / ROWS_AT_A_TIME))
  }

  function start(chunk: HeldChunk, handler: Handler): void {
    const stopped = new AbortController()
    const own: Running = { chunk, stopped, rows: ROWS_AT_A_TIME, handled: Promise.resolve() }
    const needs = (rows: number): void => {
      own.rows = Math.min(own.rows, rows)
      if (hasMore && freePlaces() > 0) polling.wake()
    }
    running.set(chunk.id, own)
    own.handled = handler(chunk.data, { signal: stopped.signal, needs })
      .then(
        () => {
          completed.push(chunk)
          polling.wake()
        },
        (error: Error) => {
          // Assigned again at the next poll, so that a permanent fault does not keep the node busy.
          failed.push(chunk)
          if (chunk.retryCount === 0 && !stopped.signal.aborted) onFault(error)
        },
      )
      .finally(() => running.delete(chunk.id))
  }

  /** Reports ended chunks to the queue. If a report is lost, the chunk is assigned again after the lease, and has no rows left. */
  async function settle(): Promise<void> {
    const [done, broken] = [completed, failed]
    completed = []
    failed = []
    if (done.length > 0) await source.complete(done)
    if (broken.length > 0) await source.release(broken, 'the chunk failed')
  }

  async function turn(handler: Handler): Promise<void> {
    await settle()
    const free = freePlaces()
    if (free <= 0 || stopping.signal.aborted) return
    const fetched = await source.fetch(free)
    hasMore = fetched.length === free
    for (const chunk of fetched) start(chunk, handler)
  }

  async function poll(handler: Handler): Promise<void> {
    while (!stopping.signal.aborted) {
      polling.begin()
      await turn(handler).catch(onFault)
      const isWoken = await polling.pause(POLL_MS, stopping.signal)
      if (isWoken) await sleep(TOGETHER_MS, stopping.signal).catch(() => {})
    }
  }

  async function renew(): Promise<void> {
    const held = [...running.values()]
    if (held.length === 0) return
    const ids = new Set(await source.renew(held.map(({ chunk }) => chunk)))
    for (const { chunk, stopped } of held)
      if (!ids.has(chunk.id)) stopped.abort(new DOMException('the chunk is no longer of this node', 'AbortError'))
  }
  let renewing: NodeJS.Timeout | undefined

  return {
    work: (handler) => {
      loop = poll(handler)
      renewing = setInterval(() => void renew().catch(onFault), renewMs)
    },
    wake: polling.wake,
    stop: async () => {
      stopping.abort(new DOMException('the service is stopping', 'AbortError'))
      await loop
      try {
        const handled = Promise.all([...running.values()].map((one) => one.handled))
        await raced(within(STOP_MS), handled).catch(() => {})
        const late = [...running.values()]
        if (late.length > 0)
          await source.release(
            late.map(({ chunk }) => chunk),
            'the service stopped',
          )
        for (const { stopped } of late) stopped.abort(stopping.signal.reason)
        await settle()
      } finally {
        clearInterval(renewing)
      }
    },
  }
}
