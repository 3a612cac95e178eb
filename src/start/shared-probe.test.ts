import { expect, it } from 'vitest'
import { PROBE_GOOD_MS, sharedProbe } from './shared-probe.ts'

const signal = new AbortController().signal

it('3,000 calls ask once, and once more when a second has passed', async () => {
  let [asked, nowMs] = [0, 0]
  const probe = sharedProbe(
    async () => {
      asked++
      await new Promise((resolve) => setImmediate(resolve))
      return asked === 1 ? undefined : 'refused'
    },
    () => nowMs,
  )
  const ask = (times: number) => Promise.all(Array.from({ length: times }, () => probe(signal)))
  expect(new Set(await ask(2_000))).toEqual(new Set([undefined]))
  nowMs = PROBE_GOOD_MS - 1
  expect(new Set(await ask(1_000))).toEqual(new Set([undefined]))
  expect(asked).toBe(1)
  nowMs += 1
  expect(await probe(signal)).toBe('refused')
  expect(asked).toBe(2)
})

it('one caller that leaves takes nothing from the others', async () => {
  let answer = (_: string | undefined): void => {}
  const probe = sharedProbe(() => new Promise((resolve) => (answer = resolve)))
  const leaving = new AbortController()
  const [first, second] = [probe(leaving.signal), probe(signal)]
  leaving.abort()
  expect(await first).toBe('no answer in time')
  answer(undefined)
  expect(await second).toBeUndefined()
})
