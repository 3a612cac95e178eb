import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** What a node wants at a provider, or at the address of a mail host. */
export type LeaseWant = {
  readonly key: string
  /** Connections that it has, and that it wants in all. */
  readonly used: number
  readonly want: number
  /** Maximum number of connections over all nodes. */
  readonly most: number
  /** Recipients that it wants to ask about, and the token bucket of all nodes. */
  readonly tokens: number
  readonly perSecond: number
  readonly capacity: number
}

/**
 * What it gets: new connections while it has fewer than `connections`, for two seconds from before it asked; and
 * `tokens` for good.
 */
export type LeaseGrant = {
  readonly connections: number
  readonly tokens: number
  /** Time until the bucket has a further token, ms. */
  readonly waitMs: number
}

/**
 * How long granted connections count, ms: those of a node that died are free after this time. It is longer than a node
 * begins connections under a grant, so that those of a node whose renewal is late are not granted to others.
 */
const COUNTED_MS = 5_000
/** With more nodes than connections, nodes take turns of this length, ms. */
const TURN_MS = 4_000

/**
 * Grants a node its share at many keys in one statement. The holders of a key are in its row, so that their sum cannot
 * be out of date. If others want more than they have, a node gets an equal share; what it uses beyond it counts until
 * those connections end.
 */
export async function takeLeases(
  db: Kysely<Schema>,
  node: string,
  wants: readonly LeaseWant[],
): Promise<ReadonlyMap<string, LeaseGrant>> {
  const column = <K extends keyof LeaseWant>(name: K): LeaseWant[K][] => wants.map((one) => one[name])
  const ms = sql`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
  const { rows } = await sql<{ provider: string; may: number | null; given: number | null; tokens: number }>`
    WITH u AS (
      SELECT * FROM unnest(${column('key')}::text[], ${column('used')}::int[], ${column('want')}::int[], ${column('most')}::int[],
        ${column('tokens')}::float8[], ${column('perSecond')}::float8[], ${column('capacity')}::float8[])
        AS u (provider, used, want, most, wanted, rate, capacity))
    INSERT INTO mailsonde.provider_leases AS l (provider, tokens, at, holders)
    SELECT provider, capacity - least(wanted, floor(capacity)), clock_timestamp(),
      jsonb_build_object(${node}::text, jsonb_build_array(greatest(used, least(want, most)), want, ${ms} + ${COUNTED_MS}::int, least(want, most), least(wanted, floor(capacity))))
    FROM u ORDER BY provider
    ON CONFLICT (provider) DO UPDATE SET (tokens, at, holders) = (
      SELECT filled - given, clock_timestamp(),
        others || jsonb_build_object(${node}::text, jsonb_build_array(greatest(used, may), want, ms + ${COUNTED_MS}::int, may, given))
      FROM (SELECT ${ms} AS ms) t
      CROSS JOIN LATERAL (SELECT * FROM u WHERE u.provider = l.provider) v
      CROSS JOIN LATERAL (
        SELECT coalesce(jsonb_object_agg(key, value), '{}') AS others, count(*)::int + 1 AS nodes,
          coalesce(sum((value ->> 0)::int), 0)::int AS held, count(*) FILTER (WHERE key < ${node}::text)::int AS place,
          coalesce(bool_or((value ->> 3)::int < (value ->> 1)::int), false) AS are_short
        FROM jsonb_each(l.holders) WHERE key <> ${node}::text AND (value ->> 2)::bigint > ms
          AND ((value ->> 0)::int > 0 OR (value ->> 1)::int > 0)) o
      CROSS JOIN LATERAL (
        SELECT most / nodes + ((place + ms / ${TURN_MS}::int) % nodes < most % nodes)::int AS share) s
      CROSS JOIN LATERAL (
        SELECT greatest(0, least(want, most - held, CASE WHEN are_short THEN share ELSE most END)) AS may) m
      CROSS JOIN LATERAL (
        SELECT least(capacity, l.tokens + rate * greatest(0, extract(epoch FROM clock_timestamp() - l.at))) AS filled) f
      CROSS JOIN LATERAL (SELECT least(wanted, floor(filled)) AS given) g)
    RETURNING provider, (holders -> ${node}::text ->> 3)::int AS may, (holders -> ${node}::text ->> 4)::float8 AS given, tokens`.execute(
    db,
  )
  const asked = new Map(wants.map((want) => [want.key, want]))
  return new Map(
    rows.map(({ provider, may, given, tokens }) => {
      const perSecond = asked.get(provider)?.perSecond ?? 0
      const waitMs = perSecond > 0 ? Math.max(0, ((1 - tokens) / perSecond) * 1_000) : 0
      return [provider, { connections: may ?? 0, tokens: given ?? 0, waitMs }]
    }),
  )
}

/**
 * Removes rows that say nothing any more: their buckets are full again, and their holders have gone. At most 10,000 at
 * a time.
 */
export async function purgeLeases(db: Kysely<Schema>): Promise<void> {
  await sql`
    DELETE FROM mailsonde.provider_leases WHERE ctid IN (
      SELECT ctid FROM mailsonde.provider_leases WHERE at < clock_timestamp() - interval '10 minutes' LIMIT 10000)`.execute(
    db,
  )
}
