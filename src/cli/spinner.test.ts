import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { withSpinner } from './spinner.ts'

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
