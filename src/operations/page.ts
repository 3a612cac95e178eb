import { z } from 'zod'
import type { Json } from '../base/json.ts'
import { type Parsed, parsed, problem } from '../base/parsed.ts'
import { optional, textParam, wholeParam } from './params.ts'
import { paramProblem } from './problems.ts'

/** Maximum number of characters of a cursor. */
const MAX_CURSOR = 512

/**
 * The page after another one: its `next_cursor`. `schema` reads its content; a cursor that was not issued here is
 * refused.
 */
export const cursorParam = <S extends z.ZodType>(schema: S) =>
  optional(
    textParam<z.output<S>>('invalid_parameter', (text) => readCursor(schema, text), {
      description: 'next_cursor of the previous page',
      group: 'answer',
    }),
  )

/** Maximum number of items of a page. */
export const limitParam = (bounds: { readonly max: number; readonly fallback: number }) => {
  const param = wholeParam('items per page', { min: 1, max: bounds.max })
  const schema = param.schema.default(bounds.fallback)
  return { ...param, required: false, group: 'answer', fallback: String(bounds.fallback), schema } as const
}

/** Where a list continues, as an opaque text of at least 8 characters. */
export const formatCursor = (after: Json): string => Buffer.from(JSON.stringify({ after })).toString('base64url')

const cursor = z.strictObject({ after: z.unknown() })

/** The place that a cursor names, read by `schema`. */
export function readCursor<S extends z.ZodType>(schema: S, text: string): Parsed<z.output<S>> {
  const refused = problem(paramProblem('cursor'))
  if (text.length > MAX_CURSOR) return refused
  try {
    const { after } = cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    const read = schema.safeParse(after)
    return read.success ? parsed(read.data) : refused
  } catch {
    return refused // no JSON, or another
  }
}

/**
 * One page of `rows`, which has one row more than `limit` if there are more. `placeOf` is where the list continues
 * after a row.
 */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => Item,
  placeOf: (last: Row) => Json,
): { readonly data: readonly Item[]; readonly has_more: boolean; readonly next_cursor: string | null } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const has_more = rows.length > limit && last !== undefined
  return { data: shown.map(present), has_more, next_cursor: has_more ? formatCursor(placeOf(last)) : null }
}
