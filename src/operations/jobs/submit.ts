import { jobAnswer } from '../../answers/jobs.ts'
import { parsed, problem } from '../../base/problem.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { jobDocument } from '../../documents/jobs.ts'
import { ownerOf } from '../../names/owner.ts'
import example from '../examples/job.json' with { type: 'json' }
import { readReceiver } from '../monitors/shared.ts'
import { defineOperation } from '../operation.ts'
import {
  choiceParam,
  durationParam,
  flagParam,
  lineParam,
  maxAgeParam,
  optional,
  selectorsParam,
  textParam,
} from '../params.ts'
import { jobInputError, jobParamProblem } from '../problems.ts'
import { idParam, jobExample, progressOf, uploadOf } from './show.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const EXPIRES_MS = 30 * DAY_MS
/** An upload of any size may take this long. */
const UPLOAD_MS = 6 * HOUR_MS

const columnParam = optional(
  textParam<string>(
    'invalid_parameter',
    (text) => (text.length <= 200 && text !== '' ? parsed(text) : problem(jobParamProblem('column'))),
    { description: 'name or number of the column to read; default the one that fits the kind', example: 'email' },
  ),
)

/** A list of any size, read as a stream and processed in the background. */
export const jobSubmit = defineOperation({
  name: 'jobs submit',
  method: 'POST',
  path: '/v1/jobs',
  summary: 'Submit a list of mailboxes, domains or IP addresses',
  scope: 'jobs',
  uploads: 'list',
  idempotent: true,
  params: {
    kind: choiceParam(['verify', 'check', 'blacklist'], 'verify', {
      description: 'what to do with each row',
      group: 'question',
    }),
    name: optional(lineParam('display name of the job', 200)),
    column: columnParam,
    pool: flagParam('use the pool of source addresses', 'source'),
    max_age: maxAgeParam,
    selector: { ...selectorsParam, description: 'DKIM selectors to query first: a,b; kind check' },
    give_up_after: optional(
      durationParam(
        { minMs: 60_000, maxMs: 7 * DAY_MS },
        {
          description: 'stop retrying rows after this time',
          group: 'question',
          fallback: '24h',
          example: '24h',
        },
      ),
    ),
    expires_in: optional(
      durationParam(
        { minMs: HOUR_MS, maxMs: 730 * DAY_MS },
        { description: 'lifetime of the job and its results', group: 'question', fallback: '30d', example: '30d' },
      ),
    ),
    callback: optional(
      textParam<string>(
        'invalid_parameter',
        (text) => (text.length <= 2_000 ? parsed(text) : problem(valueProblem('too_long', { max: 2_000 }))),
        {
          description: 'webhook URL to notify when the job ends (job.finished)',
          group: 'notify',
          example: 'https://hooks.example.org/mail',
        },
      ),
    ),
  },
  answer: jobAnswer,
  document: jobDocument,
  statuses: { 202: 'the list is accepted; the job continues in the background' },
  example: { input: { kind: 'verify' }, output: example },
  deadlineMs: UPLOAD_MS,
  uses: ['jobs', 'webhooks', 'mayCall'],
  followedBy: 'jobs show',
  progress: progressOf,
  run: async (ctx, deps, input) => {
    const { jobs, webhooks } = deps
    const url = input.callback === undefined ? undefined : await readReceiver(ctx, deps, input.callback, 'callback')
    const list = uploadOf(ctx)
    const { kind, name = '', column, pool, max_age, selector, give_up_after, expires_in } = input
    if (selector && kind !== 'check') throw jobInputError('selector', { kind }, { parameter: 'selector' })
    const options = {
      ...(pool && { pool }),
      ...(max_age !== undefined && { max_age_ms: max_age }),
      ...(selector && { selector: selector.join() }),
      ...(give_up_after !== undefined && { give_up_after_ms: give_up_after }),
    }
    const upload = { ...list, signal: ctx.signal, ...(column !== undefined && { column }) }
    const about = { kind, name, options, expiresInMs: expires_in ?? EXPIRES_MS }
    const named = ctx.seed === undefined ? about : { ...about, seed: ctx.seed }
    const job = await jobs.submit(named, upload, ownerOf(ctx))
    if (url === undefined) return { status: 202, answer: job }
    const { id, secret } = await (await webhooks()).callback(job.id, url, ownerOf(ctx))
    return { status: 202, answer: { ...job, callback: { id, ...(secret !== undefined && { secret }) } } }
  },
})

/** The rest of an interrupted upload. */
export const jobUpload = defineOperation({
  name: 'jobs upload',
  method: 'PUT',
  path: '/v1/jobs/{id}/rows',
  summary: 'Continue an interrupted upload',
  scope: 'jobs',
  uploads: 'list',
  params: {
    id: idParam,
    from: textParam<number>(
      'invalid_parameter',
      (text) => (/^\d{1,12}$/.test(text) ? parsed(Number(text)) : problem(jobParamProblem('records', { text }))),
      { kind: 'whole', description: 'number of records already received: `received` of the job', example: '1000' },
    ),
  },
  answer: jobAnswer,
  document: jobDocument,
  statuses: { 202: 'the list is accepted; the job continues in the background' },
  example: { input: { ...jobExample, from: '1000' }, output: example },
  deadlineMs: UPLOAD_MS,
  uses: ['jobs'],
  followedBy: 'jobs show',
  progress: progressOf,
  run: async (ctx, { jobs }, { id, from }) => {
    const upload = { ...uploadOf(ctx), signal: ctx.signal }
    return { status: 202, answer: await jobs.resumeUpload(id, from, upload, ownerOf(ctx)) }
  },
})
