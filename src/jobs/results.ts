import { type Options, stringify } from 'csv-stringify/sync'
import type { JobRow } from '../answers/jobs.ts'
import type { Json } from '../base/json.ts'
import type { ResultRow } from '../store/postgres/job-rows.ts'
import type { JobRecord } from '../store/postgres/jobs.ts'
import type { JobKind } from '../store/postgres/schema.ts'
import type { Layout } from './intake/intake.ts'
import { FIELD } from './intake/lines.ts'

/** A row as NDJSON and JSON have it. */
export const presentRow = (row: ResultRow): JobRow => ({
  line: row.line,
  ...(row.columns !== null && !isEmpty(row.columns) && { columns: row.columns }),
  input: row.input,
  result: row.result ?? '',
  reason: row.reason ?? '',
  answer: row.answer ?? {},
})

const isEmpty = (columns: object): boolean => Object.keys(columns).length === 0

/** The fields of each kind's answer that a CSV of results has, in their order. */
const FIELDS: Readonly<Record<JobKind, readonly string[]>> = {
  verify: [
    'result',
    'reason',
    'deliverability',
    'confidence',
    'code',
    'message',
    'mx_server',
    'provider',
    'catch_all',
    'disposable',
    'free',
    'is_role',
    'role',
    'suggestion',
    'observed_at',
  ],
  check: ['status', 'score', 'grade', 'complete', 'observed_at'],
  blacklist: ['verdict', 'listed', 'answered', 'total'],
}

export type CsvStyle = 'plain' | 'spreadsheet'

/** The lines of a CSV of results: the list's own columns first and as they were, then ours. */
export function csvOf(
  job: Pick<JobRecord, 'kind' | 'layout'>,
  style: CsvStyle,
): { readonly header: () => string; readonly row: (row: ResultRow) => string } {
  const layout = job.layout as Layout | null
  const csv = layout?.format === 'csv' ? layout : undefined
  const own = csv?.header ?? []
  const fields = FIELDS[job.kind]
  const input = FIELD[job.kind]
  const written = options(csv?.delimiter ?? ',', style)
  const line = (cells: readonly (string | undefined)[]): string => stringify([cells.map((cell) => cell ?? '')], written)
  // Without a header the list's columns have no names: they are numbered.
  const names = (row?: ResultRow): readonly string[] =>
    own.length > 0
      ? own
      : Array.isArray(row?.columns)
        ? row.columns.map((_, i) => `column_${i + 1}`)
        : csv
          ? []
          : [input]
  const isNamed = (name: string, taken: readonly string[]): string =>
    taken.includes(name) ? `mailsonde_${name}` : name
  const head = own.length > 0 || !csv ? names() : undefined
  return {
    header: () => (head ? line([...head, isNamed('line', head), ...fields.map((field) => isNamed(field, head))]) : ''),
    row: (row) => {
      const columns = csv && Array.isArray(row.columns) ? row.columns.map(String) : [row.input]
      return line([...columns, String(row.line), ...fields.map((field) => cellOf(row, field))])
    },
  }
}

function cellOf(row: ResultRow, field: string): string {
  if (field === 'result' || field === 'status' || field === 'verdict') return row.result ?? ''
  if (field === 'reason') return row.reason ?? ''
  return text(row.answer?.[field])
}

const text = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** RFC 4180, with the delimiter that came in. `spreadsheet`: cells that a spreadsheet would take for a formula begin with an apostrophe. */
const options = (delimiter: string, style: CsvStyle): Options => ({
  delimiter,
  record_delimiter: 'windows',
  ...(style === 'spreadsheet' && {
    cast: { string: (cell: string) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell) },
  }),
})
