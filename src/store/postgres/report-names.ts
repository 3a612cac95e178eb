import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Names in From that are read for one domain. */
const MAX_NAMES = 10_000

/**
 * `column` is the domain or below it. The pattern has no wildcard of a stranger: domains are parsed, and `_` is
 * escaped.
 */
export const below = (column: RawBuilder<unknown>, domain: string): RawBuilder<boolean> => {
  const reversed = [...domain].reverse().join('')
  return sql`(reverse(${column}) = ${reversed} OR reverse(${column}) LIKE ${`${reversed.replaceAll('_', '\\_')}.%`})`
}

/** The numbers of the names in From at or below a domain. */
export const namesIn = async (db: Kysely<Schema>, domain: string): Promise<readonly number[]> => {
  const { rows } = await sql<{ number: number }>`
    SELECT number FROM mailsonde.report_names WHERE ${below(sql`name`, domain)} LIMIT ${MAX_NAMES}`.execute(db)
  return rows.map(({ number }) => number)
}
