import { expect, it } from 'vitest'
import { rateLeases } from './rate.ts'

it('takes no slot that was not leased, and leases again when they are used up', async () => {
  const leased: number[] = []
  const { signal } = new AbortController()
  const turn = rateLeases(async (_id, _bucket, wanted) => {
    leased.push(wanted)
    return { granted: leased.length === 1 ? 2 : 0, waitMs: leased.length === 1 ? 0 : 60_000 }
  }, signal)
  const provider = { id: 'p', concurrent: 1, perMinute: 60 }
  const waits: (number | undefined)[] = []
  for (let i = 0; i < 3; i++) waits.push(await turn(provider, signal))
  expect([waits, leased]).toEqual([
    [undefined, undefined, 60_000],
    [2, 2],
  ])
})
