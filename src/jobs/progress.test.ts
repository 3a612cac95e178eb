import { describe, expect, it } from 'vitest'
import { labJobRecord } from '../../test/lab/jobs.ts'
import { jobAnswer } from '../answers/jobs.ts'
import type { JobRecord } from '../store/postgres/jobs.ts'
import { type Measures, presentJob } from './progress.ts'

const NOW = Date.UTC(2026, 0, 2, 12)
const job: JobRecord = labJobRecord({
  id: 'job_a',
  layout: { format: 'csv', delimiter: ',', header: ['name', 'email'], index: 1 },
  created_at: new Date(NOW - 600_000),
  touched_at: new Date(NOW - 400_000), // when it began to run
  expires_at: new Date(NOW + 86_400_000),
  first_result_at: new Date(NOW - 300_000),
  ...{ received: 100, next_line: 101, rows: 100, done: 50, duplicates: 3, bad_rows: 2 },
})
const counts = (rows: readonly (readonly [string, string, string, number])[]): Measures['counts'] =>
  rows.map(([provider, result, reason, n]) => ({ provider, result, reason, n }))

const measures: Measures = {
  counts: counts([
    ['google', '', '', 100],
    ['google', 'accepted', 'mailbox_exists', 30],
    ['google', 'rejected', 'mailbox_not_found', 20],
  ]),
  pace: new Map([['google', 50]]),
  waiting: new Map(),
  perMinute: () => Number.POSITIVE_INFINITY,
  nowMs: NOW,
}

it('presents a job as its schema says', () => {
  const answer = presentJob(job, measures)
  expect(jobAnswer.safeParse(answer).error).toBeUndefined()
  expect(answer).toMatchObject({
    counts: { accepted: 30, rejected: 20 },
    reasons: { mailbox_exists: 30, mailbox_not_found: 20 },
    providers: [{ provider: 'google', rows: 100, done: 50, rate: 10 }],
    rate: 10,
    eta_ms: 300_000, // 50 rows at 10 a minute
    columns: ['name', 'email'],
    column: 'email',
  })
})

describe('the time left', () => {
  it.each<[string, Partial<Measures>, Partial<JobRecord>, number | null, string | undefined]>([
    [
      'is not told before the first result of an unlimited provider',
      { counts: counts([['a', '', '', 9]]), pace: new Map() },
      {},
      null,
      undefined,
    ],
    [
      'follows the limit before the first result',
      { counts: counts([['a', '', '', 100]]), pace: new Map(), perMinute: () => 50 },
      {},
      120_000,
      'a is the slowest provider',
    ],
    [
      'is that of the slowest provider',
      {
        counts: counts([
          ['a', '', '', 10],
          ['b', '', '', 90],
        ]),
        pace: new Map([
          ['a', 50],
          ['b', 5],
        ]),
      },
      {},
      5_400_000,
      undefined,
    ],
    [
      'waits for rows that are due later',
      { waiting: new Map([['google', new Date(NOW + 3_600_000)]]) },
      {},
      3_600_000,
      'google is the slowest provider',
    ],
    ['takes rows of unknown providers to be like the others', {}, { rows: 200 }, 600_000, undefined],
    ['is none for a job that is done', {}, { state: 'done' }, null, undefined],
  ])('%s', (_, more, of, ms, reason) => {
    const answer = presentJob({ ...job, ...of }, { ...measures, ...more })
    expect([answer.eta_ms, answer.eta_reason]).toEqual([ms, reason])
  })
})
