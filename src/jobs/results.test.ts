import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type CsvStyle, csvLine } from '../base/csv.ts'
import type { ResultRow } from '../store/postgres/job-rows.ts'
import type { Layout } from './intake/intake.ts'
import { columnNames, placeOf } from './intake/row.ts'
import { csvOf, namesOf, presentRow } from './results.ts'

const csv = (header: readonly string[] | null, delimiter = ','): Layout => ({
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

it.each<[string, Layout, ResultRow, CsvStyle, string]>([
  [
    'own columns first, as they were, with the delimiter that came in',
    csv(['ip', 'note'], ';'),
    row(['192.0.2.1', '=cmd();"x"']),
    'plain',
    'ip;note;line;verdict;listed;answered;total\r\n192.0.2.1;"=cmd();""x""";2;listed;1;29;29\r\n',
  ],
  [
    'a row of several values of a cell has its part and its value',
    { ...csv(['name', 'ip']), taken: { several: 1 } },
    { ...row(['Joe', '192.0.2.1; 192.0.2.2']), line: placeOf(2, 2), input: '192.0.2.2' },
    'plain',
    'name,ip,line,part,input,verdict,listed,answered,total\r\nJoe,192.0.2.1; 192.0.2.2,2,2,192.0.2.2,listed,1,29,29\r\n',
  ],
  [
    'a formula is text in a spreadsheet',
    csv(['ip', 'note']),
    row(['192.0.2.1', '=cmd()']),
    'spreadsheet',
    "ip,note,line,verdict,listed,answered,total\r\n192.0.2.1,'=cmd(),2,listed,1,29,29\r\n",
  ],
  [
    'one of our names that the file has is prefixed',
    csv(['ip', 'line', 'total']),
    row(['192.0.2.1', '7', '8']),
    'plain',
    'ip,line,total,mailsonde_line,verdict,listed,answered,mailsonde_total\r\n192.0.2.1,7,8,2,listed,1,29,29\r\n',
  ],
  [
    'a list without a header gets none',
    csv(null),
    row(['192.0.2.1', 'x']),
    'plain',
    '192.0.2.1,x,2,listed,1,29,29\r\n',
  ],
  [
    'one a line: the input is the first column',
    { format: 'text' },
    row([]),
    'plain',
    'ip,line,verdict,listed,answered,total\r\n192.0.2.1,2,listed,1,29,29\r\n',
  ],
  [
    'cells with a line end of any kind, as they were',
    csv(['ip', 'note', 'more'], '|'),
    row(['192.0.2.1', 'two\nlines', 'a\rb|c']),
    'plain',
    'ip|note|more|line|verdict|listed|answered|total\r\n192.0.2.1|"two\nlines"|"a\rb|c"|2|listed|1|29|29\r\n',
  ],
  ...['=', '+', '-', '@', '\t', '\r'].map((sign): [string, Layout, ResultRow, CsvStyle, string] => [
    `a cell that begins with ${JSON.stringify(sign)} for a spreadsheet`,
    csv(['a', 'b']),
    row([`${sign}1`, 'x']),
    'spreadsheet',
    `a,b,line,verdict,listed,answered,total\r\n${sign === '\r' ? `"'${sign}1"` : `'${sign}1`},x,2,listed,1,29,29\r\n`,
  ]),
])('writes %s', (_, of, result, style, text) => {
  const lines = csvOf({ kind: 'blacklist' }, of, style)
  expect(lines.header() + lines.row(result)).toBe(text)
})

it.each<[readonly string[], readonly string[]]>([
  [
    ['email', 'name'],
    ['email', 'name'],
  ],
  [
    ['a', 'a', 'a'],
    ['a', 'a_2', 'a_3'],
  ],
  [
    ['a', 'a_2', 'a'],
    ['a', 'a_2', 'a_3'],
  ],
  [
    ['email', '', 'x', ''],
    ['email', '2', 'x', '4'],
  ],
  [
    ['3', 'b', ''],
    ['3', 'b', '3_2'],
  ],
])('the columns of the header %j are %j', (header, names) => expect(columnNames(header)).toEqual(names))

it.each<[Layout, object]>([
  [csv(['ip', 'note']), { ip: '192.0.2.1', note: 'x' }],
  [csv(null), { 1: '192.0.2.1', 2: 'x' }],
])('own columns have the names of %j', (layout, columns) => {
  expect(presentRow(row(['192.0.2.1', 'x']), namesOf(layout))).toMatchObject({ columns })
})

it('has the row with its own columns in JSON', () => {
  expect(presentRow(row({ id: 7 }), undefined)).toMatchObject({ line: 2, columns: { id: 7 }, result: 'listed' })
  expect(presentRow(row([]), null)).not.toHaveProperty('columns')
})

it.each<[string, string]>([
  ['\x1b[31mred\x07', '\ufffd[31mred\ufffd'],
  ['\x9b31m', '\ufffd31m'],
  ['a\0b\x7f', 'a\ufffdb\ufffd'],
  ['a\tb', 'a\tb'],
  ['a\nb', '"a\nb"'],
  ['\u202ea', '\u202ea'],
])('a line has no control of a terminal: %j is %j', (cell, written) =>
  expect(csvLine(',', 'plain')([cell])).toBe(`${written}\r\n`),
)

it.each(
  [',', ';', '\t', '|'].flatMap((delimiter) =>
    (['plain', 'spreadsheet'] as const).map((style) => [delimiter, style] as const),
  ),
)('writes lines with the delimiter %j, %s, as csv-stringify does', (delimiter, style) => {
  const cell = fc.string({
    unit: fc.constantFrom('a', ' ', '"', "'", ',', ';', '|', '\t', '\r', '\n', '=', '@', '+', '-', 'ü'),
  })
  const cast = { string: (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text) }
  const options = {
    delimiter,
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
    ...(style === 'spreadsheet' && { cast }),
  } as const
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1, maxLength: 5 }), (cells) => {
      expect(csvLine(delimiter, style)(cells)).toBe(stringify([cells], options))
    }),
  )
})
