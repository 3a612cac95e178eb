import type { BadRowReason } from '../answers/jobs.ts'
import { errorsOf } from '../base/errors.ts'
import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'

const PARTICIPLES = { pause: 'paused', resume: 'resumed', cancel: 'canceled' } as const

type State = { state: string }

export const jobError = errorsOf('job', {
  not_found: { unknown: ({ id }: { id: string }) => `there is no job ${quoted(id, 80)}` },
  wrong_state: {
    complete: ({ state }: State) => `the job is ${shown(state, 60)}: its list is complete`,
    wrong_state: ({ state, action }: State & { action: keyof typeof PARTICIPLES }) =>
      `the job is ${shown(state, 60)}: it cannot be ${PARTICIPLES[action]}`,
  },
  wrong_offset: {
    wrong_offset: ({ received }: { received: number }) =>
      `${counted(received, 'record was', 'records were')} received: send those after ${received === 1 ? 'it' : 'them'}, with from=${received}`,
  },
})

const INPUTS = { verify: 'mail addresses', check: 'domains', blacklist: 'IP addresses' } as const

const OTHER_FILES = {
  zip: 'a ZIP archive or an Office file (xlsx, ods): save the sheet as CSV',
  empty_zip: 'an empty ZIP archive: save the list as CSV',
  xls: 'an old Office file (xls): save the sheet as CSV',
  pdf: 'a PDF: save the list as CSV',
  bzip2: 'a bzip2 archive: use gzip, or send the list unpacked',
  zstd: 'a zstd archive: use gzip, or send the list unpacked',
  xz: 'an xz archive: use gzip, or send the list unpacked',
  seven_zip: 'a 7z archive: use gzip, or send the list unpacked',
  rar: 'a RAR archive: use gzip, or send the list unpacked',
  rtf: 'a formatted text (RTF): save it as plain text',
  image: 'a picture: send the list as text',
  html: 'a web page (HTML), also where its name ends in .xls: open it in a spreadsheet program and save it as CSV',
  xml: 'an XML file, also where its name ends in .xls: open it in a spreadsheet program and save it as CSV',
} as const

export type OtherFile = keyof typeof OTHER_FILES

type Max = { max: number }
type Line = { line: number }
type Column = { column: number }

/** Errors of a list that is refused as a whole. */
export const listError = errorsOf('list', {
  empty_list: { empty: () => 'the list has no rows: it is empty or has only a header' },
  unsupported_media_type: {
    content_type: ({ text, known }: { text: string; known: readonly string[] }) =>
      `${quoted(text, 80)} is not a list format: send ${known.join(', ')}`,
    other_file: ({ file }: { file: OtherFile }) => `the list is ${OTHER_FILES[file]}`,
    content_encoding: ({ text }: { text: string }) =>
      `Content-Encoding ${quoted(text, 80)} is not accepted: send the list unpacked, or with gzip or deflate`,
  },
  payload_too_large: {
    upload_too_large: ({ max }: Max) => `the upload is larger than ${max} octets (--max-upload): split the list`,
    unpacked_too_large: ({ max }: Max) =>
      `the unpacked list is larger than ${max} octets (--max-upload): split the list`,
    too_many_rows: ({ max }: Max) => `the list has more than ${max} records (--max-rows): split it`,
    packed_ratio: ({ max }: Max) => `the compressed list unpacks to more than ${max} times its size`,
  },
  bad_list: {
    packed_damaged: ({ reason }: { reason: string }) => `the compressed list is damaged or cut off: ${shown(reason)}`,
    open_quote: ({ line }: Line) => `the quote opened in the record at line ${line} is never closed`,
    columns: ({ line, max }: Line & Max) => `line ${line} has more than ${max} columns`,
    name_too_long: ({ column, max }: Column & Max) =>
      `the name of column ${column} in the header is longer than ${max} octets`,
    header_too_long: ({ column, max }: Column & Max) =>
      `the header is longer than ${max} octets: the name of column ${column} is beyond`,
    unknown_column: ({ text, known }: { text: string; known: readonly string[] }) =>
      `the list has no column ${quoted(text)}: its columns are ${shown(known.map((name) => quoted(name, 30)).join(', '), 600)}`,
    column_number: ({ text, count }: { text: string; count: number }) =>
      `the list has no column ${quoted(text)}: it has ${counted(count, 'column')} and no header`,
    no_column: ({ kind }: { kind: keyof typeof INPUTS }) =>
      `no column of the list contains ${INPUTS[kind]}; choose one with the parameter column`,
    no_items: () => 'the body must begin with {"items": [ or with [',
    after_items: ({ line }: Line) => `only the end of the list may follow the items, on line ${line}`,
    items_end: ({ line }: Line) => `the list of items ends unexpectedly on line ${line}`,
  },
})

/** Refusals of an upload for the sake of the others. */
export const uploadLimitError = errorsOf('upload_limit', {
  too_many_uploads: {
    owner: ({ max }: Max) => `${max} uploads of this key are open: wait until one has ended`,
    all: ({ max }: Max) => `${max} uploads are open: wait until one has ended`,
  },
  overloaded: {
    memory: ({ max }: Max) =>
      `the open uploads hold more than ${Math.floor(max / 1024 / 1024)} MiB: the records so far are kept, continue later`,
  },
})

type Count = { count: number }
const inRows =
  (what: string) =>
  ({ count }: Count): string =>
    `${what} (${counted(count, 'row')})`

/** What was taken away to read a list. */
export const takenProblem = problemsOf('taken', {
  titles: ({ count }: Count) => `passed over before the header: ${counted(count, 'line')}`,
  several: ({ count }: Count) => `several values in one cell, each a row (${counted(count, 'record')})`,
  behind: ({ count }: Count) => `passed over behind the compressed list: ${counted(count, 'octet')}`,
  shortened: inRows('left out: the other columns of a record with very many values'),
  uneven: inRows('read although they have another number of cells than the header'),
  joined: inRows('read from two columns: what stands in front of the @, and the domain'),
  invisible: inRows('taken away: invisible characters around the value'),
  name: inRows('taken away: the name beside the address'),
  brackets: inRows('taken away: brackets around the value'),
  mailto: inRows('taken away: mailto:'),
  quotes: inRows('taken away: quotes around the value'),
  punctuation: inRows('taken away: stray punctuation around the value'),
  markup: inRows('taken out of a link, a formula or HTML entities'),
  label: inRows('taken away: a label in front of the value'),
  port: inRows('taken away: a port behind the address'),
  text: inRows('taken away: other text beside the address'),
  at: inRows('read as @ and dots: words such as (at) and (dot)'),
})

type Field = { field: string }

const rowSentences = problemsOf('row', {
  record_too_long: ({ max }: Max) => `longer than ${max} characters`,
  field_too_long: ({ max }: Max) => `a field is longer than ${max} characters`,
  undecodable: () => 'not valid text in the encoding of the list',
  not_json: ({ reason }: { reason: string }) => `not JSON: ${shown(reason)}`,
  too_deep: ({ max }: Max) => `nested more than ${max} levels deep`,
  too_many_fields: ({ max }: Max) => `more than ${max} fields`,
  column_count: ({ count, header }: { count: number; header: number }) =>
    `${counted(count, 'column')}, but the header has ${header}`,
  no_input: () => 'no address in its column',
  header_again: () => 'the names of the columns again',
  no_text: ({ field }: Field) => `neither a string nor an object with a string in ${shown(field, 60)}`,
  no_address: ({ field }: Field) => `no address in ${shown(field, 60)}`,
})

/** What is wrong with one row of a list; `reason` is its code in answers. */
export type RowProblem = Problem & { readonly reason: BadRowReason }
export const rowProblem: <Id extends BadRowReason>(...given: Parameters<typeof rowSentences<Id>>) => RowProblem = (
  ...given
) => ({ ...rowSentences(...given), reason: given[0] })
