import { expect, it } from 'vitest'
import { inOrder } from './in-order.ts'

it('gives results in the order of the items, with at most so many under way, and reads items as it needs them', async () => {
  const begun: number[] = []
  const ends = new Map<number, () => void>()
  const results: number[] = []
  const work = (item: number): Promise<number> => {
    begun.push(item)
    return new Promise((resolve) => ends.set(item, () => resolve(item)))
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const reading = (async () => {
    for await (const result of inOrder(3, [1, 2, 3, 4, 5], work)) results.push(result)
  })()
  await turn()
  expect(begun).toEqual([1, 2, 3])
  ends.get(3)!()
  ends.get(2)!()
  await turn()
  expect([results, begun]).toEqual([[], [1, 2, 3]]) // the first comes first
  ends.get(1)!()
  await turn()
  expect([results, begun]).toEqual([
    [1, 2, 3],
    [1, 2, 3, 4, 5],
  ])
  ends.get(4)!()
  ends.get(5)!()
  await reading
  expect(results).toEqual([1, 2, 3, 4, 5])
})

it('rejects with the first rejection in their order, and begins nothing more', async () => {
  const begun: number[] = []
  const work = async (item: number): Promise<number> => {
    begun.push(item)
    if (item > 1) throw new Error(`no ${item}`)
    return item
  }
  const results: number[] = []
  const reading = (async () => {
    for await (const result of inOrder(2, [1, 2, 3, 4, 5, 6], work)) results.push(result)
  })()
  await expect(reading).rejects.toThrow('no 2')
  expect(results).toEqual([1])
  expect(begun.length).toBeLessThan(6)
})
