import { describe, expect, it } from 'vitest'
import { labDns } from '../../../test/lab/dns.ts'
import { type Answer, DnsError, type RecordType, type Resolve } from './resolver.ts'
import { cached, limited, merged } from './wrap.ts'

const forever = new AbortController().signal
const answer = (ttlSeconds: number, kind: Answer['kind'] = 'found'): Answer<'A'> => ({
  kind,
  name: 'a.example',
  type: 'A',
  records: [],
  ttlSeconds,
  cname: [],
  secure: false,
  ede: [],
})

/** A Resolve that gives `next()` each time and counts; and a clock. */
function counted(next: (name: string, type: RecordType) => Answer | DnsError) {
  const clock = { ms: 0 }
  const asked: string[] = []
  const resolve = (async (name: string, type: RecordType) => {
    asked.push(`${name} ${type}`)
    const given = next(name, type)
    if (given instanceof DnsError) throw given
    return given
  }) as Resolve
  const cache = (limits: { maxEntries?: number; maxBytes?: number } = {}): Resolve =>
    cached(resolve, { now: () => clock.ms, maxEntries: 1_000, maxBytes: 1_000_000, ...limits })
  return { clock, asked, resolve, cache }
}

describe('cached', () => {
  it.each([
    [answer(60), 59_999, 1, 'within its TTL'],
    [answer(60), 60_000, 2, 'and not beyond'],
    [answer(0), 0, 2, 'TTL 0 is not kept'],
    [answer(1_000_000), 86_399_999, 1, 'a day at most'],
    [answer(1_000_000), 86_400_000, 2, 'a day at most'],
    [answer(1_000_000, 'nxdomain'), 10_799_999, 1, 'a no for three hours at most (RFC 2308 §5)'],
    [answer(1_000_000, 'nodata'), 10_800_000, 2, 'a no for three hours at most'],
  ])('%j after %i ms was asked %i times: %s', async (given, ms, times) => {
    const { cache, clock, asked } = counted(() => given)
    const resolve = cache()
    await resolve('a.example', 'A', forever)
    clock.ms = ms
    await resolve('A.example.', 'A', forever)
    expect(asked).toHaveLength(times)
  })

  it('the TTL counts down', async () => {
    const { cache, clock } = counted(() => answer(60))
    const resolve = cache()
    await resolve('a.example', 'A', forever)
    clock.ms = 12_900
    expect((await resolve('a.example', 'A', forever)).ttlSeconds).toBe(48)
  })

  it('type and CD make another question', async () => {
    const { cache, asked } = counted(() => answer(60))
    const resolve = cache()
    await resolve('a.example', 'A', forever)
    await resolve('a.example', 'AAAA', forever)
    await resolve('a.example', 'A', forever, { checkingDisabled: true })
    await resolve('a.example', 'A', forever, { checkingDisabled: false })
    expect(asked).toHaveLength(3)
  })

  it('failures are kept for 1, 2, 4, 5, 5 s in a row, and begin anew after an answer (RFC 9520 §3.2)', async () => {
    let given: Answer | DnsError = new DnsError('servfail', { name: 'a.example', type: 'A' })
    const { cache, clock, asked } = counted(() => given)
    const resolve = cache()
    const fails = () => expect(resolve('a.example', 'A', forever)).rejects.toMatchObject({ reason: 'servfail' })
    for (const ms of [1_000, 2_000, 4_000, 5_000, 5_000]) {
      const before = asked.length
      await fails()
      expect(asked).toHaveLength(before + 1)
      clock.ms += ms - 1
      await fails()
      expect(asked).toHaveLength(before + 1)
      clock.ms += 1
    }
    given = answer(0)
    await resolve('a.example', 'A', forever)
    given = new DnsError('timeout', { name: 'a.example', type: 'A' })
    await expect(resolve('a.example', 'A', forever)).rejects.toThrow()
    clock.ms += 1_000
    const before = asked.length
    await expect(resolve('a.example', 'A', forever)).rejects.toThrow()
    expect(asked).toHaveLength(before + 1)
  })

  it.each<[DnsError['reason'], AbortSignal, string]>([
    ['aborted', forever, 'nobody waited for it'],
    ['invalid_name', forever, 'it costs nothing to say so again'],
    ['timeout', AbortSignal.abort(), 'the time was the asker’s'],
  ])('%s is not kept: %s', async (reason, signal) => {
    const { cache, asked } = counted(() => new DnsError(reason, { name: 'a.example', type: 'A' }))
    const resolve = cache()
    for (let i = 0; i < 2; i++) await expect(resolve('a.example', 'A', signal)).rejects.toMatchObject({ reason })
    expect(asked).toHaveLength(2)
  })

  it.each<[{ maxEntries?: number; maxBytes?: number }, string]>([
    [{ maxEntries: 10 }, 'entries'],
    [{ maxBytes: 5_000 }, 'bytes'],
  ])('is bounded: %j in %s', async (limits) => {
    const { cache, asked } = counted(() => answer(60))
    const resolve = cache(limits)
    for (let i = 0; i < 100; i++) await resolve(`n${i}.example`, 'A', forever)
    await resolve('n99.example', 'A', forever)
    expect(asked).toHaveLength(100)
    await resolve('n0.example', 'A', forever)
    expect(asked).toHaveLength(101)
  })
})

it('many that wait for one failure count as one', async () => {
  const { cache, clock, asked } = counted(() => new DnsError('servfail', { name: 'a.example', type: 'A' }))
  const resolve = cache()
  const ask = () => resolve('a.example', 'A', forever).catch(() => {})
  await Promise.all(Array.from({ length: 5 }, ask))
  expect(asked).toHaveLength(5)
  clock.ms = 1_000
  await ask()
  expect(asked).toHaveLength(6)
})

/** A Resolve whose answers come when `release` is called; it honours its signal. */
function held() {
  const open: { name: string; signal: AbortSignal; release: () => void }[] = []
  const resolve = ((name: string, type: RecordType, signal: AbortSignal) =>
    new Promise<Answer>((found, failed) => {
      open.push({ name, signal, release: () => found(answer(60)) })
      signal.addEventListener('abort', () => failed(new DnsError('aborted', { name, type })))
    })) as unknown as Resolve
  return { open, resolve }
}

describe('merged', () => {
  it('asks equal questions once, also in other letters', async () => {
    const { open, resolve } = held()
    const shared = merged(resolve)
    const all = [
      shared('a.example', 'A', forever),
      shared('A.example.', 'A', forever),
      shared('a.example', 'MX', forever),
    ]
    expect(open).toHaveLength(2)
    for (const { release } of open) release()
    expect(await Promise.all(all)).toHaveLength(3)
    void shared('a.example', 'A', forever)
    expect(open).toHaveLength(3) // nothing is remembered
  })

  it('who gives up does not end it for the others; the last one does', async () => {
    const { open, resolve } = held()
    const shared = merged(resolve)
    const [one, two] = [new AbortController(), new AbortController()]
    const first = shared('a.example', 'A', one.signal)
    const second = shared('a.example', 'A', two.signal)
    one.abort()
    await expect(first).rejects.toMatchObject({ name: 'DnsError', reason: 'aborted' })
    expect(open[0]!.signal.aborted).toBe(false)
    two.abort(new DOMException('', 'TimeoutError'))
    await expect(second).rejects.toMatchObject({ reason: 'timeout' })
    expect(open[0]!.signal.aborted).toBe(true)
    const third = shared('a.example', 'A', forever)
    expect(open).toHaveLength(2) // it does not join what was given up
    open[1]!.release()
    expect((await third).kind).toBe('found')
  })

  it('passes a failure on to all', async () => {
    const shared = merged(labDns({ 'a.example': 'SERVFAIL' }).resolve)
    const both = await Promise.allSettled([shared('a.example', 'A', forever), shared('a.example', 'A', forever)])
    expect(both.map((one) => one.status === 'rejected' && (one.reason as DnsError).reason)).toEqual([
      'servfail',
      'servfail',
    ])
  })
})

const ticks = () => new Promise((resolve) => setImmediate(resolve))

describe('limited', () => {
  it('lets so many through, the others in turn', async () => {
    const { open, resolve } = held()
    const few = limited(resolve, 2)
    const all = ['a', 'b', 'c', 'd'].map((name) => few(name, 'A', forever))
    const names = () => open.map(({ name }) => name).join('')
    expect(names()).toBe('ab')
    open[1]!.release()
    await all[1]
    await ticks()
    expect(names()).toBe('abc')
    open[0]!.release()
    await all[0]
    await ticks()
    expect(names()).toBe('abcd')
    for (const { release } of open) release()
    await Promise.all(all)
  })

  it('who gives up while waiting leaves the queue, and one too many is given up at once', async () => {
    const { open, resolve } = held()
    const few = limited(resolve, 1, 1)
    const first = few('a', 'A', forever)
    const control = new AbortController()
    const second = few('b', 'A', control.signal)
    await expect(few('c', 'A', forever)).rejects.toMatchObject({
      reason: 'aborted',
      cause: { reason: 'queue_full', message: '1 callers are already waiting' },
    })
    control.abort()
    await expect(second).rejects.toMatchObject({ reason: 'aborted' })
    open[0]!.release()
    await first
    void few('d', 'A', forever)
    expect(open.map(({ name }) => name)).toEqual(['a', 'd'])
  })
})
