import { z } from 'zod'
import { type ReportRowAnswer, reportRow, reportRowsAnswer } from '../../answers/reports.ts'
import { csvLine } from '../../base/csv.ts'
import { reportRowsDocument } from '../../documents/reports.ts'
import { presentRow } from '../../reports/present.ts'
import type { Sender } from '../../reports/senders.ts'
import type { ReportService } from '../../reports/service.ts'
import type { Period, RowPlace } from '../../store/postgres/report-sums.ts'
import { defineOperation, ok, type TextStream } from '../operation.ts'
import { choiceParam, cursorParam, limitParam, lineParam, optional, pageOf } from '../params.ts'
import { reportsError } from '../problems.ts'
import { rowExample } from './examples.ts'
import { periodOf, periodParams } from './shared.ts'

/** Rows that a download reads at a time. */
const DOWNLOAD_PAGE = 5_000
const DOWNLOAD_MS = 3_600_000
const COLUMNS = Object.keys(reportRow.shape) as (keyof ReportRowAnswer)[]

/** The summed rows, by day. */
export const reportsRows = defineOperation({
  name: 'reports rows',
  method: 'GET',
  path: '/v1/reports/rows',
  summary: 'Download the summed rows of the reports of a domain',
  scope: 'reports',
  streams: ['csv'],
  params: {
    ...periodParams,
    sender: optional(lineParam('only rows of this sender, by its id', 700)),
    header_from: optional(lineParam('only rows with this name in From', 253)),
    format: choiceParam(['json', 'csv'], 'json', { description: 'json: one page; csv: all rows, streamed' }),
    csv: choiceParam(['plain', 'spreadsheet'], 'plain', {
      description: 'spreadsheet: prefix cells that would be formulas with an apostrophe',
    }),
    limit: limitParam({ max: 5_000, fallback: 500 }),
    cursor: cursorParam(z.strictObject({ day: z.iso.date(), source: z.int() })),
  },
  answer: reportRowsAnswer,
  document: reportRowsDocument,
  example: { input: { domain: 'example.org' }, output: { data: [rowExample], has_more: false, next_cursor: null } },
  deadlineMs: DOWNLOAD_MS,
  uses: ['reports'],
  run: async (ctx, { reports }, { sender, header_from, format, csv, limit, cursor, ...input }) => {
    const period = periodOf(ctx, input)
    const service = await reports()
    const { senders, names } = await service.senders(ctx, period)
    const wanted = sender === undefined ? senders : senders.filter(({ id }) => id === sender)
    if (sender !== undefined && wanted.length === 0)
      throw reportsError('no_sender', { sender }, { parameter: 'sender' })
    const bySource = new Map(
      senders.flatMap(({ name, verdict, sources }) => {
        const shown = { name, verdict }
        return sources.map(({ number }) => [number, shown] as const)
      }),
    )
    const named = (one: Sender['sources'][number]): boolean =>
      header_from === undefined || one.name === header_from.toLowerCase()
    const isAll = sender === undefined && header_from === undefined
    const sources = isAll ? undefined : wanted.flatMap((one) => one.sources.filter(named).map(({ number }) => number))
    const asked: Asked = { service, names, period, bySource, ...(sources && { sources }) }
    if (format === 'csv') return { status: 200, stream: download(asked, csv, cursor) }
    const page = { limit: limit + 1, ...(cursor && { after: cursor }), ...(sources && { sources }) }
    const rows = await service.rows(names, period, page)
    return ok(
      pageOf(
        rows,
        limit,
        ({ day, number }) => ({ day, source: number }),
        (row) => presentRow(row, bySource.get(row.number)),
      ),
    )
  },
})

type Asked = {
  readonly service: ReportService
  readonly names: readonly number[]
  readonly period: Period
  readonly sources?: readonly number[]
  readonly bySource: ReadonlyMap<number, Pick<Sender, 'name' | 'verdict'>>
}

/** All rows as CSV (RFC 4180), page by page. */
function download(
  { service, names, period, sources, bySource }: Asked,
  style: 'plain' | 'spreadsheet',
  cursor?: RowPlace,
): TextStream {
  const line = csvLine(',', style)
  async function* text(): AsyncIterable<string> {
    if (cursor === undefined) yield line(COLUMNS)
    let after = cursor
    for (;;) {
      const rows = await service.rows(names, period, {
        limit: DOWNLOAD_PAGE,
        ...(after && { after }),
        ...(sources && { sources }),
      })
      const shown = rows.map((row) => presentRow(row, bySource.get(row.number)))
      yield shown.map((row) => line(COLUMNS.map((column) => String(row[column] ?? '')))).join('')
      const last = rows.at(-1)
      if (rows.length < DOWNLOAD_PAGE || !last) return
      after = { day: last.day, source: last.number }
    }
  }
  return { contentType: 'text/csv; charset=utf-8', text: text() }
}
