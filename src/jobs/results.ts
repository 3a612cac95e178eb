import type { JobRow } from '../answers/jobs.ts'
import { type CsvStyle, csvLine } from '../base/csv.ts'
import type { Json } from '../base/json.ts'
import type { ResultRow } from '../store/postgres/job-rows.ts'
import type { JobRecord } from '../store/postgres/jobs.ts'
import type { JobKind, RowColumns } from '../store/postgres/schema.ts'
import type { Layout } from './intake/intake.ts'
import { FIELD } from './intake/lines.ts'
import { columnNames, lineAndPart } from './intake/row.ts'

/**
 * The names of a row's own columns: those of the header, or null for their numbers. Undefined where a row has them
 * itself.
 */
export function namesOf(layout: Layout | undefined): readonly string[] | null | undefined {
  return layout?.format === 'csv' ? layout.header && columnNames(layout.header) : undefined
}

/** A row in NDJSON and JSON, of a list with these {@link namesOf}. */
export const presentRow = (row: ResultRow, names: readonly string[] | null | undefined): JobRow => ({
  ...lineAndPart(row.line),
  ...(row.columns !== null && !isEmpty(row.columns) && { columns: byName(row.columns, names ?? null) }),
  input: row.input,
  result: row.result ?? '',
  reason: row.reason ?? '',
  answer: row.answer ?? {},
})

const byName = (columns: RowColumns, names: readonly string[] | null): { readonly [name: string]: Json } =>
  isList(columns) ? Object.fromEntries(columns.map((cell, i) => [names?.[i] ?? String(i + 1), cell])) : columns
const isList = (columns: RowColumns): columns is readonly string[] => Array.isArray(columns)
const isEmpty = (columns: object): boolean => Object.keys(columns).length === 0

/** The fields of an answer in a CSV of results, by kind of job and in order. */
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

/** The CSV of a job's results: first the list's own columns, unchanged, then the result columns. */
export function csvOf({ kind }: Pick<JobRecord, 'kind'>, layout: Layout | undefined, style: CsvStyle) {
  const csv = layout?.format === 'csv' ? layout : undefined
  const line = csvLine(csv?.delimiter ?? ',', style)
  // Without a header the list's columns have no names.
  const head = csv ? csv.header : [FIELD[kind]]
  // A cell with several values does not tell which of them the row is about.
  const hasParts = (layout?.taken?.several ?? 0) > 0
  const places = hasParts ? ['line', 'part', 'input'] : ['line']
  const named = (name: string): string => (head?.includes(name) ? `mailsonde_${name}` : name)
  return {
    header: () => (head ? line([...head, ...places.map(named), ...FIELDS[kind].map(named)]) : ''),
    row: (row: ResultRow): string => {
      const { columns, input } = row
      const { line: at, part = '' } = lineAndPart(row.line)
      const first = csv && Array.isArray(columns) ? columns.map(String) : [input]
      return line([
        ...first,
        String(at),
        ...(hasParts ? [String(part), input] : []),
        ...FIELDS[kind].map((field) => cellOf(row, field)),
      ])
    },
  }
}

/** Jobs count by the word of the result, whatever the answer calls it. */
function cellOf({ result, reason, answer }: ResultRow, field: string): string {
  if (field === 'reason') return reason ?? ''
  return WORDS.includes(field) ? (result ?? '') : text(answer?.[field])
}
const WORDS: readonly string[] = ['result', 'status', 'verdict']

const text = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
