import { errorsOf } from '../../base/errors.ts'
import { problemsOf, quoted, shown } from '../../base/problem.ts'
import { counted } from '../../base/text.ts'

const INPUTS = { verify: 'mail addresses', check: 'domains', blacklist: 'IP addresses' } as const

const OTHER_FILES = {
  zip: 'a ZIP archive or an Office file (xlsx, ods): save the sheet as CSV',
  empty_zip: 'an empty ZIP archive: save the list as CSV',
  xls: 'an old Office file (xls): save the sheet as CSV',
  pdf: 'a PDF: save the list as CSV',
  bzip2: 'a bzip2 archive: use gzip, or send the list unpacked',
  zstd: 'a zstd archive: use gzip, or send the list unpacked',
  xz: 'an xz archive: use gzip, or send the list unpacked',
} as const

/** A file that is not a list. */
export type OtherFile = keyof typeof OTHER_FILES

type Max = { max: number }
type Line = { line: number }

/** Errors of a list that is refused as a whole. */
export const listError = errorsOf('list', {
  empty: { code: 'empty_list', detail: () => 'the list has no rows: it is empty or has only a header' },
  content_type: {
    code: 'unsupported_media_type',
    detail: ({ text, known }: { text: string; known: readonly string[] }) =>
      `${quoted(text, 80)} is not a list format: send ${known.join(', ')}`,
  },
  other_file: {
    code: 'unsupported_media_type',
    detail: ({ file }: { file: OtherFile }) => `the list is ${OTHER_FILES[file]}`,
  },
  upload_too_large: {
    code: 'payload_too_large',
    detail: ({ max }: Max) => `the upload is larger than ${max} octets (--max-upload): split the list`,
  },
  unpacked_too_large: {
    code: 'payload_too_large',
    detail: ({ max }: Max) => `the unpacked list is larger than ${max} octets (--max-upload): split the list`,
  },
  gzip_ratio: {
    code: 'payload_too_large',
    detail: ({ max }: Max) => `the gzip body unpacks to more than ${max} times its size`,
  },
  gzip_damaged: {
    code: 'bad_list',
    detail: ({ reason }: { reason: string }) => `the gzip body is damaged or cut off: ${shown(reason)}`,
  },
  line_too_long: {
    code: 'bad_list',
    detail: ({ line, max }: Line & Max) => `line ${line} is longer than ${max} characters`,
  },
  record_too_long: { code: 'bad_list', detail: ({ max }: Max) => `a line is longer than ${max} characters` },
  open_quote: {
    code: 'bad_list',
    detail: ({ line }: Line) => `the quote opened in the record at line ${line} is never closed`,
  },
  columns: {
    code: 'bad_list',
    detail: ({ line, count, max }: Line & Max & { count: number }) =>
      `line ${line} has ${count} columns; at most ${max} are allowed`,
  },
  unknown_column: {
    code: 'bad_list',
    detail: ({ text, known }: { text: string; known: readonly string[] }) =>
      `the list has no column ${quoted(text)}: its columns are ${shown(known.map((name) => quoted(name, 30)).join(', '), 600)}`,
  },
  column_number: {
    code: 'bad_list',
    detail: ({ text, count }: { text: string; count: number }) =>
      `the list has no column ${quoted(text)}: it has ${counted(count, 'column')} and no header`,
  },
  no_column: {
    code: 'bad_list',
    detail: ({ kind }: { kind: keyof typeof INPUTS }) =>
      `no column of the list contains ${INPUTS[kind]}; choose one with the parameter column`,
  },
  item_too_long: {
    code: 'bad_list',
    detail: ({ line, max }: Line & Max) => `the item at line ${line} is longer than ${max} characters`,
  },
  no_items: { code: 'bad_list', detail: () => 'the body must begin with {"items": [' },
  after_items: { code: 'bad_list', detail: ({ line }: Line) => `only "}" may follow the items, on line ${line}` },
  items_end: {
    code: 'bad_list',
    detail: ({ line }: Line) => `the list of items ends unexpectedly on line ${line}`,
  },
})

type Field = { field: string }

/** What is wrong with one row of a list. */
export const rowProblem = problemsOf('row', {
  line_too_long: ({ max }: Max) => `a line is longer than ${max} octets`,
  item_too_long: ({ max }: Max) => `an item is longer than ${max} characters`,
  field_too_long: ({ max }: Max) => `a field is longer than ${max} octets`,
  encoding: () => 'not valid text in the encoding of the list',
  not_json: ({ reason }: { reason: string }) => `not JSON: ${shown(reason)}`,
  columns: ({ count, header }: { count: number; header: number }) =>
    `${counted(count, 'column')}, but the header has ${header}`,
  no_input: () => 'no address in its column',
  no_text: ({ field }: Field) => `neither a string nor an object with a string in ${shown(field, 60)}`,
  no_address: ({ field }: Field) => `no address in ${shown(field, 60)}`,
})
