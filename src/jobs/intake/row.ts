import { isIP } from 'node:net'
import type { BadRowReason } from '../../answers/jobs.ts'
import type { Json } from '../../base/json.ts'
import { parseDomain } from '../../names/domain.ts'
import { parseEmail } from '../../names/email.ts'
import { listError, type RowProblem } from '../problems.ts'

export type Kind = 'verify' | 'check' | 'blacklist'

/** Common names of input columns in exported lists, by kind and in order of preference. */
const NAMES: Readonly<Record<Kind, readonly string[]>> = {
  verify: [
    'email',
    'e-mail',
    'emailaddress',
    'mail',
    'mailaddress',
    'emails',
    'adresse',
    'correo',
    'courriel',
    'address',
    'recipient',
    'username',
    'login',
  ],
  check: ['domain', 'domainname', 'host', 'hostname', 'website', 'site', 'url'],
  blacklist: ['ip', 'ipaddress', 'address', 'addr', 'host'],
}
const PARTS: Readonly<Record<Kind, readonly string[]>> = {
  verify: ['email', 'e-mail', 'mail'],
  check: ['domain', 'hostname'],
  blacklist: ['ip'],
}

/** Whether a cell looks like an input of a kind of job. */
const looksLike = (kind: Kind, cell: string): boolean => {
  const text = cell.trim()
  if (kind === 'verify') return text.includes('@') && parseEmail(text).ok
  if (kind === 'check') return text.includes('.') && isIP(text) === 0 && parseDomain(text).ok
  return isIP(text) !== 0
}

export type Columns = {
  /** The names in the header row; null if there is none. */
  readonly header: readonly string[] | null
  /** The index of the input column. */
  readonly index: number
}

/**
 * The header and the input column, from the first records. A row is a header if none of its cells looks like an input,
 * and either a cell has a name of such columns or the rows below look like inputs. The column: the caller's choice,
 * else by name, else the one whose cells most often look like inputs. Throws AppError `bad_list` if there is none.
 */
export function findColumns(kind: Kind, sample: readonly (readonly string[])[], wanted: string | undefined): Columns {
  const [first = [], ...below] = sample
  const hasInput = first.some((cell) => looksLike(kind, cell))
  const named = nameIndex(kind, first)
  const isHeader = !hasInput && (named >= 0 || below.length > 0 || wanted !== undefined)
  const header = isHeader ? first.map((cell) => cell.trim()) : null
  const rows = isHeader ? below : sample
  const index = wanted === undefined ? ownChoice(kind, rows, header ? named : -1) : chosen(wanted, first, header)
  return { header, index }
}

/**
 * The names by which a row's own columns are answered, in the order of the list: a name that stands twice gets `_2`, a
 * column without one its number. Null without a header: the columns have their numbers.
 */
export function columnNames(header: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  return header.map((own, i) => {
    const name = own === '' ? String(i + 1) : own
    let free = name
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`
    taken.add(free)
    return free
  })
}

function chosen(wanted: string, first: readonly string[], header: readonly string[] | null): number {
  const exact = header?.indexOf(wanted) ?? -1
  if (exact >= 0) return exact
  const normalized = header?.findIndex((name) => normalize(name) === normalize(wanted)) ?? -1
  if (normalized >= 0) return normalized
  if (/^[1-9]\d{0,3}$/.test(wanted) && Number(wanted) <= first.length) return Number(wanted) - 1
  const options = { parameter: 'column' } as const
  if (header) throw listError('unknown_column', { text: wanted, known: header.slice(0, 20) }, options)
  throw listError('column_number', { text: wanted, count: first.length }, options)
}

function ownChoice(kind: Kind, rows: readonly (readonly string[])[], named: number): number {
  const width = Math.max(0, ...rows.map((row) => row.length))
  const hits = Array.from({ length: width }, (_, i) => rows.filter((row) => looksLike(kind, row[i] ?? '')).length)
  if (named >= 0 && ((hits[named] ?? 0) > 0 || Math.max(0, ...hits) === 0)) return named
  const best = hits.indexOf(Math.max(0, ...hits))
  if (best >= 0 && (hits[best] ?? 0) > 0) return best
  throw listError('no_column', { kind }, { parameter: 'column' })
}

const nameIndex = (kind: Kind, cells: readonly string[]): number => {
  const normalized = cells.map(normalize)
  for (const name of NAMES[kind]) {
    const at = normalized.indexOf(name.replace(/[^a-z]/g, ''))
    if (at >= 0) return at
  }
  return normalized.findIndex((cell) => PARTS[kind].some((part) => cell.includes(part.replace(/[^a-z]/g, ''))))
}

const normalize = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** One record of a list: the input, and the row's own columns (by position in CSV, by name in NDJSON and JSON). */
export type GoodRow = {
  readonly ok: true
  /** The physical line on which the record begins; 1 is the first line of the file. */
  readonly line: number
  readonly input: string
  readonly columns: readonly string[] | { readonly [name: string]: Json }
}
/**
 * A record that gets no result: the code of the reason ({@link rowProblem}), its sentence, and the beginning of the
 * record.
 */
export type BadRow = {
  readonly ok: false
  readonly line: number
  readonly reason: BadRowReason
  readonly detail: string
  readonly text: string
}
export type IntakeRow = GoodRow | BadRow

/** Maximum size of a field, octets; a longer one makes its row bad. */
export const MAX_FIELD = 64 * 1024
/** Maximum size of a record in any format, characters; a longer one is a bad row. */
export const MAX_RECORD = 1024 * 1024
/** Maximum number of characters kept of a bad row. */
const KEPT_TEXT = 1_024

export const badRow = (line: number, problem: RowProblem, text: () => string): BadRow => ({
  ok: false,
  line,
  reason: problem.reason,
  detail: problem.text,
  text: text().slice(0, KEPT_TEXT),
})

/** Called with the number of characters that the reader holds of a record that has not ended. */
export type Held = (characters: number) => void

/** Whether a text contains the replacement character of a decoder. */
export const isUndecodable = (text: string): boolean => text.includes('\uFFFD')
