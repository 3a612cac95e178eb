import { afterEach, expect, it } from 'vitest'
import { sleep } from '../../base/deadline.ts'
import { type ChunkSource, type ChunkWorkers, chunkWorkers, type HeldChunk } from './workers.ts'

const chunkOf = (i: number): HeldChunk => ({
  id: `c${i}`,
  retryCount: 0,
  data: { job: 'j', number: 1, chunk: `c${i}`, provider: 'p' },
})
const soon = (ms: number): Promise<void> => sleep(ms, AbortSignal.timeout(5_000))

/** A queue in memory that records its calls. */
function labQueue(n: number) {
  const waiting = Array.from({ length: n }, (_, i) => chunkOf(i))
  const told: { fetched: number[]; completed: string[][]; released: string[]; faults: string[] } = {
    ...{ fetched: [], completed: [], released: [], faults: [] },
  }
  const held = new Set<string>()
  const source: ChunkSource = {
    fetch: async (most) => {
      if (most < 1) throw new Error(`${most} chunks were asked for`)
      const some = waiting.splice(0, most)
      told.fetched.push(some.length)
      for (const { id } of some) held.add(id)
      return some
    },
    complete: async (chunks) => void told.completed.push(chunks.map(({ id }) => id)),
    release: async (chunks) => {
      for (const chunk of chunks) {
        told.released.push(chunk.id)
        waiting.push({ ...chunk, retryCount: chunk.retryCount + 1 })
      }
    },
    renew: async (chunks) => chunks.map(({ id }) => id).filter((id) => held.has(id)),
  }
  return { source, told, held }
}

let workers: ChunkWorkers | undefined
afterEach(async () => workers?.stop())
const begin = (lab: ReturnType<typeof labQueue>, handler: Parameters<ChunkWorkers['work']>[0]): ChunkWorkers => {
  workers = chunkWorkers(lab.source, (error) => lab.told.faults.push(error.message), 100)
  workers.work(handler)
  return workers
}

it('fetches chunks for all free slots at once, and completes chunks together that end together', async () => {
  const lab = labQueue(40)
  begin(lab, () => soon(10))
  await expect.poll(() => lab.told.completed.flat().length).toBe(40)
  expect(lab.told.fetched.slice(0, 2)).toEqual([16, 16])
  expect(lab.told.completed.length).toBeLessThan(10)
})

it('returns a chunk whose handler failed, and reports only its first error', async () => {
  const lab = labQueue(1)
  let calls = 0
  begin(lab, async () => {
    if (++calls < 3) throw new Error('broken')
  })
  await expect.poll(() => lab.told.completed, { timeout: 5_000 }).toEqual([['c0']])
  expect(lab.told).toMatchObject({ released: ['c0', 'c0'], faults: ['broken'] })
})

it('lets running chunks end at a stop, and returns only failed ones', async () => {
  const lab = labQueue(20)
  const { stop } = begin(lab, () => soon(100))
  await expect.poll(() => lab.told.fetched).toEqual([16])
  await stop()
  expect(lab.told.completed.flat()).toHaveLength(16)
  expect(lab.told).toMatchObject({ fetched: [16], released: [] })
})

it('stops work on a chunk that is no longer held', async () => {
  const lab = labQueue(2)
  const ended: string[] = []
  begin(lab, (chunk, { signal }) => sleep(60_000, signal).catch(() => void ended.push(chunk.chunk)))
  await expect.poll(() => lab.held.size).toBe(2)
  lab.held.delete('c1')
  await expect.poll(() => ended, { timeout: 5_000 }).toEqual(['c1'])
  lab.held.delete('c0') // so that the stop does not wait
})

it('gives the rows that a chunk no longer needs to further chunks, never more than the node has', async () => {
  const lab = labQueue(60)
  const needs = new Map<string, (rows: number) => void>()
  const ended = new AbortController()
  begin(lab, async ({ chunk }, lease) => {
    needs.set(chunk, lease.needs)
    await sleep(60_000, ended.signal).catch(() => {})
  })
  await expect.poll(() => lab.held.size).toBe(16)
  for (const n of [0, 1]) needs.get(`c${n}`)!(6) // together 8 of 160 rows are free
  await soon(600) // it polls twice a second
  expect(lab.held.size).toBe(16)
  expect(lab.told.faults).toEqual([]) // nor is one asked for
  needs.get('c2')!(8)
  await expect.poll(() => lab.held.size).toBe(17)
  for (const need of needs.values()) need(1) // 17 of 160
  await expect.poll(() => lab.held.size, { timeout: 2_000 }).toBe(31)
  for (const need of needs.values()) need(0)
  await expect.poll(() => lab.held.size, { timeout: 2_000 }).toBe(47)
  for (const need of needs.values()) need(0)
  await soon(200)
  expect(lab.held.size).toBe(48) // and no more chunks at a time than this
  ended.abort()
})

it('asks an empty queue no more often because a chunk needs fewer rows', async () => {
  const lab = labQueue(2)
  const ended = new AbortController()
  begin(lab, async (_chunk, { needs }) => {
    for (let rows = 9; rows >= 0; rows--) {
      await soon(60)
      needs(rows)
    }
    ended.abort()
  })
  await sleep(60_000, ended.signal).catch(() => {})
  expect(lab.told.fetched.length).toBeLessThanOrEqual(3) // every 500 ms
})

it('continues after an error of the queue', async () => {
  const lab = labQueue(1)
  let isAway = true
  const source: ChunkSource = {
    ...lab.source,
    fetch: async (most) => {
      if (!isAway) return lab.source.fetch(most)
      isAway = false
      throw new Error('away')
    },
  }
  begin({ ...lab, source }, async () => {})
  await expect.poll(() => lab.told.completed, { timeout: 5_000 }).toEqual([['c0']])
  expect(lab.told.faults).toEqual(['away'])
})
