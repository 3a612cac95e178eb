import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Session } from '../../net/smtp/session.ts'
import { type PooledSession, sessionPool } from './session-pool.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())
const signal = new AbortController().signal
const never = (stop: AbortSignal): Promise<() => void> =>
  new Promise((_, reject) => stop.addEventListener('abort', () => reject(stop.reason), { once: true }))

/** A session that stands, and what was done to it. */
function pooled(recipients: number, unknown: number, usable = true) {
  const done: string[] = []
  const session = { usable: () => usable, quit: async () => void done.push('quit') } as Partial<Session> as Session
  const one: PooledSession = { session, release: () => done.push('slot freed'), recipients, unknown }
  return { one, done }
}

describe('a session that has served a recipient', () => {
  // Bound: src/mailbox/attempt/session-pool.ts MAX_RECIPIENTS, src/mailbox/attempt/session-pool.ts MAX_UNKNOWN
  it.each<[why: string, recipients: number, unknown: number, usable: boolean, kept: boolean]>([
    ['fresh', 1, 0, true, true],
    ['39 recipients', 39, 0, true, true],
    ['40 recipients: many servers count', 40, 0, true, false],
    ['7 unknown ones', 20, 7, true, true],
    ['8 unknown ones: servers slow down at 10', 20, 8, true, false],
    ['closed by the server', 1, 0, false, false],
  ])('%s', async (_, recipients, unknown, usable, kept) => {
    const pool = sessionPool()
    const { one, done } = pooled(recipients, unknown, usable)
    await pool.release('k', one)
    expect(done).toEqual(kept ? [] : ['quit', 'slot freed'])
    const next = await pool.acquire('k', async () => () => {}, signal)
    expect(next.session === one.session).toBe(kept)
  })
  it('is closed when nobody wants it for 1.5 s', async () => {
    const pool = sessionPool()
    const { one, done } = pooled(1, 0)
    await pool.release('k', one)
    await vi.advanceTimersByTimeAsync(1_499)
    expect(done).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(done).toEqual(['quit', 'slot freed'])
  })
  it('is not closed by the timer once somebody has it', async () => {
    const pool = sessionPool()
    const { one, done } = pooled(1, 0)
    await pool.release('k', one)
    await pool.acquire('k', never, signal)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(done).toEqual([])
  })
  it('goes to who waits for the same destination, and to nobody else', async () => {
    const pool = sessionPool()
    const { one } = pooled(1, 0)
    let isOtherServed = false
    void pool.acquire('other', never, signal).then(() => (isOtherServed = true))
    const waiting = pool.acquire('k', never, signal)
    await pool.release('k', one)
    expect([await waiting, isOtherServed]).toEqual([one, false])
  })
  it('is closed with the pool', async () => {
    const pool = sessionPool()
    const { one, done } = pooled(1, 0)
    await pool.release('k', one)
    await pool.close()
    expect(done).toEqual(['quit', 'slot freed'])
  })
})

describe('who waits for a session or a slot', () => {
  it('goes away when its signal fires, and gets nothing afterwards', async () => {
    const pool = sessionPool()
    const caller = new AbortController()
    const waiting = pool.acquire('k', never, caller.signal)
    caller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    const { one, done } = pooled(1, 0)
    await pool.release('k', one)
    expect(done).toEqual([])
    expect(await pool.acquire('k', never, signal)).toBe(one)
  })
  it('stops waiting for a slot when a session is there first, and frees one that comes all the same', async () => {
    const pool = sessionPool()
    const slot = Promise.withResolvers<() => void>()
    let slotSignal: AbortSignal | undefined
    const acquireSlot = (stop: AbortSignal): Promise<() => void> => {
      slotSignal = stop
      return slot.promise
    }
    const waiting = pool.acquire('k', acquireSlot, signal)
    const { one } = pooled(1, 0)
    await pool.release('k', one)
    expect([await waiting, slotSignal?.aborted]).toEqual([one, true])
    let isFreed = false
    slot.resolve(() => (isFreed = true))
    await vi.advanceTimersByTimeAsync(0)
    expect(isFreed).toBe(true)
  })
})
