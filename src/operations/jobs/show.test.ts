import { expect, it } from 'vitest'
import { labJob } from '../../../test/lab/jobs.ts'
import type { JobAnswer } from '../../answers/jobs.ts'
import { progressOf } from './show.ts'

const { eta_reason: _, ...job } = labJob
it.each<[Partial<JobAnswer>, string, boolean]>([
  [
    { state: 'running', done: 1, rows: 3, rate: 5, eta_ms: 61_500, eta_reason: 'x is the slowest provider' },
    'running: 1 of 3 rows (33 %), 5 per minute, 1m2s left (x is the slowest provider)',
    false,
  ],
  [
    { state: 'running', done: 1, rows: 3, rate: 5, eta_ms: 60_000 },
    'running: 1 of 3 rows (33 %), 5 per minute, 1m left',
    false,
  ],
  [{ state: 'done', done: 0, rows: 0, rate: 0, eta_ms: null }, 'done: 0 of 0 rows (0 %), 0 per minute', true],
])('%j', (over, line, hasEnded) =>
  expect(progressOf({ ...job, ...over })).toEqual({ raw: { id: job.id }, line, hasEnded }),
)
