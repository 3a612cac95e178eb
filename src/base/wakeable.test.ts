import { expect, it } from 'vitest'
import { wakeable } from './wakeable.ts'

const LONG_MS = 60_000
const never = new AbortController().signal

it('pauses for its time when nobody wakes it', async () => expect(await wakeable().pause(1, never)).toBe(false))

it('ends a pause when it is woken', async () => {
  const { wake, pause } = wakeable()
  const paused = pause(LONG_MS, never)
  wake()
  expect(await paused).toBe(true)
})

it('does not pause when it was woken during the look, and pauses when it was woken before', async () => {
  const { begin, wake, pause } = wakeable()
  begin()
  wake()
  expect(await pause(LONG_MS, never)).toBe(true)
  begin()
  expect(await pause(1, never)).toBe(false)
})

it('ends a pause with the signal', async () => {
  expect(await wakeable().pause(LONG_MS, AbortSignal.timeout(5))).toBe(false)
})
