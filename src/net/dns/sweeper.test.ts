import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sweeper } from './sweeper.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it.each<[string, boolean, boolean, number]>([
  ['stops when nothing waits and nothing is open', false, false, 0],
  ['goes on while a query waits', true, false, 1],
  ['goes on while a connection is open', false, true, 1],
])('%s', (_, busy, open, timers) => {
  let sweeps = 0
  const { wake, stop } = sweeper(
    () => sweeps++,
    () => busy,
    () => open,
  )
  wake()
  vi.advanceTimersByTime(50)
  expect([sweeps, vi.getTimerCount()]).toEqual([1, timers])
  vi.advanceTimersByTime(50)
  expect(sweeps).toBe(1 + timers)
  stop()
  expect(vi.getTimerCount()).toBe(0)
})
