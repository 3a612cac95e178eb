import { expect, it } from 'vitest'
import { asTheyCome, inOrder } from './at-most.ts'

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

const gate = () => {
  const open = new Map<string, () => void>()
  const wait = (name: string) => new Promise<string>((resolve) => open.set(name, () => resolve(name)))
  return { open, wait }
}
const ticks = () => new Promise((resolve) => setImmediate(resolve))

it('gives what is ready first, with at most so many under way', async () => {
  const { open, wait } = gate()
  const reader = asTheyCome(2, ['a', 'b', 'c'], wait)
  const first = reader.next()
  await ticks()
  expect([...open.keys()]).toEqual(['a', 'b'])
  open.get('b')!()
  expect(await first).toEqual({ done: false, value: 'b' })
  await ticks()
  expect(open.has('c')).toBe(false) // nobody has asked for more
  const second = reader.next()
  await ticks()
  open.get('c')!()
  expect((await second).value).toBe('c')
  const third = reader.next()
  open.get('a')!()
  expect((await third).value).toBe('a')
  expect((await reader.next()).done).toBe(true)
})

it('begins nothing more when the reader has left', async () => {
  const begun: number[] = []
  for await (const _ of asTheyCome(1, [1, 2, 3], async (item) => void begun.push(item))) break
  expect(begun).toEqual([1])
})

it('rejects with the first rejection', async () => {
  const work = async (item: number) => {
    if (item === 2) throw new RangeError('two')
    return item
  }
  const all = async () => {
    const got: number[] = []
    for await (const one of asTheyCome(3, [1, 2, 3], work)) got.push(one)
    return got
  }
  await expect(all()).rejects.toThrow('two')
})
