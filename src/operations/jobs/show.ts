import { z } from 'zod'
import { type JobAnswer, jobAnswer, jobListAnswer } from '../../answers/jobs.ts'
import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { formatDuration } from '../../base/time.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { jobDocument, jobListDocument } from '../../documents/jobs.ts'
import { PARTS, placeOf } from '../../jobs/intake/row.ts'
import type { JobAction } from '../../jobs/service.ts'
import { ownerOf } from '../../names/owner.ts'
import { formatParam } from '../documents.ts'
import example from '../examples/job.json' with { type: 'json' }
import { type Call, defineOperation, ok, type Progress } from '../operation.ts'
import { choiceParam, cursorParam, formatCursor, limitParam, optional, readCursor, textParam } from '../params.ts'
import { jobInputError } from '../problems.ts'

/** The id of a job, in the path. */
export const idParam = textParam<string>(
  'not_found', // like one that is not there
  (text) => (/^job_[\w-]{22}$/.test(text) ? parsed(text) : problem(valueProblem('id', { text, kind: 'job' }))),
  { description: 'id of the job', example: 'job_AAAAAAAAAAAAAAAAAAAAAA' },
)

export const jobExample = { id: 'job_AAAAAAAAAAAAAAAAAAAAAA' }

/** The largest `integer` of PostgreSQL: no list has more lines, and no job a larger number. */
export const MAX_INTEGER = 2 ** 31 - 1
const place = z.int().min(0).max(MAX_INTEGER)
const rowPlace = z
  .number()
  .min(0)
  .max(MAX_INTEGER + 1)

/**
 * Where rows continue: after a line (all parts of it), or after a part of it, `<line>.<part>`; callers may name them
 * themselves after an interrupted download.
 */
export const lineCursorParam = optional(
  textParam<number>('invalid_parameter', parsePlace, {
    description: 'next_cursor of the previous page, or the line (and part: 7.2) of the last row received',
    group: 'answer',
    example: '1000',
  }),
)
function parsePlace(text: string): Parsed<number> {
  const [, line, part] = /^(\d{1,10})(?:\.(\d{1,5}))?$/.exec(text) ?? []
  if (line === undefined) return readCursor(rowPlace, text)
  if (Number(line) > MAX_INTEGER || Number(part ?? 0) >= PARTS)
    return problem(valueProblem('whole', { text, min: 0, max: MAX_INTEGER }))
  return parsed(line === '0' ? 0 : placeOf(Number(line), part === undefined ? PARTS - 1 : Number(part)))
}

/** Where a list of jobs continues: after the job of this number. */
const jobCursorParam = cursorParam(place)

/** What all operations about one job have in common. */
const ofJob = {
  scope: 'jobs',
  params: { id: idParam },
  answer: jobAnswer,
  document: jobDocument,
  example: { input: jobExample, output: example },
  uses: ['jobs'],
} as const

export const jobShow = defineOperation({
  ...ofJob,
  name: 'jobs show',
  method: 'GET',
  path: '/v1/jobs/{id}',
  summary: 'Show the progress of a job',
  followedBy: 'jobs show',
  progress: progressOf,
  run: async (ctx, { jobs }, { id }) => ok(await jobs.show(id, ownerOf(ctx))),
})

export const jobList = defineOperation({
  name: 'jobs list',
  method: 'GET',
  path: '/v1/jobs',
  summary: 'List your jobs, newest first (all with scope admin)',
  scope: 'jobs',
  params: { limit: limitParam({ max: 200, fallback: 50 }), cursor: jobCursorParam, format: formatParam },
  answer: jobListAnswer,
  document: jobListDocument,
  example: { input: {}, output: { data: [example], has_more: false, next_cursor: null } },
  uses: ['jobs'],
  run: async (ctx, { jobs }, { limit, cursor }) => {
    const page = { limit, ...(cursor !== undefined && { before: cursor }) }
    const { jobs: data, next } = await jobs.list(page, ownerOf(ctx))
    return ok({ data, has_more: next !== undefined, next_cursor: next === undefined ? null : formatCursor(next) })
  },
})

const actionOf = <const Action extends JobAction>(action: Action, summary: string) =>
  defineOperation({
    ...ofJob,
    name: `jobs ${action}`,
    method: 'POST',
    path: `/v1/jobs/{id}/${action}` as const,
    summary,
    run: async (ctx, { jobs }, { id }) => ok(await jobs.change(id, action, ownerOf(ctx))),
  })

export const jobPause = actionOf('pause', 'Pause a job')
export const jobResume = actionOf('resume', 'Resume a paused job')
export const jobCancel = actionOf('cancel', 'Cancel a job; its results so far stay')

export const jobDelete = defineOperation({
  ...ofJob,
  name: 'jobs delete',
  method: 'DELETE',
  path: '/v1/jobs/{id}',
  summary: 'Delete a job with its rows and results',
  run: async (ctx, { jobs }, { id }) => {
    const owner = ownerOf(ctx)
    const job = await jobs.show(id, owner)
    await jobs.remove(id, owner)
    return ok(job)
  },
})

/** Progress can be followed for as long as a job runs. */
const WATCH_MS = 24 * 3_600_000

export const jobEvents = defineOperation({
  name: 'jobs events',
  method: 'GET',
  path: '/v1/jobs/{id}/events',
  summary: 'Stream the progress of a job as server-sent events',
  scope: 'jobs',
  streams: ['events'],
  params: {
    id: idParam,
    format: choiceParam(['events', 'json'], 'events', { description: 'event stream, or the current state of the job' }),
  },
  answer: jobAnswer,
  document: jobDocument,
  example: { input: { ...jobExample, format: 'json' }, output: example },
  deadlineMs: WATCH_MS,
  uses: ['jobs'],
  run: async (ctx, { jobs }, { id, format }) => {
    const owner = ownerOf(ctx)
    const now = await jobs.show(id, owner) // a job that does not exist is a problem, and not a stream
    if (format === 'json') return ok(now)
    const text = eventsOf(jobs.watch(id, owner, ctx.signal))
    return { status: 200, stream: { contentType: 'text/event-stream; charset=utf-8', text } }
  },
})

/** `state` first and whenever the state changes, `progress` between. */
async function* eventsOf(changes: AsyncIterable<JobAnswer>): AsyncIterable<string> {
  let state: string | undefined
  for await (const job of changes) {
    yield `event: ${job.state === state ? 'progress' : 'state'}\ndata: ${JSON.stringify(job)}\n\n`
    state = job.state
  }
}

/** The upload of a call. Throws AppError if there is none. */
export function uploadOf({ upload }: Pick<Call, 'upload'>): NonNullable<Call['upload']> {
  if (upload && upload.contentType !== '') return upload
  throw jobInputError('no_list')
}

/** The states from which a job does not go on. */
export const ENDED: readonly JobAnswer['state'][] = ['done', 'canceled', 'failed']

/** The progress of a job, in one line. */
export function progressOf(job: JobAnswer): Progress {
  const { id, state, done, rows, rate, eta_ms, eta_reason } = job
  const percent = rows === 0 ? 0 : Math.floor((done / rows) * 100)
  const left = eta_ms === null ? '' : `, ${formatDuration(Math.ceil(eta_ms / 1_000) * 1_000)} left`
  const why = eta_reason === undefined ? '' : ` (${eta_reason})`
  const line = `${state}: ${done} of ${rows} rows (${percent} %), ${rate} per minute${left}${why}`
  return { raw: { id }, line, hasEnded: ENDED.includes(state) }
}
