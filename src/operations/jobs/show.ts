import { type JobAnswer, jobAnswer, jobListAnswer } from '../../answers/jobs.ts'
import { jobDocument, jobListDocument } from '../../documents/jobs.ts'
import type { JobAction } from '../../jobs/service.ts'
import { ownerOf } from '../../names/owner.ts'
import { formatParam } from '../documents.ts'
import example from '../examples/job.json' with { type: 'json' }
import { defineOperation, ok } from '../operation.ts'
import { formatCursor, limitParam } from '../page.ts'
import { choiceParam } from '../params.ts'
import { idParam, jobCursorParam, jobExample, progressOf } from './shared.ts'

const DEADLINE_MS = 20_000
const answerExample = example as JobAnswer

export const jobShow = defineOperation({
  name: 'jobs show',
  method: 'GET',
  path: '/v1/jobs/{id}',
  summary: 'Show the progress of a job',
  scope: 'jobs',
  params: { id: idParam },
  answer: jobAnswer,
  document: jobDocument,
  example: { input: jobExample, output: answerExample },
  deadlineMs: DEADLINE_MS,
  uses: ['jobs'],
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
  example: { input: {}, output: { data: [answerExample], has_more: false, next_cursor: null } },
  deadlineMs: DEADLINE_MS,
  uses: ['jobs'],
  run: async (ctx, { jobs }, { limit, cursor }) => {
    const page = { limit, ...(cursor !== undefined && { before: cursor }) }
    const { jobs: data, next } = await jobs.list(page, ownerOf(ctx))
    return ok({ data, has_more: next !== undefined, next_cursor: next === undefined ? null : formatCursor(next) })
  },
})

const actionOf = <const Action extends JobAction>(action: Action, summary: string) =>
  defineOperation({
    name: `jobs ${action}`,
    method: 'POST',
    path: `/v1/jobs/{id}/${action}` as const,
    summary,
    scope: 'jobs',
    params: { id: idParam },
    answer: jobAnswer,
    document: jobDocument,
    example: { input: jobExample, output: answerExample },
    deadlineMs: DEADLINE_MS,
    uses: ['jobs'],
    run: async (ctx, { jobs }, { id }) => ok(await jobs.change(id, action, ownerOf(ctx))),
  })

export const jobPause = actionOf('pause', 'Pause a job')
export const jobResume = actionOf('resume', 'Resume a paused job')
export const jobCancel = actionOf('cancel', 'Cancel a job; its results so far stay')

export const jobDelete = defineOperation({
  name: 'jobs delete',
  method: 'DELETE',
  path: '/v1/jobs/{id}',
  summary: 'Delete a job with its rows and results',
  scope: 'jobs',
  params: { id: idParam },
  answer: jobAnswer,
  document: jobDocument,
  example: { input: jobExample, output: answerExample },
  deadlineMs: DEADLINE_MS,
  uses: ['jobs'],
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
  example: { input: { ...jobExample, format: 'json' }, output: answerExample },
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
