import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { CELL_END, type ResultText, ROW_END } from '../result-text.ts'
import { type JobTable, tableNameOf } from './jobs.ts'

type TextPage = {
  readonly after: number
  readonly limit: number
  /** The last line that the page may have. */
  readonly upTo?: number
  readonly result?: string
  readonly reason?: string
  /** Whether the list has rows that others answer for. */
  readonly hasDuplicates: boolean
}

/**
 * Lines of NDJSON, in the order of the input, of at most `limit` results behind `after`. A duplicate has the answer of
 * its first row. `names` of the own columns of a CSV list; null if they have numbers, undefined for other lists, whose
 * rows have the names.
 */
export const resultLines = (
  pool: pg.Pool,
  job: JobTable,
  page: TextPage,
  names: readonly string[] | null | undefined,
): Promise<ResultText> =>
  textOf(
    pool,
    job,
    page,
    `format(E'{"line":%s%s,"input":%s,"result":%s,"reason":%s,"answer":%s}\\n', line,
      CASE WHEN columns IS NULL OR columns IN ('[]', '{}') THEN '' ELSE ',"columns":' || ${columnsBy(names)} END,
      to_json(input), to_json(result), to_json(coalesce(reason, '')), coalesce(answer, '{}'))`,
  )

/** Arguments that a function of PostgreSQL may have are 100. */
const ARGUMENTS = 90

/** Expression for the JSON object of a row's own columns. */
function columnsBy(names: readonly string[] | null | undefined): string {
  if (names === undefined) return 'columns::text'
  const numbered = `SELECT string_agg('"' || n || '":' || v::text, ',' ORDER BY n) FROM jsonb_array_elements(columns) WITH ORDINALITY e (v, n)`
  if (names === null) return `'{' || (${numbered}) || '}'`
  let parts = names.map((name, i) => `${pg.escapeLiteral(`${JSON.stringify(name)}:`)} || (columns->${i})::text`)
  while (parts.length > ARGUMENTS)
    parts = Array.from(
      { length: Math.ceil(parts.length / ARGUMENTS) },
      (_, n) => `nullif(concat_ws(',', ${parts.slice(n * ARGUMENTS, (n + 1) * ARGUMENTS).join(', ')}), '')`,
    )
  return `'{' || concat_ws(',', ${parts.join(', ')}) || '}'`
}

/**
 * Cells of the same results: line, JSON of the input, JSON of the row's own columns, result, reason, and these fields
 * of the answer. Cells end with {@link CELL_END}, rows with {@link ROW_END}; in an answer's texts both are blanks.
 */
export async function resultCells(
  pool: pg.Pool,
  job: JobTable,
  page: TextPage,
  fields: readonly string[],
): Promise<ResultText> {
  const answer = `coalesce(answer, '{}')`
  const cells = (json: string): Promise<ResultText> => textOf(pool, job, page, cellsOf(json, fields))
  const plain = await cells(answer)
  // Answers have no control characters; one that has them nevertheless is found by its number of cells.
  return isRegular(plain, 5 + fields.length) ? plain : await cells(withoutEnds(answer))
}

/** Reads all fields in one pass over the answer. */
function cellsOf(answer: string, fields: readonly string[]): string {
  const names = fields.map((field) => pg.escapeIdentifier(field))
  const end = pg.escapeLiteral(CELL_END)
  const own = `(SELECT concat_ws(${end}, ${names.map((name) => `coalesce(${name}, '')`).join(', ')})
    FROM json_to_record(${answer}) AS own (${names.map((name) => `${name} text`).join(', ')}))`
  const first = `line, to_json(input), coalesce(columns::text, 'null'), result, coalesce(reason, '')`
  return `concat_ws(${end}, ${first}, ${own}) || ${pg.escapeLiteral(ROW_END)}`
}

/** Whether the text has as many rows and cells as it must have: a text with an end in it would make more. */
function isRegular({ octets, rows }: ResultText, cells: number): boolean {
  const [rowEnd, cellEnd] = [ROW_END.charCodeAt(0), CELL_END.charCodeAt(0)]
  let [rowEnds, cellEnds] = [0, 0]
  for (let i = 0; i < octets.length; i++) {
    if (octets[i] === rowEnd) rowEnds++
    else if (octets[i] === cellEnd) cellEnds++
  }
  return rowEnds === rows && cellEnds === rows * (cells - 1)
}

/** JSON whose texts have blanks for the ends of cells and rows. */
function withoutEnds(json: string): string {
  const escapes = [ROW_END, CELL_END].map((end) => pg.escapeLiteral(JSON.stringify(end).slice(1, -1)))
  // An escaped backslash before `u001e` is none of it.
  const hidden = `replace((${json})::text, '\\\\', '\\u005c')`
  return `(${escapes.reduce((text, end) => `replace(${text}, ${end}, ' ')`, hidden)})::json`
}

async function textOf(
  pool: pg.Pool,
  job: JobTable,
  { after, limit, upTo, result, reason, hasDuplicates }: TextPage,
  /** Expression for the text of a row. */
  text: string,
): Promise<ResultText> {
  const [number, table] = [Math.trunc(job.number), tableNameOf(job)]
  const of = (column: string): string => (hasDuplicates ? `coalesce(f.${column}, r.${column})` : `r.${column}`)
  const firsts = hasDuplicates ? `LEFT JOIN ${table} f ON f.job = ${number} AND f.line = r.first_line` : ''
  const only = (column: string, word: string | undefined): string =>
    word === undefined ? '' : `AND ${of(column)} = ${pg.escapeLiteral(word)}`
  const octets = await copied(
    pool,
    `SELECT count(*), coalesce(max(line), ${Math.trunc(after)}), coalesce(string_agg(${text}, ''), '') FROM (
      SELECT r.line, r.input, r.columns, ${of('result')} AS result, ${of('reason')} AS reason, ${of('answer')} AS answer
      FROM ${table} r ${firsts}
      WHERE r.job = ${number} AND r.line > ${Math.trunc(after)} AND ${of('result')} IS NOT NULL
        ${upTo === undefined ? '' : `AND r.line <= ${Math.trunc(upTo)}`} ${only('result', result)} ${only('reason', reason)}
      ORDER BY r.line LIMIT ${Math.trunc(limit)}) page`,
  )
  return {
    rows: Number(octets.readBigInt64BE(COUNT_AT)),
    last: Number(octets.readBigInt64BE(LAST_AT)),
    octets: octets.subarray(TEXT_AT, octets.length - END_OCTETS),
  }
}

/**
 * Where the parts of a page are in COPY's binary format: a head of 19 octets, the number of fields in 2, each field
 * with its length in 4, and -1 in 2 at the end.
 */
const COUNT_AT = 19 + 2 + 4
const LAST_AT = COUNT_AT + 8 + 4
const TEXT_AT = LAST_AT + 8 + 4
const END_OCTETS = 2

/** One row by COPY: its octets are passed on as they came, which a value of a query is not. */
async function copied(pool: pg.Pool, query: string): Promise<Buffer> {
  const client = await pool.connect()
  let fault: Error | undefined
  try {
    const pieces: Buffer[] = []
    for await (const piece of client.query(copyTo(`COPY (${query}) TO STDOUT (FORMAT binary)`))) pieces.push(piece)
    return Buffer.concat(pieces)
  } catch (error) {
    fault = error as Error
    throw error
  } finally {
    client.release(fault) // what is left of the copy ends with its connection
  }
}
