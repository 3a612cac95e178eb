import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { labDatabase } from '../../../test/lab/database.ts'
import { sleep } from '../../base/deadline.ts'
import { chunkQueue } from './queue.ts'

it.each([
  { concurrent: 1, atOnce: 1 },
  { concurrent: 3, atOnce: 2 },
  { concurrent: 5, atOnce: 4 },
])('chunks of a provider that run, where it takes $concurrent at a time: $atOnce', async ({ concurrent, atOnce }) => {
  const database = await labDatabase()
  const queue = await chunkQueue(database, () => {})
  const chunks = Array.from({ length: 8 }, () => ({ job: 'j', number: 1, chunk: randomUUID(), provider: 'p' }))
  await database.db.transaction().execute((tx) => queue.send(tx, chunks, concurrent))
  let [running, most, ended] = [0, 0, 0]
  queue.work(async () => {
    most = Math.max(most, ++running)
    await sleep(100, new AbortController().signal)
    running--
    ended++
  })
  await expect.poll(() => ended, { timeout: 15_000 }).toBeGreaterThan(atOnce)
  expect(most).toBe(atOnce)
  await queue.stop()
})
