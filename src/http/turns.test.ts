import { expect, it } from 'vitest'
import { turns } from './turns.ts'

it('lets one piece begin a turn of the event loop, in order, with others in between', async () => {
  const turn = turns()
  const seen: string[] = []
  const work = ['a', 'b', 'c'].map((name) => turn().then(() => seen.push(name)))
  setImmediate(() => seen.push('io'))
  await Promise.all(work)
  expect(seen.filter((name) => name !== 'io')).toEqual(['a', 'b', 'c'])
  expect(seen.at(-1)).toBe('c')
  expect(seen.indexOf('io')).toBeLessThan(seen.indexOf('c'))
})

it('begins at once after a pause', async () => {
  const turn = turns()
  await turn()
  await new Promise((resolve) => setTimeout(resolve, 5))
  await turn()
})
