import { expect, it } from 'vitest'
import { sleep } from '../base/deadline.ts'
import { paced } from './bodies.ts'

const never = new AbortController().signal

/** Pieces of so many octets, each after so many ms. */
async function* drip(...pieces: readonly (readonly [octets: number, afterMs: number])[]): AsyncGenerator<Uint8Array> {
  for (const [octets, afterMs] of pieces) {
    await sleep(afterMs, never)
    yield Buffer.alloc(octets)
  }
}
const DRIPS = Array.from({ length: 1_000 }, () => [1, 40] as const)

/** Octets that came before the end, and whether it was late. */
async function read(octets: AsyncIterable<Uint8Array>, least: number, ms: number, readMs = 0) {
  let size = 0
  try {
    for await (const piece of paced(octets, { least, ms }, () => new Error('late'))) {
      size += piece.length
      if (readMs > 0) await sleep(readMs, never)
    }
    return { size, isLate: false }
  } catch (error) {
    expect((error as Error).message).toBe('late')
    return { size, isLate: true }
  }
}

it('an octet before each span ends does not keep a body open', async () => {
  const { size, isLate } = await read(drip(...DRIPS), 100, 200)
  expect([size < 100, isLate]).toEqual([true, true])
})

it.each<[what: string, octets: AsyncIterable<Uint8Array>, least: number, readMs: number, size: number]>([
  ['as much as is wanted, in one piece or in many', drip([50, 0], [10, 5], [10, 5], [10, 5]), 10, 0, 80],
  ['a short body', drip([3, 0]), 1_000, 0, 3],
  ['nothing', drip(), 1_000, 0, 0],
  ['a reader slower than the span', drip([1, 0], [1, 0], [1, 0]), 1_000, 700, 3],
])('%s is in time', async (_, octets, least, readMs, size) => {
  expect(await read(octets, least, 2_000, readMs)).toEqual({ size, isLate: false })
})

it('a body that stalls is late', async () => {
  const stalled = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(5)
    await new Promise(() => {})
  }
  expect(await read(stalled(), 1, 20)).toEqual({ size: 5, isLate: true })
})
