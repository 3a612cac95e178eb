import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Limit, LimitError, type Limiter, limiter } from './limiter.ts'

const ONE: Limit = { concurrent: 1 }
const TWO_A_SECOND: Limit = { rate: { capacity: 2, perSecond: 2 } }
const forever = new AbortController().signal
const still = () => limiter({ now: () => 0 })
const ticks = () => new Promise((resolve) => setImmediate(resolve))

afterEach(() => void vi.useRealTimers())

describe('concurrency', () => {
  it('lets in so many of a key, and the next when one leaves, in the order of coming', async () => {
    const places = still()
    const order: string[] = []
    const first = places.tryEnter('a', ONE)!
    const later = ['b', 'c'].map((name) =>
      places.enter('a', ONE, forever).then((release) => {
        order.push(name)
        release()
      }),
    )
    expect(places.tryEnter('a', ONE)).toBeUndefined()
    expect(places.tryEnter('other', ONE)).toBeDefined()
    expect(order).toEqual([])
    first()
    await Promise.all(later)
    expect(order).toEqual(['b', 'c'])
  })

  it('lets nobody pass those who wait', async () => {
    const places = still()
    const first = places.tryEnter('a', ONE)!
    const waiting = places.enter('a', ONE, forever)
    first()
    expect(places.tryEnter('a', ONE)).toBeUndefined()
    const release = await waiting
    release()
    expect(places.size()).toBe(0)
  })

  it('counts a place that is given back twice once', async () => {
    const places = still()
    const release = places.tryEnter('a', ONE)!
    release()
    const second = places.tryEnter('a', ONE)!
    release()
    expect(places.tryEnter('a', ONE)).toBeUndefined()
    second()
  })

  it('forgets who gave up waiting, with the reason of the signal', async () => {
    const places = still()
    const caller = new AbortController()
    const first = places.tryEnter('a', ONE)!
    const gone = places.enter('a', ONE, caller.signal)
    const next = places.enter('a', ONE, forever)
    caller.abort(new Error('went away'))
    await expect(gone).rejects.toThrow('went away')
    first()
    ;(await next)()
    expect(places.size()).toBe(0)
    await expect(places.enter('a', ONE, caller.signal)).rejects.toThrow('went away')
    expect(places.size()).toBe(0)
  })

  it('lets in the next that needs less when the first gives up', async () => {
    const places = still()
    const caller = new AbortController()
    places.tryEnter('a', { concurrent: 2 })
    const strict = places.enter('a', ONE, caller.signal)
    const loose = places.enter('a', { concurrent: 2 }, forever)
    caller.abort(new Error('went away'))
    await expect(strict).rejects.toThrow()
    await loose
  })

  it('refuses beyond the longest queue', async () => {
    const places = limiter({ now: () => 0, maxWaiting: 2 })
    places.tryEnter('a', ONE)
    void places.enter('a', ONE, forever)
    void places.enter('a', ONE, forever)
    await expect(places.enter('a', ONE, forever)).rejects.toMatchObject({ name: 'LimitError', reason: 'queue_full' })
  })
})

describe('rate', () => {
  it('lets the burst in at once, then says how long the next would wait', () => {
    const rate = still()
    expect([rate.tryEnter('a', TWO_A_SECOND), rate.tryEnter('a', TWO_A_SECOND)]).not.toContain(undefined)
    expect(rate.tryEnter('a', TWO_A_SECOND)).toBeUndefined()
    expect(rate.retryAfterMs('a', TWO_A_SECOND)).toBe(500)
    expect(rate.retryAfterMs('b', TWO_A_SECOND)).toBe(0)
  })

  it('lets those who wait in as tokens come, in order, and counts them in what the next would wait', async () => {
    vi.useFakeTimers({ now: 0 })
    const rate = limiter({ now: () => Date.now() })
    const entered: [string, number][] = []
    rate.tryEnter('a', TWO_A_SECOND)
    rate.tryEnter('a', TWO_A_SECOND)
    const all = ['x', 'y', 'z'].map((name) =>
      rate.enter('a', TWO_A_SECOND, forever).then(() => void entered.push([name, Date.now()])),
    )
    expect(rate.retryAfterMs('a', TWO_A_SECOND)).toBe(2_000)
    await vi.advanceTimersByTimeAsync(1_500)
    await Promise.all(all)
    expect(entered).toEqual([
      ['x', 500],
      ['y', 1_000],
      ['z', 1_500],
    ])
  })

  it('refuses at once who would come too late, and says when it would be', async () => {
    const rate = still()
    rate.tryEnter('a', TWO_A_SECOND)
    rate.tryEnter('a', TWO_A_SECOND)
    const refused = await rate.enter('a', TWO_A_SECOND, forever, 499).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(LimitError)
    expect(refused).toMatchObject({ reason: 'too_late', retryAfterMs: 500 })
  })

  it('takes no token for a place that is full', async () => {
    vi.useFakeTimers({ now: 0 })
    const both: Limit = { concurrent: 1, rate: { capacity: 2, perSecond: 1 } }
    const limits = limiter({ now: () => Date.now() })
    const first = limits.tryEnter('a', both)!
    expect(limits.tryEnter('a', both)).toBeUndefined()
    first()
    expect(limits.tryEnter('a', both)).toBeDefined()
  })

  it('remembers so many idle keys, the longest idle forgotten first', () => {
    const rate = limiter({ now: () => 0, maxIdleKeys: 2 })
    const one: Limit = { rate: { capacity: 1, perSecond: 1 } }
    for (const key of ['a', 'b', 'c']) rate.tryEnter(key, one)!()
    expect(rate.size()).toBe(2)
    expect(rate.tryEnter('c', one)).toBeUndefined()
    expect(rate.tryEnter('a', one)).toBeDefined()
  })
})

it('never lets in more than the limit, serves in order, wastes no place and ends empty, whoever comes, leaves and gives up', async () => {
  const step = fc.record({ what: fc.constantFrom('enter', 'leave', 'give up'), key: fc.constantFrom('a', 'b') })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), async (steps, concurrent) => {
      const places = still()
      const callers = { a: [] as Guest[], b: [] as Guest[] }
      const count = (key: 'a' | 'b', state: Guest['state']) =>
        callers[key].filter((guest) => guest.state === state).length
      for (const { what, key } of steps) {
        if (what === 'enter') callers[key].push(guestOf(places.enter, key, concurrent))
        else if (what === 'leave') callers[key].find(({ state }) => state === 'inside')?.leave()
        else callers[key].findLast(({ state }) => state === 'waiting')?.giveUp()
        await ticks()
        expect(count(key, 'inside')).toBe(Math.min(concurrent, count(key, 'inside') + count(key, 'waiting')))
        const firstWaiting = callers[key].findIndex(({ state }) => state === 'waiting')
        const passed = firstWaiting >= 0 && callers[key].slice(firstWaiting).some(({ state }) => state === 'inside')
        expect(passed).toBe(false)
      }
      for (const guest of [...callers.a, ...callers.b]) guest.giveUp()
      await ticks()
      for (const guest of [...callers.a, ...callers.b]) guest.leave()
      expect(places.size()).toBe(0)
    }),
    { numRuns: 60 },
  )
})

type Guest = { state: 'waiting' | 'inside' | 'gone'; leave: () => void; readonly giveUp: () => void }

function guestOf(enter: Limiter['enter'], key: string, concurrent: number): Guest {
  const control = new AbortController()
  const guest: Guest = { state: 'waiting', leave: () => {}, giveUp: () => control.abort(new Error('gone')) }
  enter(key, { concurrent }, control.signal).then(
    (release) => {
      guest.state = 'inside'
      guest.leave = () => {
        guest.state = 'gone'
        release()
      }
    },
    () => {
      guest.state = 'gone'
    },
  )
  return guest
}
