import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { progressLines, withSpinner } from './progress.ts'

/** What is written when a line is told every second for so long, and then the last one. */
function written(width: number | undefined, seconds: number): string[] {
  const out: string[] = []
  let nowMs = 5
  const tell = progressLines({ write: (text) => void out.push(text), width: () => width, now: () => nowMs })
  for (let s = 0; s < seconds; s++, nowMs += 1_000) tell(`${s} of 100\u001b[31m`)
  tell('')
  tell('done', true)
  return out
}

it.each([
  [
    'a terminal overwrites each line',
    80,
    2,
    ['0 of 100 [31m', '1 of 100 [31m', '', 'done'].map((line) => `\r\u001b[K${line}`),
  ],
  ['a line that would wrap is cut', 10, 1, ['0 of 1...', '', 'done'].map((line) => `\r\u001b[K${line}`)],
  ['a log gets the first and the last line', undefined, 29, ['0 of 100 [31m\n', 'done\n']],
  ['and one every 30 s', undefined, 62, ['0 of 100 [31m\n', '30 of 100 [31m\n', '60 of 100 [31m\n', 'done\n']],
])('%s', (_name, width, seconds, lines) => {
  expect(written(width, seconds)).toEqual(lines)
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())
const after = (ms: number): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('done'), ms))

it('shows nothing for fast work', async () => {
  const told: string[] = []
  const working = withSpinner('check', (line) => void told.push(line), after(300))
  await vi.advanceTimersByTimeAsync(2_000)
  expect([await working, told]).toEqual(['done', []])
})

it('shows frames and seconds during slow work, and leaves no line', async () => {
  const told: string[] = []
  const working = withSpinner('check a\u001b[31m', (line) => void told.push(line), after(1_100))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await working).toBe('done')
  expect(told).toEqual(['| check a [31m 0 s', '/ check a [31m 0 s', '- check a [31m 0 s', '\\ check a [31m 1 s', ''])
})

it('leaves no line if the work fails', async () => {
  const told: string[] = []
  const failing = after(900).then(() => Promise.reject(new Error('no')))
  const working = withSpinner('check', (line) => void told.push(line), failing)
  const refused = expect(working).rejects.toThrow('no')
  await vi.advanceTimersByTimeAsync(2_000)
  await refused
  expect(told.at(-1)).toBe('')
})
