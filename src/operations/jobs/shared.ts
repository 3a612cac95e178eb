import type { JobAnswer } from '../../answers/jobs.ts'
import { formatDuration } from '../../base/duration.ts'
import { AppError } from '../../base/errors.ts'
import { parsed, problem } from '../../base/parsed.ts'
import type { Owner } from '../../jobs/service.ts'
import type { Progress } from '../given.ts'
import type { Call } from '../operation.ts'
import { optional, textParam, wholeParam } from '../params.ts'

/** The id of a job, in the path. */
export const idParam = textParam<string>(
  'invalid_parameter',
  (text) =>
    /^job_[\w-]{22}$/.test(text) ? parsed(text) : problem(`${JSON.stringify(text.slice(0, 60))} is no id of a job`),
  { description: 'id of the job', example: 'job_AAAAAAAAAAAAAAAAAAAAAA' },
)

export const jobExample = { id: 'job_AAAAAAAAAAAAAAAAAAAAAA' }

/** Rows or jobs of one page. */
export const limitParam = (most: number) =>
  optional({ ...wholeParam('how many of them', { min: 1, max: most }), group: 'limits' as const })

/** Where a list goes on: a line number or the number of a job, as `next_cursor` has it. */
export const cursorParam = optional({
  ...wholeParam('where to go on: the next_cursor of the page before, or the line of the last row that came', {
    min: 0,
    max: 2 ** 31 - 1,
  }),
  group: 'limits' as const,
})

/** Who a job belongs to: the key that was shown; while no key is in force, and on the command line, everybody is one. */
export const ownerOf = ({ caller }: Pick<Call, 'caller'>): Owner => ({
  id: caller?.key ?? '',
  isAdmin: caller?.isAdmin ?? true,
})

/** The page of a list: one more row than asked for was read, to tell whether there are more. */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  cursorOf: (row: T) => number,
): { readonly data: readonly T[]; readonly has_more: boolean; readonly next_cursor: string | null } {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  const has_more = rows.length > limit
  return { data, has_more, next_cursor: has_more && last !== undefined ? String(cursorOf(last)) : null }
}

/** The upload of a call. Throws AppError where there is none. */
export function uploadOf({ upload }: Pick<Call, 'upload'>): NonNullable<Call['upload']> {
  if (upload && upload.contentType !== '') return upload
  throw new AppError(
    'unsupported_media_type',
    'send the list as the body, with its Content-Type: text/csv, text/plain, application/x-ndjson or application/json',
  )
}

const ENDED: readonly JobAnswer['state'][] = ['done', 'canceled', 'failed']

/** How far a job is, in one line. */
export function progressOf(job: JobAnswer): Progress {
  const { id, state, done, rows, rate, eta_ms, eta_reason } = job
  const percent = rows === 0 ? 0 : Math.floor((done / rows) * 100)
  const left = eta_ms === null ? '' : `, ${formatDuration(Math.ceil(eta_ms / 1_000) * 1_000)} left`
  const why = eta_reason === undefined ? '' : ` (${eta_reason})`
  const line = `${state}: ${done} of ${rows} rows (${percent} %), ${rate} a minute${left}${why}`
  return { raw: { id }, line, hasEnded: ENDED.includes(state) }
}
