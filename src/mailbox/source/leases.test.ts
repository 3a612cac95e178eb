import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Release } from '../../base/limiter.ts'
import type { LeaseGrant, LeaseWant } from '../../store/postgres/provider-leases.ts'
import { leases } from './leases.ts'

/** What a node does with its share while the database has not answered yet, or does not answer any more. */

const LIMITS = { connections: 20, perMinute: Number.POSITIVE_INFINITY }
type Told = ReadonlyMap<string, LeaseGrant> | 'away'
type Asked = { readonly wants: readonly LeaseWant[]; readonly answer: (told: Told) => void }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A node of three, and the requests that the database has from it. */
function node() {
  const asked: Asked[] = []
  const shared = leases(Date.now, {
    lease: (wants) => new Promise((answer) => asked.push({ wants, answer })),
    nodes: async () => 3,
  })
  const open: Release[] = []
  return {
    open,
    connect: (): void => void shared.connect('p', LIMITS, AbortSignal.timeout(60_000)).then((end) => open.push(end)),
    close: (count: number): void => {
      for (const end of open.splice(0, count)) end()
    },
    /** The next request; it is answered with so many connections. */
    next: async (): Promise<
      Pick<LeaseWant, 'used' | 'want'> & { readonly answer: (connections: number | 'away') => Promise<void> }
    > => {
      for (let ms = 0; asked.length === 0 && ms < 5_000; ms += 50) await vi.advanceTimersByTimeAsync(50)
      const { wants, answer } = asked.shift()!
      const { used, want } = wants[0]!
      const told = (connections: number | 'away'): Told =>
        connections === 'away' ? connections : new Map([['p', { connections, tokens: 0, waitMs: 0 }]])
      return {
        used,
        want,
        answer: async (of) => {
          answer(told(of))
          await vi.advanceTimersByTimeAsync(0)
        },
      }
    },
  }
}

it('begins no more than it has told, while others may be granted the rest', async () => {
  const { open, connect, close, next } = node()
  for (let i = 0; i < 10; i++) connect()
  await (await next()).answer(10)
  expect(open).toHaveLength(10)
  close(8)
  const renewal = await next()
  expect(renewal).toMatchObject({ used: 2, want: 2 })
  for (let i = 0; i < 5; i++) connect()
  await vi.advanceTimersByTimeAsync(100)
  expect(open).toHaveLength(2) // the other eight of its earlier share may be others' by now
  close(1)
  await vi.advanceTimersByTimeAsync(0)
  expect(open).toHaveLength(2) // one for the one that has ended
  await renewal.answer(2)
  const second = await next()
  expect(second).toMatchObject({ used: 2, want: 6 })
  await second.answer(6)
  expect(open).toHaveLength(6)
})

it('uses its share of the limits only when the slices of the others have ended', async () => {
  const { open, connect, next } = node()
  connect()
  await (await next()).answer(1)
  for (let i = 0; i < 9; i++) connect()
  await (await next()).answer('away')
  expect(open).toHaveLength(1)
  for (let ms = 0; open.length === 1 && ms < 5_000; ms += 500) await (await next()).answer('away')
  expect(open).toHaveLength(6) // a third of 20
})

it('goes on after a renewal with a fault of our own', async () => {
  let calls = 0
  const shared = leases(Date.now, {
    lease: async () => {
      if (++calls === 1) throw new TypeError('a fault')
      return new Map([['p', { connections: 1, tokens: 0, waitMs: 0 }]])
    },
    nodes: async () => 3,
  })
  const connected = shared.connect('p', LIMITS, AbortSignal.timeout(60_000))
  await vi.advanceTimersByTimeAsync(5_000)
  await expect(connected).resolves.toBeTypeOf('function')
})
