import { isIP } from 'node:net'
import type { BadRowReason } from '../../answers/jobs.ts'
import type { Json } from '../../base/json.ts'
import { type Parsed, parsed } from '../../base/problem.ts'
import { parseEmail } from '../../names/email.ts'
import { addressesIn, readDomain, readIp } from '../../names/pasted.ts'
import { type Pasted, type Taken, trimmed } from '../../names/pasted-steps.ts'
import { listError, type RowProblem } from '../problems.ts'

export type Kind = 'verify' | 'check' | 'blacklist'

/**
 * Common names of input columns in exported lists, in lower case without marks and blanks, by kind and in order of
 * preference.
 */
const NAMES: Readonly<Record<Kind, readonly string[]>> = {
  verify: [
    ...['email', 'emailaddress', 'mail', 'mailaddress', 'emails', 'primarysmtpaddress'],
    ...['emailadresse', 'mailadresse', 'adresseemail', 'adressemail', 'adresseelectronique', 'courriel'],
    ...['correo', 'correoelectronico', 'correoelectrónico', 'direccióndecorreo', 'endereçodeemail', 'indirizzoemail'],
    ...['postaelettronica', 'emailadres', 'epost', 'epostadress', 'epostadresse', 'eposta', 'sähköposti'],
    ...['adresemail', 'pocztaelektroniczna', 'электроннаяпочта', 'почта', 'メールアドレス', 'メール', '邮箱'],
    ...[
      '电子邮件',
      '电子邮箱',
      '電子郵件',
      '이메일',
      'adresse',
      'address',
      'useremail',
      'userprincipalname',
      'recipientaddress',
    ],
    ...['recipientemail', 'recipient', 'to', 'an', 'username', 'login'],
  ],
  check: ['domain', 'domainname', 'host', 'hostname', 'website', 'site', 'url'],
  blacklist: ['ip', 'ipaddress', 'address', 'addr', 'host'],
}
const WORDS: Readonly<Record<Kind, readonly string[]>> = {
  verify: ['email', 'mail'],
  check: ['domain', 'hostname'],
  blacklist: ['ip'],
}
/** Names of columns whose addresses are not those of the record itself. */
export const OF_OTHERS =
  /owner|sender|from|alternat|additional|recover|second|manager|createdby|absender|besitzer|^von$|^de$|agent|betreu|replyto|assigned|author|^cc$|mail[2-9]/
/** Maximum number of records before the header: a title, a date, empty lines. */
const MAX_TITLES = 20
/** Maximum number of them with an input: who made the list. */
const MAX_TITLE_INPUTS = 2

/** Whether a cell contains inputs of a kind of job. */
export const looksLike = (kind: Kind, cell: string): boolean => {
  if (kind === 'verify')
    return (
      /[@＠﹫]|%40|&#|[[({]\s?at\s?[\])}]/i.test(cell) && addressesIn(cell).some(({ value }) => parseEmail(value).ok)
    )
  if (kind === 'check') return cell.includes('.') && isIP(trimmed(cell)) === 0 && readDomain(cell).ok
  return readIp(cell).ok
}

/** The inputs of a cell, as they are pasted: one, or several with {@link Taken} `several`. */
function inputsIn(kind: Kind, cell: string): readonly Pasted<string>[] {
  if (kind === 'verify') return addressesIn(cell)
  const read = (text: string): Parsed<Pasted<string>> => {
    if (kind === 'blacklist') return readIp(text)
    const name = readDomain(text)
    return name.ok ? parsed({ value: name.value.value.domain, taken: name.value.taken }) : name
  }
  const bare = trimmed(cell)
  const whole = read(cell)
  if (whole.ok) return [whole.value.taken.length === 0 ? { value: bare, taken: [] } : whole.value]
  const words = bare.split(/[\s,;|]+/).filter((word) => word !== '')
  if (words.length < 2 || !words.every((word) => read(word).ok)) return [{ value: bare, taken: [] }]
  return words.map((value) => ({ value, taken: ['several'] }))
}

/**
 * The rows of one record: several if its cell has several inputs. Each has the columns of the record; of more than
 * {@link MOST_WHOLE} inputs its own one in place of the cell, so that what is kept does not grow with the square of it.
 * Where the other columns of all rows would be more than {@link MOST_REPEATED} characters, they are empty.
 */
export function rowsOf(
  kind: Kind,
  { line, cell, columns }: Pick<GoodRow, 'line' | 'columns'> & { readonly cell: string },
): readonly GoodRow[] {
  const inputs = inputsIn(kind, cell)
  const isSeveral = inputs.length > 1
  const isOwn = inputs.length > MOST_WHOLE
  const isShort = isSeveral && inputs.length * sizeOfOthers(columns, cell) > MOST_REPEATED
  const kept = isShort ? withoutOthers(columns, cell) : columns
  return inputs.map(({ value, taken }, i) => ({
    ok: true,
    line,
    ...(isSeveral && { part: i + 1 }),
    input: value,
    columns: isOwn ? withOwn(kept, cell, value) : kept,
    ...((taken.length > 0 || isShort) && { taken: isShort ? [...taken, 'shortened' as const] : taken }),
  }))
}

/** Number of inputs of a cell up to which each of its rows has the whole cell. */
export const MOST_WHOLE = 100

/** Maximum number of characters of other columns that the rows of one record repeat; beyond it they are empty. */
const MOST_REPEATED = 4 * 1024 * 1024

const sizeOfOthers = (columns: GoodRow['columns'], cell: string): number =>
  Array.isArray(columns) ? columns.join('').length - cell.length : JSON.stringify(columns).length

/** The columns with the cell, and nothing in the others. */
function withoutOthers(columns: GoodRow['columns'], cell: string): GoodRow['columns'] {
  return Array.isArray(columns)
    ? columns.map((one: string) => (one === cell ? one : ''))
    : Object.fromEntries(Object.entries(columns).filter(([, one]) => one === cell))
}

/** The columns with the value in place of the cell. */
function withOwn(columns: GoodRow['columns'], cell: string, value: string): GoodRow['columns'] {
  return Array.isArray(columns)
    ? columns.map((one: string) => (one === cell ? value : one))
    : Object.fromEntries(Object.entries(columns).map(([name, one]) => [name, one === cell ? value : one]))
}

export type Columns = {
  /** The names in the header row; null if there is none. */
  readonly header: readonly string[] | null
  readonly index: number
  /** The column with the domain, where that of the input has only what stands in front of the `@`. */
  readonly domain?: number
  /** The number of records before the header that are passed over: titles, empty lines. */
  readonly titles: number
}

/**
 * The header and the input column, from the first records. Titles and empty lines before the header are passed over. A
 * row is a header if none of its cells looks like an input, and either a cell has a name of such columns or the rows
 * below look like inputs. The column: the caller's choice, else by name, else the one whose cells most often look like
 * inputs. Throws AppError `bad_list` if there is none.
 */
export function findColumns(kind: Kind, sample: readonly (readonly string[])[], wanted: string | undefined): Columns {
  const titles = titlesIn(kind, sample, wanted)
  const [first = [], ...below] = sample.slice(titles)
  const hasInput = first.some((cell) => looksLike(kind, cell))
  const hasInputs = (): boolean => sample.some((row) => row.some((cell) => looksLike(kind, cell)))
  const pair = kind === 'verify' && wanted === undefined && !hasInputs() ? userAndDomain(sample) : undefined
  if (pair) return pair
  const named = nameIndex(kind, first)
  const isHeader = !hasInput && (named >= 0 || below.length > 0 || wanted !== undefined)
  const header = isHeader ? first.map(trimmed) : null
  const rows = isHeader ? below : sample.slice(titles)
  const index = wanted === undefined ? ownChoice(kind, rows, header, named) : chosen(wanted, first, header)
  return { header, index, titles }
}

/** The number of lines at the begin of a text that are comments, the names of its columns, or blank. */
export function titleLines(kind: Kind, lines: readonly string[]): number {
  const count = lines.slice(0, MAX_TITLES + 1).findIndex((line) => {
    const cells = line.split(/\s{2,}/, 100).filter((cell) => cell.length <= 40)
    const isTitle = /^\s*(?:#|\/\/|;|$)/.test(line) || nameIndex(kind, cells) >= 0
    return !isTitle || looksLike(kind, line)
  })
  return lines.slice(0, count).every((line) => line.trim() === '') ? 0 : count
}

/**
 * The number of records before the header, or before the first row with an input. The header is the first of the
 * records without an input that has the name of the wanted or of a usual column; where there is none, records with at
 * most one cell of several are titles. A title may have an input, in another column: who made the list.
 */
function titlesIn(kind: Kind, sample: readonly (readonly string[])[], wanted: string | undefined): number {
  const width = Math.max(0, ...sample.map(({ length }) => length))
  const inputs = sample.map((row) => new Set(row.flatMap((cell, i) => (looksLike(kind, cell) ? [i] : []))))
  const isBelow = (at: number, index: number): boolean => inputs.slice(at + 1).some((found) => found.has(index))
  const isFull = (row: readonly string[]): boolean =>
    width === 1 || row.filter((cell) => trimmed(cell) !== '').length > 1
  const start = sample.slice(0, MAX_TITLES + 1)
  const late = start.findIndex((row, at) => {
    const index = inputs[at]!.size > 0 ? -1 : nameIndex(kind, row)
    const before = inputs.slice(0, at)
    return (
      index >= 0 &&
      row.filter((cell) => trimmed(cell) !== '').length > 1 &&
      isBelow(at, index) &&
      before.every((found) => !found.has(index)) &&
      // More of them are rows of a first table.
      before.filter((found) => found.size > 0).length <= MAX_TITLE_INPUTS
    )
  })
  const end = late >= 0 ? late + 1 : inputs.slice(0, start.length).findIndex((found) => found.size > 0)
  const before = end < 0 ? [] : sample.slice(0, end)
  const find = (isHeader: (row: readonly string[], at: number) => boolean): number | undefined => {
    const at = before.findIndex(isHeader)
    return at < 0 ? undefined : at
  }
  const isUsual = (cell: string): boolean => NAMES[kind].includes(normalize(cell))
  return (
    (wanted === undefined ? undefined : find((row) => row.some((cell) => normalize(cell) === normalize(wanted)))) ??
    find((row, at) => row.some((cell, i) => isUsual(cell) && isBelow(at, i))) ??
    find((row) => row.some(isUsual)) ??
    find((row) => isFull(row) && nameIndex(kind, row) >= 0) ??
    find(isFull) ??
    before.length
  )
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

function ownChoice(
  kind: Kind,
  rows: readonly (readonly string[])[],
  header: readonly string[] | null,
  index: number,
): number {
  const named = header ? index : -1
  const width = Math.max(0, ...rows.map((row) => row.length))
  const hits = Array.from({ length: width }, (_, i) => rows.filter((row) => looksLike(kind, row[i] ?? '')).length)
  if (named >= 0 && ((hits[named] ?? 0) > 0 || Math.max(0, ...hits) === 0)) return named
  const most = Math.max(0, ...hits)
  const own = hits.findIndex((count, i) => count === most && !OF_OTHERS.test(normalize(header?.[i] ?? '')))
  const best = own >= 0 ? own : hits.indexOf(most)
  // Beyond the header: rows begin with a delimiter, and are evened out.
  if (named >= 0 && header && best >= header.length) return named
  if (best >= 0 && most > 0) return best
  throw listError('no_column', { kind }, { parameter: 'column' })
}

export const nameIndex = (kind: Kind, cells: readonly string[]): number => {
  const normalized = cells.map(normalize)
  for (const name of NAMES[kind]) {
    const at = normalized.indexOf(name)
    if (at >= 0) return at
  }
  const isNamed = (cell: string): boolean => WORDS[kind].some((part) => cell.includes(part))
  const own = normalized.findIndex((cell) => isNamed(cell) && !OF_OTHERS.test(cell))
  return own >= 0 ? own : normalized.findIndex(isNamed)
}

/** Names of columns with the part of an address in front of the `@`, and with its domain. */
const USERS =
  /^(?:e?mail|(?:e?mail)?(?:user|userid|username|local|localpart|login|account|mailbox|alias|benutzer|benutzername|postfach|utilisateur|usuario|utente|compte))$/
const DOMAINS = /^(?:e?mail)?(?:domain|domainname|domaine|dominio|domäne|host|hostname)$/

/**
 * The header and the two columns of a list of users and domains: named so, or the only two. Undefined where a column has
 * other cells.
 */
function userAndDomain(sample: readonly (readonly string[])[]): Columns | undefined {
  const titles = sample.slice(0, MAX_TITLES).findIndex((row) => row.filter((cell) => trimmed(cell) !== '').length > 1)
  const isAll = (rows: readonly (readonly string[])[], at: number, isOne: (cell: string) => boolean): boolean =>
    rows.some((row) => trimmed(row[at] ?? '') !== '') &&
    rows.every((row) => trimmed(row[at] ?? '') === '' || isOne(row[at]!))
  const isHost = (cell: string): boolean => looksLike('check', trimmed(cell).replace(/^@/, ''))
  const isUser = (cell: string): boolean => /^[\w.+-]{1,64}$/.test(trimmed(cell))
  const [names = [], ...below] = sample.slice(titles)
  const header = names.some(isHost) ? null : names.map(trimmed)
  const rows = header ? below : [names, ...below]
  const places = names.map((_, at) => at)
  const isNamed = (at: number, pattern: RegExp): boolean => pattern.test(normalize(header?.[at] ?? ''))
  const isPair = names.length === 2
  const domain = places.find((at) => (isPair || isNamed(at, DOMAINS)) && isAll(rows, at, isHost))
  const index = places.find((at) => at !== domain && (isPair || isNamed(at, USERS)) && isAll(rows, at, isUser))
  return titles < 0 || domain === undefined || index === undefined ? undefined : { header, index, domain, titles }
}

export const normalize = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** One record of a list: the input, and the row's own columns (by position in CSV, by name in NDJSON and JSON). */
export type GoodRow = {
  readonly ok: true
  /** The physical line on which the record begins; 1 is the first line of the file. */
  readonly line: number
  /** The number of the input among several of one record, from 1; absent if it is the only one. */
  readonly part?: number
  readonly input: string
  readonly columns: readonly string[] | { readonly [name: string]: Json }
  /** What was taken away to get the input. */
  readonly taken?: readonly (Taken | 'shortened' | 'uneven' | 'joined')[]
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

/** More than the values that a cell of {@link MAX_FIELD} has. */
export const PARTS = 32_768

/**
 * The place of a row in its list, by which the database knows it: the line on which its record begins, plus the number
 * of its part of {@link PARTS} if it has several.
 */
export const placeOf = (line: number, part = 0): number => line + part / PARTS

export function lineAndPart(place: number): { readonly line: number; readonly part?: number } {
  const line = Math.floor(place)
  return place === line ? { line } : { line, part: Math.round((place - line) * PARTS) }
}

/**
 * What is counted of a list: what was taken away in rows, lines before the header, octets behind its archive, rows
 * whose other columns were left out, rows with another number of cells than the header, and addresses of two cells.
 */
export type Noted = Taken | 'titles' | 'behind' | 'shortened' | 'uneven' | 'joined'

/** How often what was taken away. */
export type Counted = { readonly taken?: Readonly<Partial<Record<Noted, number>>> }

/** What of a row is counted: several values of a record once. */
export const notedOf = ({ taken = [], part = 1 }: GoodRow): readonly Noted[] =>
  part === 1 ? taken : taken.filter((one) => one !== 'several')

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
