import { expect, it } from 'vitest'
import { seenOnce } from './seen-once.ts'

function lab() {
  let nowMs = 0
  const looks: string[] = []
  let open = 0
  let most = 0
  const seen = seenOnce({ maxEntries: 100, now: () => nowMs, monotonic: () => nowMs })
  const signal = new AbortController().signal
  const ask = (key: string, subject: string, turn = 'one') =>
    seen(key, { subject, turn, signal }, async () => {
      looks.push(key)
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
      return { n: looks.length }
    })
  return { ask, looks, most: () => most, pass: (ms: number) => void (nowMs += ms) }
}

it('looks once for many subjects, and anew for one that was told', async () => {
  const { ask, looks } = lab()
  const told = await Promise.all(Array.from({ length: 1_000 }, (_, n) => ask('mx', `d${n}`)))
  expect(looks).toEqual(['mx'])
  expect(new Set(told.map(({ value }) => value)).size).toBe(1)
  expect((await ask('mx', 'd0')).value).toEqual({ n: 2 })
  expect((await ask('mx', 'd1')).value).toEqual({ n: 2 }) // newer than what it was told
  expect(looks).toHaveLength(2)
})
it('looks again after an hour', async () => {
  const { ask, looks, pass } = lab()
  await ask('mx', 'a')
  pass(3_599_000)
  expect(await ask('mx', 'b')).toMatchObject({ atMs: 0 })
  pass(2_000)
  expect(await ask('mx', 'c')).toMatchObject({ atMs: 3_601_000 })
  expect(looks).toHaveLength(2)
})
it('looks at one of a turn at a time', async () => {
  const { ask, looks, most } = lab()
  await Promise.all(Array.from({ length: 50 }, (_, n) => ask(`mx${n}`, 'a')))
  expect([looks.length, most()]).toEqual([50, 1])
})
it('keeps no look that failed', async () => {
  const seen = seenOnce({ maxEntries: 1, now: () => 0, monotonic: () => 0 })
  const asking = { subject: 'a', turn: 'x', signal: new AbortController().signal }
  await expect(seen('mx', asking, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await seen('mx', asking, async () => ({ n: 1 }))).toEqual({ value: { n: 1 }, atMs: 0 })
})
