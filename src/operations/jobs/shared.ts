import type { JobAnswer } from '../../answers/jobs.ts'
import { formatDuration } from '../../base/duration.ts'
import { parsed, problem } from '../../base/parsed.ts'
import { valueProblem } from '../../base/value-problems.ts'
import type { Progress } from '../given.ts'
import type { Call } from '../operation.ts'
import { optional, textParam, wholeParam } from '../params.ts'
import { jobInputError } from './problems.ts'

export { ownerOf } from '../owner.ts'

/** The id of a job, in the path. */
export const idParam = textParam<string>(
  'invalid_parameter',
  (text) => (/^job_[\w-]{22}$/.test(text) ? parsed(text) : problem(valueProblem('id', { text, kind: 'job' }))),
  { description: 'id of the job', example: 'job_AAAAAAAAAAAAAAAAAAAAAA' },
)

export const jobExample = { id: 'job_AAAAAAAAAAAAAAAAAAAAAA' }

/** Where rows continue: after a line, which callers may name after an interrupted download. */
export const lineCursorParam = optional({
  ...wholeParam('continue after this line: next_cursor, or the line of the last row received', {
    min: 0,
    max: 2 ** 31 - 1,
  }),
  group: 'answer' as const,
})

/** The upload of a call. Throws AppError if there is none. */
export function uploadOf({ upload }: Pick<Call, 'upload'>): NonNullable<Call['upload']> {
  if (upload && upload.contentType !== '') return upload
  throw jobInputError('no_list')
}

const ENDED: readonly JobAnswer['state'][] = ['done', 'canceled', 'failed']

/** The progress of a job, in one line. */
export function progressOf(job: JobAnswer): Progress {
  const { id, state, done, rows, rate, eta_ms, eta_reason } = job
  const percent = rows === 0 ? 0 : Math.floor((done / rows) * 100)
  const left = eta_ms === null ? '' : `, ${formatDuration(Math.ceil(eta_ms / 1_000) * 1_000)} left`
  const why = eta_reason === undefined ? '' : ` (${eta_reason})`
  const line = `${state}: ${done} of ${rows} rows (${percent} %), ${rate} per minute${left}${why}`
  return { raw: { id }, line, hasEnded: ENDED.includes(state) }
}
