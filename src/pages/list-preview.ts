import { type Layout, readList } from '../jobs/intake/intake.ts'
import { parseIp } from '../names/ip.ts'
import { pageError } from './problems.ts'

export const KINDS = ['verify', 'check', 'blacklist'] as const
export type Kind = (typeof KINDS)[number]

/** The beginning of a list as a job would read it. */
export type ListPreview = {
  readonly kind: Kind
  readonly format: 'csv' | 'lines' | 'ndjson' | 'json'
  readonly words: string
  /** Names of its columns; numbers where it has no header. */
  readonly columns: readonly string[]
  /** The queried column, from 0. */
  readonly index: number
  readonly rows: readonly (readonly string[])[]
  readonly bad: readonly { readonly line: number; readonly detail: string }[]
}

/** Maximum number of rows that are shown. */
const SHOWN = 5
/** Maximum number of columns of a row that are shown. */
const MAX_COLUMNS = 20
const READ = 200

/**
 * Reads the beginning of a list with the same code as the intake of jobs; the kind `auto` follows from its content.
 * Throws the same AppError: `bad_list`, `empty_list` …
 */
export async function previewOf(text: string, kindText: string, column: string | undefined): Promise<ListPreview> {
  const kind = kindText === 'auto' ? kindOf(text) : KINDS.find((one) => one === kindText)
  if (!kind) throw pageError('list_kind', { known: KINDS }, { parameter: 'kind' })
  const format = formatOf(text)
  let layout: Layout | undefined
  const rows: (readonly string[])[] = []
  const bad: { line: number; detail: string }[] = []
  let count = 0
  const list = readList(once(Buffer.from(text)), {
    kind,
    contentType: TYPES[format],
    bounds: { maxUpload: 4_194_304 },
    firstLine: 1,
    ...(column !== undefined && format === 'csv' && { column }),
    found: (one) => (layout = one),
  })
  for await (const row of list) {
    count++
    if (row.ok && rows.length < SHOWN) rows.push(cellsOf(row))
    if (!row.ok && bad.length < SHOWN) bad.push({ line: row.line, detail: row.detail })
    if (count === READ) break
  }
  if (count === 0) throw pageError('empty_list')
  const header = layout && 'header' in layout ? layout.header : null
  const width = Math.min(MAX_COLUMNS, Math.max(1, ...rows.map((row) => row.length), header?.length ?? 0))
  const columns = Array.from({ length: width }, (_, i) => header?.[i] ?? `Column ${i + 1}`)
  const index = layout && 'index' in layout ? layout.index : 0
  return { kind, format, columns, index, rows, bad, words: wordsOf(format, header !== null && header !== undefined) }
}

/** The content of the rows of a list: mail addresses, otherwise IP addresses, otherwise domains. */
function kindOf(text: string): Kind {
  const start = text.slice(0, 4_096)
  if (start.includes('@')) return 'verify'
  return start.split(/[\s,;|"]+/).some((word) => parseIp(word).ok) ? 'blacklist' : 'check'
}

const TYPES = {
  csv: 'text/csv',
  lines: 'text/plain',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
} as const

const wordsOf = (format: ListPreview['format'], hasHeader: boolean): string => {
  if (format === 'csv') return hasHeader ? 'CSV with a header.' : 'CSV without a header.'
  return { lines: 'Text with one row per line.', ndjson: 'NDJSON: one value per line.', json: 'JSON items.' }[format]
}

/** The format of a text, by its beginning. A text of one column without a header has one row per line. */
function formatOf(text: string): ListPreview['format'] {
  const start = text.trimStart().slice(0, 4_096)
  const [first = ''] = start.split(/[\r\n]/, 1)
  if (/^\{\s*"items"\s*:/.test(start)) return 'json'
  if (isJson(first.trim())) return 'ndjson'
  return /[,;\t|]/.test(start) || !/[@.:]/.test(first) ? 'csv' : 'lines'
}

function isJson(line: string): boolean {
  if (!/^[{"]/.test(line)) return false
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

const cellsOf = (row: { readonly input: string; readonly columns?: unknown }): readonly string[] =>
  Array.isArray(row.columns) ? row.columns.slice(0, MAX_COLUMNS).map(String) : [row.input]

async function* once(octets: Uint8Array): AsyncIterable<Uint8Array> {
  yield octets
}
