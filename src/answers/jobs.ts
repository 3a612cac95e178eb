import { z } from 'zod'
import type { AnswerOf } from './answer.ts'
import { listOf } from './list.ts'

const time = z.iso.datetime()
const count = z.int().min(0)

export const jobKind = z.enum(['verify', 'check', 'blacklist'])
export const jobState = z.enum(['receiving', 'waiting', 'running', 'paused', 'done', 'canceled', 'failed'])

/** A provider's part of a job. */
const jobProvider = z.strictObject({
  provider: z.string(),
  rows: count,
  done: count,
  rate: z.number().min(0).meta({ description: 'rows a minute, over the last five minutes' }),
  waiting_reason: z.string().optional().meta({ description: 'why its rows wait, and until when' }),
})

/** A bulk job with its progress. */
export const jobAnswer = z
  .strictObject({
    id: z.string(),
    kind: jobKind,
    name: z.string(),
    state: jobState,
    created_at: time,
    expires_at: time,
    rows: count.meta({ description: 'rows that get a result' }),
    duplicates: count.meta({ description: 'rows of these beyond the first of their address' }),
    bad_rows: count.meta({ description: 'rows beside these that cannot be read or have no address' }),
    received: count.meta({ description: 'whole records held; an upload that was cut off goes on behind them' }),
    done: count.meta({ description: 'rows that have their result' }),
    counts: z
      .record(z.string(), count)
      .meta({ description: 'rows by result (verify), status (check) or verdict (blacklist)' }),
    reasons: z.record(z.string(), count).meta({ description: 'rows by reason' }),
    providers: z.array(jobProvider),
    providers_left_out: count.optional().meta({ description: 'providers beyond the 100 with most rows' }),
    rate: z.number().min(0).meta({ description: 'rows a minute, over the last five minutes' }),
    eta_ms: count.nullable().meta({ description: 'time left; null while it cannot be told' }),
    eta_reason: z.string().optional().meta({ description: 'what the time left depends on' }),
    columns: z.array(z.string()).optional().meta({ description: 'the header of the list' }),
    column: z.string().optional().meta({ description: 'the column that is asked about, by name or number' }),
    failure: z.string().optional(),
    first_result_at: time.nullable(),
    finished_at: time.nullable(),
    callback: z.strictObject({ id: z.string(), secret: z.string().optional() }).optional().meta({
      description: 'the webhook that is told when the job has ended; the secret of one that was made, never told again',
    }),
  })
  .meta({ id: 'Job' })
export type JobAnswer = AnswerOf<typeof jobAnswer>

export const jobListAnswer = listOf(jobAnswer)
export type JobListAnswer = AnswerOf<typeof jobListAnswer>

/** A row with its result: its line, its own columns, then what its kind of job answers. */
export const jobRow = z
  .strictObject({
    line: z.int().min(1),
    columns: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
    input: z.string(),
    result: z.string(),
    reason: z.string(),
    answer: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'JobRow' })
export type JobRow = AnswerOf<typeof jobRow>
export const jobResultsAnswer = listOf(jobRow)
export type JobResultsAnswer = AnswerOf<typeof jobResultsAnswer>

export const jobBadRow = z.strictObject({ line: z.int().min(1), reason: z.string(), text: z.string() })
export const jobBadRowsAnswer = listOf(jobBadRow)
export type JobBadRowsAnswer = AnswerOf<typeof jobBadRowsAnswer>
