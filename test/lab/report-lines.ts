import { createHash } from 'node:crypto'
import { type ReportRow, reportLine, sourceKey } from '../../src/store/postgres/report-rows.ts'

/** Rows as the lane hands them on, in batches of 500. */
export const linesOf = (rows: readonly ReportRow[]): readonly Buffer[] =>
  Array.from({ length: Math.ceil(rows.length / 500) }, (_, n) =>
    Buffer.from(
      rows
        .slice(n * 500, (n + 1) * 500)
        .map((row) => reportLine(sourceKey(row), row, row.messages))
        .join(''),
    ),
  )

export const digestOf = (rows: readonly ReportRow[]): string =>
  createHash('sha256').update(JSON.stringify(rows)).digest('hex')
