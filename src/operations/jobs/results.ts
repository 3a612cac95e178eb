import { blacklistVerdict } from '../../answers/blacklist.ts'
import { checkAnswer } from '../../answers/check.ts'
import { type JobRow, jobBadRowsAnswer, jobResultsAnswer } from '../../answers/jobs.ts'
import { verifyAnswer } from '../../answers/verify.ts'
import { invalidAt } from '../../base/errors.ts'
import { parsed, problem } from '../../base/problem.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { jobBadRowsDocument, jobResultsDocument } from '../../documents/jobs.ts'
import { csvOf, namesOf, presentRow } from '../../jobs/results.ts'
import type { ResultPage } from '../../jobs/service.ts'
import { REASONS } from '../../mailbox/reasons.ts'
import { ownerOf } from '../../names/owner.ts'
import type { ResultRow } from '../../store/postgres/job-rows.ts'
import type { JobRecord } from '../../store/postgres/jobs.ts'
import { defineOperation, ok } from '../operation.ts'
import { choiceParam, limitParam, optional, pageOf, textParam, wholeParam } from '../params.ts'
import { jobParamProblem } from '../problems.ts'
import { ENDED, idParam, jobExample, lineCursorParam, MAX_INTEGER } from './show.ts'

/** Rows of one page of JSON: some hundred kB. */
const PAGE = 200
const DOWNLOAD_MS = 6 * 3_600_000

/** The possible results of a row; a row that cannot be queried is invalid. */
const RESULTS: Readonly<Record<JobRecord['kind'], readonly string[]>> = {
  verify: verifyAnswer.shape.result.options,
  check: [...checkAnswer.shape.status.options, 'invalid'],
  blacklist: [...blacklistVerdict.options, 'invalid'],
}

const wordParam = (description: string, example: string) =>
  optional(
    textParam<string>(
      'invalid_parameter',
      (text) => (/^[a-z_0-9]{1,40}$/.test(text) ? parsed(text) : problem(jobParamProblem('word', { text }))),
      { description, group: 'answer', example },
    ),
  )

const rowExample: JobRow = {
  line: 2,
  columns: { name: 'Joe', email: 'joe@example.org' },
  input: 'joe@example.org',
  result: 'accepted',
  reason: 'mailbox_exists',
  answer: { email: 'joe@example.org', result: 'accepted' },
}

export const jobResults = defineOperation({
  name: 'jobs results',
  method: 'GET',
  path: '/v1/jobs/{id}/results',
  summary: 'Download the results of a job in the order of its list',
  scope: 'jobs',
  streams: ['ndjson', 'csv'],
  params: {
    id: idParam,
    format: choiceParam(['json', 'ndjson', 'csv'], 'json', {
      description: 'json: one page; csv and ndjson: all rows, streamed',
    }),
    result: wordParam('only rows with this result (verify), status (check) or verdict (blacklist)', 'accepted'),
    reason: wordParam('only rows with this reason', 'mailbox_exists'),
    csv: choiceParam(['plain', 'spreadsheet'], 'plain', {
      description: 'spreadsheet: prefix cells that would be formulas with an apostrophe',
    }),
    cursor: lineCursorParam,
    limit: optional({
      ...wholeParam('maximum number of rows; a page of JSON has at most 200', { min: 1, max: 1_000_000_000 }),
      group: 'answer' as const,
    }),
  },
  answer: jobResultsAnswer,
  document: jobResultsDocument,
  example: { input: jobExample, output: { data: [rowExample], has_more: false, next_cursor: null, complete: true } },
  deadlineMs: DOWNLOAD_MS,
  uses: ['jobs'],
  run: async (ctx, { jobs }, { id, format, csv, cursor = 0, limit, result, reason }) => {
    const owner = ownerOf(ctx)
    const page: ResultPage = {
      after: cursor,
      limit: Math.min(limit ?? PAGE, PAGE) + 1,
      ...(result !== undefined && { result }),
      ...(reason !== undefined && { reason }),
    }
    const first = await jobs.results(id, page, owner)
    refuseUnknown(first.job, result, reason)
    const names = namesOf(first.layout)
    if (format === 'json') {
      const presented = pageOf(first.rows, page.limit - 1, 'line', (row) => presentRow(row, names))
      return ok({ ...presented, complete: ENDED.includes(first.job.state) })
    }
    const lines = format === 'csv' ? csvOf(first.job, first.layout, csv) : undefined
    const lineOf = lines?.row ?? ((row: ResultRow) => `${JSON.stringify(presentRow(row, names))}\n`)
    // A header precedes the first row of the list, but not a continued download.
    const header = cursor === 0 ? (lines?.header() ?? '') : ''
    const read = (after: number, left: number): Promise<readonly ResultRow[]> =>
      jobs
        .results(id, { ...page, after, limit: Math.min(DOWNLOAD_PAGE[first.job.kind], left) }, owner)
        .then(({ rows }) => rows)
    const contentType = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
    const rows = allRows(read, cursor, limit ?? MAX_INTEGER)
    return { status: 200, stream: { contentType, text: textOf(header, rows, lineOf) } }
  },
})

/** A word that no row of the job can have is a mistake of the caller. */
function refuseUnknown({ kind }: JobRecord, result: string | undefined, reason: string | undefined): void {
  const refuse = (name: string, value: string, words: readonly string[]): never => {
    throw invalidAt('invalid_parameter', name, valueProblem('choice', { text: value, known: words }))
  }
  if (result !== undefined && !RESULTS[kind].includes(result)) refuse('result', result, RESULTS[kind])
  if (reason !== undefined && kind === 'verify' && !REASONS.some((one) => one === reason))
    refuse('reason', reason, REASONS)
}

/** Rows that a download reads at a time: some 500 kB of answers. */
const DOWNLOAD_PAGE: Readonly<Record<JobRecord['kind'], number>> = { verify: 500, blacklist: 100, check: 12 }

/** The rows after `after` by pages, at most `most`. Rejects if the job is removed in the meantime. */
async function* allRows(
  read: (after: number, left: number) => Promise<readonly ResultRow[]>,
  after: number,
  most: number,
): AsyncIterable<readonly ResultRow[]> {
  for (let [at, left] = [after, most]; left > 0; ) {
    const rows = await read(at, left)
    const last = rows.at(-1)
    if (!last) return
    yield rows
    at = last.line
    left -= rows.length
  }
}

async function* textOf(
  header: string,
  pages: AsyncIterable<readonly ResultRow[]>,
  lineOf: (row: ResultRow) => string,
): AsyncIterable<string> {
  if (header !== '') yield header
  for await (const rows of pages) yield rows.map(lineOf).join('')
}

export const jobBadRows = defineOperation({
  name: 'jobs bad-rows',
  method: 'GET',
  path: '/v1/jobs/{id}/bad-rows',
  summary: 'List the rows that could not be read, with their reasons',
  scope: 'jobs',
  params: { id: idParam, cursor: lineCursorParam, limit: limitParam({ max: 1_000, fallback: PAGE }) },
  answer: jobBadRowsAnswer,
  document: jobBadRowsDocument,
  example: {
    input: jobExample,
    output: {
      data: [{ line: 7, reason: 'no_input', detail: 'no address in its column', text: 'Joe,' }],
      has_more: false,
      next_cursor: null,
    },
  },
  uses: ['jobs'],
  run: async (ctx, { jobs }, { id, cursor = 0, limit }) => {
    const rows = await jobs.badRows(id, cursor, limit + 1, ownerOf(ctx))
    return ok(pageOf(rows, limit, 'line'))
  },
})
