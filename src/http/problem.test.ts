import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ErrorCode } from '../base/errors.ts'
import { asAppError, type Refusal, refusalLog } from './problem.ts'

it.each<[string, unknown, string, string]>([
  [
    'a refusal of the library keeps its words',
    { statusCode: 415, message: 'x/y is not read' },
    'unsupported_media_type',
    'x/y is not read',
  ],
  ['one without words has those of its code', { statusCode: 429 }, 'rate_limited', 'too many requests'],
  ['a status that is none of ours', { statusCode: 418, message: 'a teapot' }, 'internal', 'unexpected error'],
  ['a fault', new TypeError('x is undefined'), 'internal', 'unexpected error'],
])('%s', (_, error, code, words) => {
  const known = asAppError(error)
  expect([known.code, known.message.toLowerCase()]).toEqual([code, expect.stringContaining(words)])
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const refused = (reason: ErrorCode, id: string): Refusal => ({
  reason,
  status: 429,
  path: '/v1/check',
  caller: 'address 192.0.2.1',
  request_id: id,
})

it('one line a second and reason, with the first request and their number', () => {
  const lines: string[] = []
  const log = refusalLog(({ reason, request_id, count }) => lines.push(`${reason} ${request_id} ${count}`))
  for (let i = 0; i < 100_000; i++) log.add(refused('rate_limited', `r${i}`))
  log.add(refused('unauthorized', 'u0'))
  vi.advanceTimersByTime(999)
  expect(lines).toEqual([])
  vi.advanceTimersByTime(1)
  expect(lines).toEqual(['rate_limited r0 100000', 'unauthorized u0 1'])
  vi.advanceTimersByTime(5_000)
  log.add(refused('rate_limited', 'last'))
  log.stop()
  expect(lines.slice(2)).toEqual(['rate_limited last 1'])
  expect(vi.getTimerCount()).toBe(0)
})
