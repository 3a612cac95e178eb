import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { deadlineOf, firstOf, timedOut, wakeable } from './deadline.ts'

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

it('a deadline fires with TimeoutError when its time has passed, and lets go of its parent', async () => {
  const parent = new AbortController()
  const { signal } = deadlineOf(5, parent.signal)
  expect(signal.aborted).toBe(false)
  await later(40)
  expect(timedOut(signal)).toBe(true)
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
})

it('it fires with the reason of its parent, before or after it was made', () => {
  const parent = new AbortController()
  const before = deadlineOf(10_000, parent.signal)
  parent.abort(new DOMException('the client disconnected', 'AbortError'))
  const after = deadlineOf(10_000, parent.signal)
  for (const { signal, clear } of [before, after]) {
    expect(signal.reason).toBe(parent.signal.reason)
    expect(timedOut(signal)).toBe(false)
    clear()
  }
})

it('once cleared it never fires, and nothing of it is left', async () => {
  const parent = new AbortController()
  const { signal, clear } = deadlineOf(5, parent.signal)
  clear()
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
  parent.abort()
  await later(40)
  expect(signal.aborted).toBe(false)
})

it('without a parent it is the time alone, and a time that has passed fires at once', async () => {
  const { signal } = deadlineOf(-1)
  await later(20)
  expect(timedOut(signal)).toBe(true)
})

it('the first of several signals fires, with its reason, and nothing of the others is left once it is cleared', () => {
  const [a, b] = [new AbortController(), new AbortController()]
  const open = firstOf([a.signal, b.signal])
  b.abort(new Error('b'))
  a.abort(new Error('a'))
  expect(open.signal.reason).toBe(b.signal.reason)
  expect(firstOf([new AbortController().signal, b.signal]).signal.reason).toBe(b.signal.reason)
  const parent = new AbortController()
  const cleared = firstOf([parent.signal])
  cleared.clear()
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
  parent.abort()
  expect(cleared.signal.aborted).toBe(false)
})

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
