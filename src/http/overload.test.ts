import { expect, it, vi } from 'vitest'
import { loopWatch, MAX_HELD_MS } from './overload.ts'

/** A watch whose clocks are moved by hand; its own timer sees nothing happen. */
function watched() {
  const lines: Readonly<Record<string, unknown>>[] = []
  let [nowMs, cpuMs] = [0, 0]
  const watch = loopWatch({ warn: (fields) => lines.push(fields), now: () => nowMs, cpuMs: () => cpuMs })
  watch.stop()
  const pass = (ms: number, cpu = ms): void => {
    nowMs += ms
    cpuMs += cpu
    watch.look()
  }
  return { lines, watch, pass }
}

// Bound: src/http/overload.ts MAX_HELD_MS
it.each([
  ['at the bound', MAX_HELD_MS + 20, MAX_HELD_MS, 0],
  ['over it', MAX_HELD_MS + 21, MAX_HELD_MS + 1, 1],
  ['over it, while the machine was busy with others', 500, 10, 0],
])('a step %s', (_, ms, cpu, lines) => {
  const one = watched()
  one.watch.begin('/v1/check')
  one.pass(ms, cpu)
  expect(one.lines).toHaveLength(lines)
})

it('names what was under way, also what has ended since', () => {
  const { lines, watch, pass } = watched()
  watch.begin('/v1/spf')()
  pass(20)
  watch.begin('/v1/check')
  const end = watch.begin('/v1/report')
  end()
  end()
  pass(200)
  expect(lines).toEqual([{ held_ms: 180, operations: ['/v1/check', '/v1/report'], times: 1 }])
})

it('says nothing of a start, when no operation is under way', () => {
  const { lines, pass } = watched()
  pass(500)
  expect(lines).toEqual([])
})

it('writes one line a second, with the number of times', () => {
  const { lines, watch, pass } = watched()
  watch.begin('/v1/check')
  for (let i = 0; i < 8; i++) pass(220)
  expect(lines.map(({ times }) => times)).toEqual([1, 5])
})

it.each([
  [999, ['/v1/check', '/v1/spf']],
  [1_000, ['/v1/check']],
])('remembers 1,000 operations that have ended between two looks: %i before the last', (before, operations) => {
  const { lines, watch, pass } = watched()
  for (let i = 0; i < before; i++) watch.begin('/v1/check')()
  watch.begin('/v1/spf')()
  pass(1_000)
  expect(lines).toMatchObject([{ operations }])
})

it('looks only while operations are in progress', () => {
  vi.useFakeTimers()
  const watch = loopWatch({ warn: () => {} })
  expect(vi.getTimerCount()).toBe(0)
  const end = watch.begin('/v1/check')
  expect(vi.getTimerCount()).toBe(1)
  end()
  vi.advanceTimersByTime(60)
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})
