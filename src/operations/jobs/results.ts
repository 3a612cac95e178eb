import { setImmediate } from 'node:timers/promises'
import { blacklistVerdict } from '../../answers/blacklist.ts'
import { checkAnswer } from '../../answers/check.ts'
import { type JobRow, jobBadRowsAnswer, jobResultsAnswer } from '../../answers/jobs.ts'
import { verifyAnswer } from '../../answers/verify.ts'
import type { CsvStyle } from '../../base/csv.ts'
import { invalidAt } from '../../base/errors.ts'
import { parsed, problem } from '../../base/problem.ts'
import { valueProblem } from '../../base/value-problems.ts'
import { jobBadRowsDocument, jobResultsDocument } from '../../documents/jobs.ts'
import type { Layout } from '../../jobs/intake/intake.ts'
import { csvOf, namesOf, presentRow } from '../../jobs/results.ts'
import type { JobService, ResultPage } from '../../jobs/service.ts'
import { REASONS } from '../../mailbox/reasons.ts'
import { type Owner, ownerOf } from '../../names/owner.ts'
import type { JobRecord } from '../../store/postgres/jobs.ts'
import type { ResultText } from '../../store/result-text.ts'
import { defineOperation, ok, type TextPiece, type TextStream } from '../operation.ts'
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
      const presented = pageOf(
        first.rows,
        page.limit - 1,
        (row) => presentRow(row, names),
        ({ line }) => line,
      )
      return ok({ ...presented, complete: ENDED.includes(first.job.state) })
    }
    const wanted = { ...page, limit: limit ?? MAX_INTEGER }
    return { status: 200, stream: download(jobs, id, owner, wanted, { ...first, format, style: csv }) }
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

type Form = {
  readonly job: JobRecord
  readonly layout: Layout | undefined
  readonly format: 'ndjson' | 'csv'
  readonly style: CsvStyle
}

/** Pages that a download reads ahead, on connections of their own. */
const PAGES_AHEAD = 2

/**
 * All rows after the cursor. A page is a range of lines, so that the next ones are read while one is written. A header
 * precedes the first row of the list, but not a continued download.
 */
function download(
  jobs: JobService,
  id: string,
  owner: Owner,
  page: ResultPage,
  { job, layout, format, style }: Form,
): TextStream {
  const csv = format === 'csv' ? csvOf(job, layout, style) : undefined
  const names = namesOf(layout)
  const size = jobs.downloadPage[job.kind]
  const read = (after: number, left: number, upTo?: number): Promise<ResultText> => {
    const bounds = { after, limit: Math.min(size, left), ...(upTo !== undefined && { upTo }) }
    const some = jobs.resultText(job, { ...page, ...bounds, ...(csv ? { fields: csv.fields } : { names }) })
    some.catch(() => {}) // reported when it is awaited
    return some
  }
  const textOf = ({ octets }: ResultText): TextPiece => (csv ? csv.rowsOf(octets.toString()) : octets)
  async function* text(): AsyncIterable<TextPiece> {
    if (csv && page.after === 0) yield csv.header()
    let left = page.limit
    let at = page.after
    const ahead: Promise<ResultText>[] = []
    const isFiltered = page.result !== undefined || page.reason !== undefined
    let isOver = false
    const readAhead = (): void => {
      if (isOver) return
      // A page may have as many rows as lines: together they must not have more than are left.
      while (ahead.length < PAGES_AHEAD && at < job.next_line && left >= (ahead.length + 1) * size) {
        ahead.push(read(at, size, at + size))
        at += size
      }
    }
    readAhead()
    for (let next = ahead.shift(); next; next = ahead.shift()) {
      const some = await next
      left -= some.rows
      isOver ||= some.rows === 0 && !isFiltered // the rest has no results yet, or the job was removed
      readAhead()
      await setImmediate() // the queries are sent, so that the database works while the lines are written
      if (some.rows > 0) yield textOf(some)
    }
    while (left > 0) {
      const some = await read(at, left)
      if (some.rows === 0) {
        // a job that was removed in the meantime has no normal end here
        await jobs.results(id, { ...page, limit: 1 }, owner)
        return
      }
      left -= some.rows
      at = some.last
      yield textOf(some)
    }
  }
  const contentType = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
  return { contentType, text: text() }
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
  deadlineMs: 20_000,
  uses: ['jobs'],
  run: async (ctx, { jobs }, { id, cursor = 0, limit }) => {
    const rows = await jobs.badRows(id, cursor, limit + 1, ownerOf(ctx))
    return ok(
      pageOf(
        rows,
        limit,
        (row) => row,
        ({ line }) => line,
      ),
    )
  },
})
