import { z } from 'zod'
import { type AnswerOf, listOf } from './answer.ts'

const time = z.iso.datetime()
const count = z.int().min(0)

const jobKind = z.enum(['verify', 'check', 'blacklist'])
export const jobState = z.enum(['receiving', 'waiting', 'running', 'paused', 'done', 'canceled', 'failed'])

const jobProvider = z.strictObject({
  provider: z.string(),
  rows: count,
  done: count,
  rate: z.number().min(0).meta({ description: 'rows per minute, over the last five minutes' }),
  waiting_reason: z.string().optional().meta({ description: 'why rows of this provider wait, and until when' }),
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
    rows: count.meta({ description: 'number of rows that get a result' }),
    duplicates: count.meta({ description: 'number of these rows that repeat the address of an earlier row' }),
    bad_rows: count.meta({ description: 'number of other rows: unreadable, or without an address' }),
    received: count.meta({
      description: 'number of complete records received; an interrupted upload continues after them',
    }),
    done: count.meta({ description: 'number of rows that have a result' }),
    counts: z
      .record(z.string(), count)
      .meta({ description: 'number of rows by result (verify), status (check) or verdict (blacklist)' }),
    reasons: z.record(z.string(), count).meta({ description: 'number of rows by reason' }),
    providers: z.array(jobProvider),
    providers_left_out: count.optional().meta({ description: 'number of providers after the 100 with the most rows' }),
    rate: z.number().min(0).meta({ description: 'rows per minute, over the last five minutes' }),
    eta_ms: count.nullable().meta({ description: 'estimated time left; null if unknown' }),
    eta_reason: z.string().optional().meta({ description: 'what the estimate depends on' }),
    columns: z
      .array(z.string())
      .optional()
      .meta({ description: 'names of the columns of the list; not in lists of jobs and in events' }),
    column: z.string().optional().meta({ description: 'name or number of the column that is read' }),
    notes: z
      .array(z.string())
      .optional()
      .meta({ description: 'what was taken away to read the list, with the number of rows; not in lists of jobs' }),
    failure: z.string().optional(),
    first_result_at: time.nullable(),
    finished_at: time.nullable(),
    callback: z.strictObject({ id: z.string(), secret: z.string().optional() }).optional().meta({
      description:
        'webhook that is notified when the job ends; the secret only if this request created the webhook, shown once',
    }),
  })
  .meta({ id: 'Job' })
export type JobAnswer = AnswerOf<typeof jobAnswer>

export const jobListAnswer = listOf(jobAnswer)
export type JobListAnswer = AnswerOf<typeof jobListAnswer>

/** A row with its result: its line, its own columns, then the fields of its kind of job. */
const jobRow = z
  .strictObject({
    line: z.int().min(1),
    part: z.int().min(1).optional().meta({ description: 'the number of the value among several of its line, from 1' }),
    columns: z.record(z.string(), z.unknown()).optional().meta({ description: 'own columns of the row by name' }),
    input: z.string(),
    result: z.string(),
    reason: z.string(),
    answer: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'JobRow' })
export type JobRow = AnswerOf<typeof jobRow>
export const jobResultsAnswer = listOf(jobRow).extend({
  complete: z.boolean().meta({ description: 'whether all rows have their result, or the job was canceled or failed' }),
})
export type JobResultsAnswer = AnswerOf<typeof jobResultsAnswer>

/** Why a record of a list gets no result. */
const badRowReason = z.enum([
  'record_too_long',
  'field_too_long',
  'undecodable',
  'not_json',
  'too_deep',
  'too_many_fields',
  'column_count',
  'no_input',
  'header_again',
  'no_text',
  'no_address',
])
export type BadRowReason = z.output<typeof badRowReason>
const jobBadRow = z.strictObject({
  line: z.int().min(1),
  reason: badRowReason,
  detail: z.string().meta({ description: 'the reason in words' }),
  text: z.string().meta({ description: 'the beginning of the record' }),
})
export const jobBadRowsAnswer = listOf(jobBadRow)
export type JobBadRowsAnswer = AnswerOf<typeof jobBadRowsAnswer>
