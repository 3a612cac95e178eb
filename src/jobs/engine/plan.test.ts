import { expect, it } from 'vitest'
import { chunkSizes } from './plan.ts'

const ANY = Number.POSITIVE_INFINITY
const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0)

// due, free, concurrent, per minute: the first sizes, the last one, rows in all
it.each([
  [0, 10_000, 640, ANY, [], undefined, 0],
  [5, 10_000, 640, ANY, [5], 5, 5],
  [200, 10_000, 640, ANY, [10, 10], 10, 200], // 20 chunks: all workers of a node have rows
  [3_000, 10_000, 640, ANY, [47, 47], 8, 3_000], // shares of 64 chunks, smaller towards the end
  [20_000, 10_000, 640, ANY, [313, 308], undefined, 10_000],
  [20_000, -5, 640, ANY, [], undefined, 0],
  [20_000, 10_000, 20, ANY, [500, 500], 500, 10_000],
  [300, 120, 20, 120, [60, 60], 60, 120], // half a minute of its rate
  [300, 10, 2, 10, [5, 5], 5, 10],
  [300, 2, 2, 3, [1, 1], 1, 2],
  [300, 1, 2, 1, [1], 1, 1],
])(
  '%d rows due, %d free, %d at a time, %d a minute: chunks of %j',
  (due, free, concurrent, perMinute, first, last, all) => {
    const sizes = chunkSizes(due, free, { id: 'p', concurrent, perMinute })
    expect(sizes.slice(0, 2)).toEqual(first)
    if (last !== undefined) expect(sizes.at(-1)).toBe(last)
    expect(sum(sizes)).toBe(all)
  },
)
