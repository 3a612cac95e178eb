import { expect, it } from 'vitest'
import { asTheyCome } from './as-they-come.ts'

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
