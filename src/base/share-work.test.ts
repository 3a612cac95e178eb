import { afterEach, expect, it, vi } from 'vitest'
import { type Lifetime, sharedWork, type Work } from './share-work.ts'

/** Work that the test ends by hand, and everything that was begun. */
function bench() {
  const begun: (Lifetime & { end: (value: string) => void; fail: (error: Error) => void })[] = []
  const begin = (lifetime: Lifetime): Work<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    begun.push({ ...lifetime, end: resolve, fail: reject })
    return { result: promise }
  }
  return { begun, begin, share: sharedWork<string>() }
}
const forever = new AbortController().signal

afterEach(() => void vi.useRealTimers())

it('runs equal work once, and gives its result to everybody', async () => {
  const { begun, begin, share } = bench()
  const [a, b] = [share('k', begin, { signal: forever }), share('k', begin, { signal: forever })]
  const other = share('other', begin, { signal: forever })
  expect(begun).toHaveLength(2)
  expect(a.work).toBe(b.work)
  expect([share.running('k'), share.running('none')]).toEqual([a.work, undefined])
  begun[0]!.end('yes')
  begun[1]!.end('no')
  expect(await Promise.all([a.result, b.result, other.result])).toEqual(['yes', 'yes', 'no'])
  expect(share.size()).toBe(0)
  expect(begun[0]!.signal.aborted).toBe(false)
})

it('begins anew when the work has ended, well or badly', async () => {
  const { begun, begin, share } = bench()
  const first = share('k', begin, { signal: forever })
  begun[0]!.fail(new Error('broken'))
  await expect(first.result).rejects.toThrow('broken')
  void share('k', begin, { signal: forever }).result
  expect(begun).toHaveLength(2)
})

it('ends the wait of one caller alone', async () => {
  const { begun, begin, share } = bench()
  const impatient = new AbortController()
  const gone = share('k', begin, { signal: impatient.signal })
  const stays = share('k', begin, { signal: forever })
  impatient.abort(new Error('too late'))
  await expect(gone.result).rejects.toThrow('too late')
  expect(begun[0]!.signal.aborted).toBe(false)
  begun[0]!.end('yes')
  expect(await stays.result).toBe('yes')
})

it('ends the work at once when nobody waits, and lets nobody join what was ended', async () => {
  const { begun, begin, share } = bench()
  const callers = [new AbortController(), new AbortController()]
  const results = callers.map(({ signal }) => share('k', begin, { signal }).result)
  callers[0]!.abort(new Error('gone'))
  expect(begun[0]!.signal.aborted).toBe(false)
  callers[1]!.abort(new Error('gone'))
  expect(begun[0]!.signal.aborted).toBe(true)
  expect(share.size()).toBe(0)
  for (const result of results) await expect(result).rejects.toThrow('gone')
  const next = share('k', begin, { signal: forever })
  begun[0]!.end('old')
  begun[1]!.end('new')
  expect(await next.result).toBe('new')
})

it('throws when the signal has fired already, and begins nothing', () => {
  const { begun, begin, share } = bench()
  expect(() => share('k', begin, { signal: AbortSignal.abort(new Error('gone')) })).toThrow('gone')
  expect(begun).toEqual([])
})

it('lives until the latest caller of those that wait', async () => {
  const { begun, begin, share } = bench()
  const long = new AbortController()
  void share('k', begin, { signal: forever, untilMs: 1_000 }).result
  expect(begun[0]!.untilMs()).toBe(1_000)
  const second = share('k', begin, { signal: long.signal, untilMs: 20_000 }).result
  expect(begun[0]!.untilMs()).toBe(20_000)
  long.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
  expect(begun[0]!.untilMs()).toBe(1_000)
  void share('k', begin, { signal: forever }).result
  expect(begun[0]!.untilMs()).toBe(Number.POSITIVE_INFINITY)
})

it('begins new work for a caller who does not accept the running one; both go on, and the new one is offered from then', async () => {
  const { begun, begin, share } = bench()
  const first = share('k', begin, { signal: forever })
  const fresh = share('k', begin, { signal: forever, accepts: () => false })
  const third = share('k', begin, { signal: forever })
  expect(begun).toHaveLength(2)
  begun[0]!.end('old')
  expect(await first.result).toBe('old')
  const fourth = share('k', begin, { signal: forever })
  begun[1]!.end('new')
  expect(await Promise.all([fresh.result, third.result, fourth.result])).toEqual(['new', 'new', 'new'])
  expect(begun).toHaveLength(2)
})

it('counts one caller object that calls twice as two', async () => {
  const { begun, begin, share } = bench()
  const caller = { signal: forever }
  const both = [share('k', begin, caller).result, share('k', begin, caller).result]
  begun[0]!.end('yes')
  expect(await Promise.all(both)).toEqual(['yes', 'yes'])
})

it('bounds all work where it is told to', async () => {
  vi.useFakeTimers()
  const { begun, begin } = bench()
  const share = sharedWork<string>({ longestMs: 1_000 })
  const short = share('short', begin, { signal: forever }).result
  begun[0]!.end('yes')
  await short
  void share('long', begin, { signal: forever }).result
  vi.advanceTimersByTime(999)
  expect(begun[1]!.signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(begun[1]!.signal.reason).toMatchObject({ name: 'TimeoutError' })
  expect(begun[0]!.signal.aborted).toBe(false)
})
