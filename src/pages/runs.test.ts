import { expect, it } from 'vitest'
import type { Told } from '../operations/execute.ts'
import { runsOf } from './runs.ts'

const never = new AbortController().signal
const part = (check: string): Told => ({ kind: 'part', part: { check } })
const answer = { kind: 'answer', given: {} } as unknown as Told

/** Tells what is pushed, until its signal fires. */
function source() {
  const waiting: Told[] = []
  let wake = (): void => {}
  const seen = { begun: 0, aborted: false }
  async function* begin(signal: AbortSignal): AsyncGenerator<Told, void, undefined> {
    seen.begun++
    signal.addEventListener('abort', () => {
      seen.aborted = true
      wake()
    })
    while (!signal.aborted) {
      const one = waiting.shift()
      if (one) yield one
      if (one?.kind === 'answer') return
      if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const push = (one: Told): void => {
    waiting.push(one)
    wake()
  }
  return { begin, push, seen }
}

async function all(told: AsyncIterable<Told>): Promise<readonly string[]> {
  const kinds: string[] = []
  for await (const one of told) kinds.push(one.kind === 'part' ? one.part.check : one.kind)
  return kinds
}

it('a question is asked once, and told from its beginning to whoever comes later', async () => {
  const runs = runsOf({ now: () => 0 })
  const { begin, push, seen } = source()
  const first = all(runs.follow('a', begin, never))
  push(part('spf'))
  await new Promise((resolve) => setTimeout(resolve, 5))
  const second = all(runs.follow('a', begin, never))
  push(part('mx'))
  push(answer)
  expect(await Promise.all([first, second])).toEqual([
    ['spf', 'mx', 'answer'],
    ['spf', 'mx', 'answer'],
  ])
  expect(await all(runs.follow('a', begin, never))).toEqual(['spf', 'mx', 'answer']) // of the last minute
  expect([seen.begun, runs.known('a'), runs.known('b')]).toEqual([1, answer, undefined])
})

// Bound: src/pages/runs.ts MAX_RUNS
it('refuses one more than may run', () => {
  const runs = runsOf({ now: () => 0, maxRuns: 2 })
  runs.follow('a', source().begin, never)
  runs.follow('b', source().begin, never)
  expect(() => runs.follow('c', source().begin, never)).toThrow(/2 requests of pages/)
})

it('ends when nobody follows it any more, and goes on for one that comes back', async () => {
  const runs = runsOf({ now: () => 0, aloneMs: 30 })
  const { begin, push, seen } = source()
  const left = new AbortController()
  const first = all(runs.follow('a', begin, left.signal))
  push(part('spf'))
  await new Promise((resolve) => setTimeout(resolve, 5))
  left.abort()
  expect(await first).toEqual(['spf'])
  const back = new AbortController()
  const second = all(runs.follow('a', begin, back.signal))
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(seen.aborted).toBe(false)
  back.abort()
  await second
  await expect.poll(() => seen.aborted).toBe(true)
})
