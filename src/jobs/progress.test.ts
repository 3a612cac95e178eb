import { describe, expect, it } from 'vitest'
import { labJobRecord } from '../../test/lab/jobs.ts'
import { jobAnswer } from '../answers/jobs.ts'
import type { JobRecord } from '../store/postgres/jobs.ts'
import { columnsOf, type Measures, presentJob } from './progress.ts'

const NOW = Date.UTC(2026, 0, 2, 12)
const job: JobRecord = labJobRecord({
  id: 'job_a',
  created_at: new Date(NOW - 600_000),
  touched_at: new Date(NOW - 400_000), // start of the run
  expires_at: new Date(NOW + 86_400_000),
  first_result_at: new Date(NOW - 300_000),
  ...{ received: 100, next_line: 101, rows: 100, duplicates: 3, bad_rows: 2 },
})
/** Totals of providers: rows, answered rows, and recently answered rows. */
function sumsOf(...parts: readonly (readonly [string, number, number, number])[]): Measures['sums'] {
  const providers = parts.map(([provider, rows, done, recent]) => ({ provider, rows, done, recent }))
  const sum = (of: 'rows' | 'done' | 'recent'): number => providers.reduce((all, one) => all + one[of], 0)
  return {
    words: [],
    providers,
    providerCount: parts.length,
    known: sum('rows'),
    done: sum('done'),
    recent: sum('recent'),
  }
}

const measures: Measures = {
  sums: {
    ...sumsOf(['google', 100, 50, 50]),
    words: [
      { result: 'accepted', reason: 'mailbox_exists', n: 30 },
      { result: 'rejected', reason: 'mailbox_not_found', n: 20 },
    ],
  },
  waiting: new Map(),
  perMinute: () => Number.POSITIVE_INFINITY,
  nowMs: NOW,
}

it('presents a job according to its schema', () => {
  const answer = presentJob(job, measures)
  expect(jobAnswer.safeParse(answer).error).toBeUndefined()
  expect(answer).toMatchObject({
    counts: { accepted: 30, rejected: 20 },
    reasons: { mailbox_exists: 30, mailbox_not_found: 20 },
    providers: [{ provider: 'google', rows: 100, done: 50, rate: 10 }],
    rate: 10,
    eta_ms: 300_000, // 50 rows at 10 a minute
  })
})

it('names a hundred providers, and the number of further ones', () => {
  const many = sumsOf(...Array.from({ length: 150 }, (_, n) => [`p${n}`, n + 1, 0, 0] as const))
  const answer = presentJob(job, { ...measures, sums: { ...many, providerCount: 90_000 } })
  expect([answer.providers.length, answer.providers[0]?.rows, answer.providers_left_out]).toEqual([100, 150, 89_900])
})

describe('the remaining time', () => {
  it.each<[string, Partial<Measures>, Partial<JobRecord>, number | null, string | undefined]>([
    [
      'is not told before the first result of an unlimited provider',
      { sums: sumsOf(['a', 9, 0, 0]) },
      {},
      null,
      undefined,
    ],
    [
      'follows the limit before the first result',
      { sums: sumsOf(['a', 100, 0, 0]), perMinute: () => 50 },
      {},
      120_000,
      'a is limited to 50 rows a minute',
    ],
    [
      'is that of the slowest provider',
      { sums: sumsOf(['a', 60, 50, 50], ['b', 100, 10, 5]) },
      {},
      5_400_000,
      undefined,
    ],
    [
      'is known although one provider has no result yet',
      { sums: sumsOf(['a', 100, 50, 50], ['b', 10, 0, 0]) },
      {},
      300_000,
      undefined,
    ],
    [
      'does not take the first results of an unlimited provider for its rate',
      { sums: sumsOf(['a', 1_000, 500, 500], ['b', 1_000, 1, 1]) },
      { rows: 2_000 },
      598_204, // 999 rows at 100.2 a minute, and not at 0.2
      undefined,
    ],
    [
      'waits for rows that are due later',
      { waiting: new Map([['google', new Date(NOW + 3_600_000)]]) },
      {},
      3_600_000,
      'rows of google were deferred or limited until 2026-01-02T13:00:00.000Z',
    ],
    [
      'waits for them before the first result, too',
      { sums: sumsOf(['a', 9, 0, 0]), waiting: new Map([['a', new Date(NOW + 60_000)]]) },
      { rows: 90 },
      60_000,
      'rows of a were deferred or limited until 2026-01-02T12:01:00.000Z',
    ],
    [
      'names the rows that wait, although the measured rate ends later than they are due',
      { sums: sumsOf(['a', 12, 3, 3]), waiting: new Map([['a', new Date(NOW + 60_000)]]) },
      { rows: 12 },
      900_000, // 9 rows at 0.6 a minute
      'rows of a were deferred or limited until 2026-01-02T12:01:00.000Z',
    ],
    [
      'includes the pauses of a provider that lets a few rows through at a time',
      { sums: sumsOf(['a', 100, 10, 0]), waiting: new Map([['a', new Date(NOW + 60_000)]]) },
      {},
      2_940_000, // 1 minute, then 80 rows at 10 in 6 minutes
      'rows of a were deferred or limited until 2026-01-02T12:01:00.000Z',
    ],
    [
      'expects the last rows soon after they are due',
      { sums: sumsOf(['a', 100, 90, 0]), waiting: new Map([['a', new Date(NOW + 60_000)]]) },
      {},
      60_000,
      'rows of a were deferred or limited until 2026-01-02T12:01:00.000Z',
    ],
    [
      'names the limit, if that is what the rate follows',
      { sums: sumsOf(['a', 100, 50, 50]), waiting: new Map([['a', new Date(NOW + 60_000)]]), perMinute: () => 12 },
      {},
      300_000,
      'a is limited to 12 rows a minute',
    ],
    ['takes rows of unknown providers to be like the others', {}, { rows: 200 }, 600_000, undefined],
    ['is none for a job that is done', {}, { state: 'done' }, null, undefined],
  ])('%s', (_, more, of, ms, reason) => {
    const answer = presentJob({ ...job, ...of }, { ...measures, ...more })
    expect([answer.eta_ms, answer.eta_reason]).toEqual([ms, reason])
  })
})

it.each<[Parameters<typeof columnsOf>[0], object]>([
  [
    { format: 'csv', delimiter: ',', header: ['name', 'email', 'email'], index: 2 },
    { columns: ['name', 'email', 'email_2'], column: 'email_2' },
  ],
  [{ format: 'csv', delimiter: ',', header: null, index: 1 }, { column: '2' }],
  [{ format: 'text' }, {}],
  [undefined, {}],
])('the columns of a list with the layout %j are %j', (layout, columns) => expect(columnsOf(layout)).toEqual(columns))
