import { type Kysely, sql } from 'kysely'
import { CELL_END, type ResultText, ROW_END } from '../result-text.ts'
import type { Schema } from './schema.ts'

export type TextPage = {
  readonly after: number
  readonly limit: number
  readonly result?: string
  readonly reason?: string
  /** Whether the list has rows that others answer for. */
  readonly hasDuplicates: boolean
}

/** Lines of NDJSON, in the order of the input, of at most `limit` results behind `after`. A duplicate has the answer of its first row. */
export const resultLines = (db: Kysely<Schema>, job: number, page: TextPage): Promise<ResultText> =>
  textOf(
    db,
    job,
    page,
    sql`'{"line":' || line
      || CASE WHEN columns IS NULL OR columns IN ('[]', '{}') THEN '' ELSE ',"columns":' || columns::text END
      || ',"input":' || to_json(input)::text || ',"result":' || to_json(result)::text
      || ',"reason":' || to_json(coalesce(reason, ''))::text || ',"answer":' || coalesce(answer::text, '{}') || E'}\n'`,
  )

/**
 * Cells of the same results: line, JSON of the input, JSON of the row's own columns, result, reason, and these fields of the answer. Cells end with {@link CELL_END}, rows
 * with {@link ROW_END}; in an answer's texts both are blanks.
 */
export function resultCells(
  db: Kysely<Schema>,
  job: number,
  page: TextPage,
  fields: readonly string[],
): Promise<ResultText> {
  const ends = sql.lit(`${ROW_END}${CELL_END}`)
  const values = fields.map((field) => sql`translate(coalesce(answer ->> ${sql.lit(field)}, ''), ${ends}, '  ')`)
  const cells = [
    ...[sql`line::text`, sql`to_json(input)::text`, sql`coalesce(columns::text, 'null')`],
    ...[sql`result`, sql`coalesce(reason, '')`],
    ...values,
  ]
  return textOf(db, job, page, sql`${sql.join(cells, sql` || ${sql.lit(CELL_END)} || `)} || ${sql.lit(ROW_END)}`)
}

async function textOf(
  db: Kysely<Schema>,
  job: number,
  { after, limit, result, reason, hasDuplicates }: TextPage,
  text: ReturnType<typeof sql>,
): Promise<ResultText> {
  const of = (column: 'result' | 'reason' | 'answer') =>
    hasDuplicates ? sql`coalesce(${sql.ref(`f.${column}`)}, ${sql.ref(`r.${column}`)})` : sql.ref(`r.${column}`)
  const firsts = hasDuplicates ? sql`LEFT JOIN mailsonde.job_rows f ON f.job = ${job} AND f.line = r.first_line` : sql``
  const { rows } = await sql<{ text: string | null; n: string; last: string | null }>`
    SELECT string_agg(${text}, '' ORDER BY line) AS text, count(*) AS n, max(line) AS last FROM (
      SELECT r.line, r.input, r.columns, ${of('result')} AS result, ${of('reason')} AS reason, ${of('answer')} AS answer
      FROM mailsonde.job_rows r ${firsts}
      WHERE r.job = ${job} AND r.line > ${after} AND ${of('result')} IS NOT NULL
        ${result === undefined ? sql`` : sql`AND ${of('result')} = ${result}`}
        ${reason === undefined ? sql`` : sql`AND ${of('reason')} = ${reason}`}
      ORDER BY r.line LIMIT ${limit}) page`.execute(db)
  return { text: rows[0]?.text ?? '', rows: Number(rows[0]?.n ?? 0), last: Number(rows[0]?.last ?? after) }
}
