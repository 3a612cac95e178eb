import { only } from '../../base/at-most.ts'
import { listError } from '../problems.ts'
import { type CsvLayout, csvRows, formatOfText } from './csv.ts'
import { entryRows, jsonRows, ndjsonRows, textRows } from './lines.ts'
import { type Behind, listOctets, listText, type Octets, type SizeBounds } from './octets.ts'
import type { Counted, Held, IntakeRow, Kind } from './row.ts'

/** The layout of a list, detected in its first part and used for the following parts. */
export type Layout = CsvLayout | ({ readonly format: 'text' | 'ndjson' | 'json' | 'entries' | 'sql' } & Counted)

export type Intake = {
  readonly kind: Kind
  /**
   * Content-Type of the request: `text/csv`, `text/plain`, `application/x-ndjson`, `application/json`, `text/vcard` or
   * `text/ldif`, with or without parameters.
   */
  readonly contentType: string
  /** Content-Encoding of the request; gzip is recognized without it. */
  readonly contentEncoding?: string
  /** The input column, by name or number; detected by default. */
  readonly column?: string
  /** The layout of the previous part of a continued upload. */
  readonly layout?: Layout
  /** The number of the first line; 1 unless an upload is continued. */
  readonly firstLine?: number
  readonly bounds: SizeBounds
  /** Called once, before the first row. */
  readonly found?: (layout: Layout) => void
  /** Called at the end with the number of octets behind a compressed list, if there are any. */
  readonly behind?: Behind
  /** Called with the number of characters held of a record that has not ended, at most 1 MiB. */
  readonly held?: Held
}

const FORMATS: Readonly<Record<string, Layout['format']>> = {
  'text/csv': 'csv',
  'application/csv': 'csv',
  'text/tab-separated-values': 'csv',
  'text/plain': 'text',
  'application/x-ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'application/json': 'json',
  'text/vcard': 'entries',
  'text/x-vcard': 'entries',
  'text/ldif': 'entries',
  'text/x-ldif': 'entries',
}

/** The rows of an uploaded list one by one, as {@link readParts} reads them. */
export async function* readList(upload: Octets, intake: Intake): AsyncIterable<IntakeRow> {
  for await (const rows of readParts(upload, intake)) yield* rows
}

/**
 * The rows of an uploaded list, those of a piece together, read as a stream; gzip and the encoding are detected. Memory
 * does not grow with the list. Throws AppError: `unsupported_media_type`, `payload_too_large`, `bad_list` (with the
 * line) as soon as it is seen.
 */
export async function* readParts(upload: Octets, intake: Intake): AsyncIterable<readonly IntakeRow[]> {
  const { kind, firstLine = 1, found = () => {}, held = () => {} } = intake
  const declared = intake.layout?.format ?? formatOf(intake.contentType)
  const text = listText(listOctets(upload, intake.bounds, intake.contentEncoding, intake.behind))
  const isOpen = (declared === 'text' || declared === 'csv') && !intake.layout
  const { format, titles, whole } = isOpen
    ? await formatOfText(text, kind, declared)
    : { format: declared, titles: 0, whole: text }
  if (format === 'csv') {
    const layout = intake.layout?.format === 'csv' ? intake.layout : undefined
    const column = intake.column === undefined ? {} : { column: intake.column }
    yield* csvRows(whole, { kind, firstLine, ...column, ...(layout && { layout }) }, found, held)
    return
  }
  found({ format, ...(titles > 0 && { taken: { titles } }) })
  if (format === 'text' || format === 'sql') yield* textRows(whole, kind, firstLine, titles, held, format === 'sql')
  else if (format === 'entries') yield* entryRows(whole, kind, firstLine, held)
  else if (format === 'ndjson') yield* ndjsonRows(whole, kind, firstLine, held)
  else yield* jsonRows(whole, kind, firstLine, held)
}

/** The text of a small list, unpacked, in the encoding that it has. Throws AppError as {@link readParts}. */
export async function textOf(octets: Uint8Array, bounds: SizeBounds): Promise<string> {
  let text = ''
  for await (const piece of listText(listOctets(only(octets), bounds))) text += piece
  return text
}

/** The format that a content type names. Throws AppError `unsupported_media_type` for any other. */
function formatOf(contentType: string): Layout['format'] {
  const type = contentType.split(';')[0]!.trim().toLowerCase()
  const format = Object.hasOwn(FORMATS, type) ? FORMATS[type] : undefined
  if (format) return format
  throw listError('content_type', { text: contentType, known: Object.keys(FORMATS) })
}
