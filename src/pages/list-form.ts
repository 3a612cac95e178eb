import { only } from '../base/at-most.ts'
import { KINDS as WORDS } from '../documents/jobs.ts'
import { type Layout, readList } from '../jobs/intake/intake.ts'
import { type Noted, notedOf } from '../jobs/intake/row.ts'
import { notesOf } from '../jobs/progress.ts'
import { parseIp } from '../names/ip.ts'
import { type Html, html, verbatim } from './html.ts'
import { csrfField } from './layout.ts'
import type { Visit } from './page.ts'
import { beside, type FieldProblem, invalid } from './parts.ts'
import { pageError } from './problems.ts'

/** Maximum size of a list that is pasted or sent without scripts, bytes; a file sent by a script may have any size. */
export const MAX_PASTED = 1_048_576

/** The question about each row of a list; `auto` chooses by the content of the list. */
export const kindSelect = (chosen: string, withAuto = false): Html =>
  html`<select name="kind">${withAuto && html`<option value="auto">Detect from the list</option>`}${KINDS.map((kind) => html`<option value="${kind}"${kind === chosen && html` selected`}>${WORDS[kind]}</option>`)}</select>`

/**
 * A list as a file, dropped or chosen, or pasted; `rows` are already pasted. With scripts the file is sent unchanged,
 * of any size; without, a file or a text of up to 1 MiB.
 */
export const listForm = (
  visit: Pick<Visit, 'token'>,
  rows?: readonly string[],
  problem?: FieldProblem,
): Html => html`<section class="drop" id="drop" data-token="${visit.token}">
<form class="stack" method="post" action="/jobs/upload?_csrf=${visit.token}" enctype="multipart/form-data" id="upload">
<label>List (CSV, text, NDJSON or JSON) <input type="file" name="file" required${invalid('file', problem)}>${beside('file', problem)}</label>
<label>What to do ${kindSelect('auto', true)}</label>
<button>Preview</button>
</form>
<p class="quiet" id="upload-hint" role="status">A file of up to 1 MiB. You see a preview before anything is processed.</p>
<details class="try"${rows !== undefined && html` open`}><summary>Paste a list</summary>
<form class="stack" method="post" action="/jobs/preview">${csrfField(visit)}
<label class="wide">One row per line, or CSV <textarea name="text" rows="8" required maxlength="${MAX_PASTED}" spellcheck="false"${invalid('text', problem)}>${verbatim(rows?.join('\n') ?? '')}</textarea>${beside('text', problem)}</label>
<label>What to do ${kindSelect('auto', true)}</label>
<button>Preview</button></form></details>
<div id="preview-place" aria-live="polite"></div>
</section>`

const KINDS = ['verify', 'check', 'blacklist'] as const
export type Kind = (typeof KINDS)[number]

/** The beginning of a list as a job would read it. */
type ListPreview = {
  readonly kind: Kind
  readonly format: Layout['format']
  readonly words: string
  /** Names of its columns; numbers where it has no header. */
  readonly columns: readonly string[]
  /** The queried column, from 0. */
  readonly index: number
  readonly rows: readonly (readonly string[])[]
  readonly bad: readonly { readonly line: number; readonly detail: string }[]
  /** What was taken away in the rows that were read. */
  readonly notes: readonly string[]
}

/** Bounds of a list that is read for its preview. */
export const BOUNDS = { maxUpload: 4_194_304 } as const
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
  const guess = formatOf(text)
  let layout: Layout | undefined
  const rows: (readonly string[])[] = []
  const bad: { line: number; detail: string }[] = []
  let count = 0
  const taken: Partial<Record<Noted, number>> = {}
  const list = readList(only(Buffer.from(text)), {
    kind,
    contentType: TYPES[guess],
    bounds: BOUNDS,
    firstLine: 1,
    ...(column !== undefined && guess === 'csv' && { column }),
    found: (one) => (layout = one),
  })
  for await (const row of list) {
    count++
    if (row.ok) for (const one of notedOf(row)) taken[one] = (taken[one] ?? 0) + 1
    if (row.ok && (row.part ?? 1) === 1 && rows.length < SHOWN) rows.push(cellsOf(row))
    if (!row.ok && bad.length < SHOWN) bad.push({ line: row.line, detail: row.detail })
    if (count === READ) break
  }
  if (count === 0) throw pageError('empty_list')
  const header = layout && 'header' in layout ? layout.header : null
  const width = Math.min(MAX_COLUMNS, Math.max(1, ...rows.map((row) => row.length), header?.length ?? 0))
  const columns = Array.from({ length: width }, (_, i) => header?.[i] ?? `Column ${i + 1}`)
  const index = layout && 'index' in layout ? layout.index : 0
  const notes = notesOf({ ...layout?.taken, ...taken })
  const format = layout?.format ?? guess
  return {
    kind,
    format,
    columns,
    index,
    rows,
    bad,
    notes,
    words: wordsOf(format, header !== null && header !== undefined),
  }
}

/** The content of the rows of a list: mail addresses, otherwise IP addresses, otherwise domains. */
function kindOf(text: string): Kind {
  const start = text.slice(0, 4_096)
  if (start.includes('@')) return 'verify'
  return start.split(/[\s,;|"]+/).some((word) => parseIp(word).ok) ? 'blacklist' : 'check'
}

/** The content types by which a list is sent as it was previewed. */
export const TYPES: Readonly<Record<Layout['format'], string>> = {
  csv: 'text/csv',
  text: 'text/plain',
  sql: 'text/plain',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  entries: 'text/vcard',
}

function wordsOf(format: Layout['format'], hasHeader: boolean): string {
  if (format === 'csv') return hasHeader ? 'CSV with a header.' : 'CSV without a header.'
  return {
    text: 'Text with one row per line.',
    sql: 'A dump of a database: its lines with an address.',
    ndjson: 'NDJSON: one value per line.',
    json: 'JSON items.',
    entries: 'LDIF or vCard: one row per address.',
  }[format]
}

/** What a text is sent as: the reader sees what else it is. One column without a header has one row per line. */
function formatOf(text: string): 'csv' | 'text' {
  const start = text.trimStart().slice(0, 4_096)
  const [first = ''] = start.split(/[\r\n]/, 1)
  return /[,;\t|]/.test(start) || !/[@.:]/.test(first) ? 'csv' : 'text'
}

const cellsOf = (row: { readonly input: string; readonly columns?: unknown }): readonly string[] =>
  Array.isArray(row.columns) && row.columns.length > 0 ? row.columns.slice(0, MAX_COLUMNS).map(String) : [row.input]
