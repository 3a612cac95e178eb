import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Takes up to `want` tokens of a provider's bucket, which all nodes share; returns the number of tokens, and the time until the next, ms. */
export type TakeTokens = (
  provider: string,
  rate: { readonly perSecond: number; readonly capacity: number },
  want: number,
) => Promise<{ readonly granted: number; readonly waitMs: number }>

/** One token bucket per provider, by the clock of the database. */
export const takeTokensOf =
  (db: Kysely<Schema>): TakeTokens =>
  async (provider, { perSecond, capacity }, want) => {
    const whole = Math.floor(capacity)
    const filled = sql`least(${capacity}::float8, r.tokens + ${perSecond}::float8 * greatest(0, extract(epoch FROM clock_timestamp() - r.at)))`
    const { rows } = await sql<{ granted: number; tokens: number }>`
      INSERT INTO mailsonde.provider_rates AS r (provider, at, granted, tokens)
      VALUES (${provider}, clock_timestamp(), ${Math.min(want, whole)}::float8, ${capacity - Math.min(want, whole)}::float8)
      ON CONFLICT (provider) DO UPDATE SET
        at = clock_timestamp(),
        granted = least(${want}::float8, floor(${filled})),
        tokens = ${filled} - least(${want}::float8, floor(${filled}))
      RETURNING granted, tokens`.execute(db)
    const granted = rows[0]?.granted ?? 0
    const missing = 1 - (rows[0]?.tokens ?? 0)
    return { granted, waitMs: granted > 0 ? 0 : Math.max(1, Math.ceil((missing / perSecond) * 1_000)) }
  }
