import { expect, it } from 'vitest'
import type { Json } from '../base/json.ts'
import type { ResultRow } from '../store/postgres/job-rows.ts'
import type { JobRecord } from '../store/postgres/jobs.ts'
import { type CsvStyle, csvOf, presentRow } from './results.ts'

const job = (layout: { readonly [key: string]: Json } | null, kind: JobRecord['kind'] = 'blacklist'): JobRecord => ({
  number: 1,
  id: 'a',
  kind,
  name: '',
  owner: '',
  state: 'done',
  options: {},
  layout,
  created_at: new Date(0),
  touched_at: new Date(0),
  expires_at: new Date(0),
  finished_at: null,
  first_result_at: null,
  received: 0,
  next_line: 1,
  rows: 0,
  done: 0,
  duplicates: 0,
  bad_rows: 0,
  failure: null,
})

const csv = (header: readonly string[] | null, delimiter = ','): { readonly [key: string]: Json } => ({
  format: 'csv',
  delimiter,
  index: 0,
  header,
})

const row = (columns: ResultRow['columns']): ResultRow => ({
  line: 2,
  input: '192.0.2.1',
  columns,
  result: 'listed',
  reason: '',
  answer: { verdict: 'listed', listed: 1, answered: 29, total: 29 },
})

it.each<[string, JobRecord, ResultRow, CsvStyle, string]>([
  [
    'own columns first, as they were, with the delimiter that came in',
    job(csv(['ip', 'note'], ';')),
    row(['192.0.2.1', '=cmd();"x"']),
    'plain',
    'ip;note;line;verdict;listed;answered;total\r\n192.0.2.1;"=cmd();""x""";2;listed;1;29;29\r\n',
  ],
  [
    'a formula is text in a spreadsheet',
    job(csv(['ip', 'note'])),
    row(['192.0.2.1', '=cmd()']),
    'spreadsheet',
    "ip,note,line,verdict,listed,answered,total\r\n192.0.2.1,'=cmd(),2,listed,1,29,29\r\n",
  ],
  [
    'one of our names that the file has is prefixed',
    job(csv(['ip', 'line', 'total'])),
    row(['192.0.2.1', '7', '8']),
    'plain',
    'ip,line,total,mailsonde_line,verdict,listed,answered,mailsonde_total\r\n192.0.2.1,7,8,2,listed,1,29,29\r\n',
  ],
  [
    'a list without a header gets none',
    job(csv(null)),
    row(['192.0.2.1', 'x']),
    'plain',
    '192.0.2.1,x,2,listed,1,29,29\r\n',
  ],
  [
    'one a line: the input is the first column',
    job({ format: 'text' }),
    row([]),
    'plain',
    'ip,line,verdict,listed,answered,total\r\n192.0.2.1,2,listed,1,29,29\r\n',
  ],
])('writes %s', (_, of, result, style, text) => {
  const lines = csvOf(of, style)
  expect(lines.header() + lines.row(result)).toBe(text)
})

it('names a row with its own columns in JSON', () => {
  expect(presentRow(row({ id: 7 }))).toMatchObject({ line: 2, columns: { id: 7 }, result: 'listed' })
  expect(presentRow(row([]))).not.toHaveProperty('columns')
})
