import { z } from 'zod'
import type { JobAnswer } from '../../answers/jobs.ts'
import { formatDuration } from '../../base/duration.ts'
import { type Parsed, parsed, problem } from '../../base/parsed.ts'
import { valueProblem } from '../../base/value-problems.ts'
import type { Progress } from '../given.ts'
import type { Call } from '../operation.ts'
import { cursorParam, readCursor } from '../page.ts'
import { optional, textParam } from '../params.ts'
import { jobInputError } from './problems.ts'

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

/** Where rows continue: after a line, which callers may name themselves after an interrupted download. */
export const lineCursorParam = optional(
  textParam<number>('invalid_parameter', (text) => (/^\d{1,10}$/.test(text) ? lineOf(text) : readCursor(place, text)), {
    description: 'next_cursor of the previous page, or the line of the last row received',
    group: 'answer',
    example: '1000',
  }),
)
function lineOf(text: string): Parsed<number> {
  const line = place.safeParse(Number(text))
  return line.success ? parsed(line.data) : problem(valueProblem('whole', { text, min: 0, max: MAX_INTEGER }))
}

/** Where a list of jobs continues: after the job of this number. */
export const jobCursorParam = cursorParam(place)

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
