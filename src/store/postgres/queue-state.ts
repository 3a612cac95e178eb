import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** What waits to be asked, and who holds connections. */
export type QueueState = {
  /** Rows of running jobs without a result whose provider is known; those of them whose provider has a row that is due; and for how long the first one has been, s. */
  readonly openRows: number
  readonly dueRows: number
  readonly dueSeconds: number
  /** Providers of running jobs with a row that is due, and those that wait for a later time. */
  readonly due: number
  readonly waiting: number
  /** Nodes that may begin connections, how many they hold together, and at how many providers and mail hosts. */
  readonly nodes: number
  readonly connections: number
  readonly keys: number
}

/** Rows are never read: the sums of providers tell. */
export async function queueState(db: Kysely<Schema>): Promise<QueueState> {
  const { rows } = await sql<Record<keyof QueueState, string>>`
    SELECT p.*, l.* FROM (
      SELECT coalesce(sum(p.rows - p.done), 0) AS "openRows", coalesce(sum(p.rows - p.done) FILTER (WHERE next_due <= now()), 0) AS "dueRows",
        coalesce(extract(epoch FROM now() - min(next_due) FILTER (WHERE next_due <= now())), 0) AS "dueSeconds",
        count(*) FILTER (WHERE next_due <= now()) AS due, count(*) FILTER (WHERE next_due > now()) AS waiting
      FROM mailsonde.job_providers p JOIN mailsonde.jobs ON number = job AND state = 'running' WHERE next_due < 'infinity') p
    CROSS JOIN (
      SELECT count(DISTINCT key) AS nodes, coalesce(sum((value ->> 0)::int), 0) AS connections, count(DISTINCT provider) AS keys
      FROM mailsonde.provider_leases, jsonb_each(holders)
      WHERE (value ->> 2)::bigint > extract(epoch FROM now()) * 1000 AND (value ->> 0)::int > 0) l`.execute(db)
  const row = rows[0]!
  return {
    ...{ openRows: Number(row.openRows), dueRows: Number(row.dueRows), dueSeconds: Number(row.dueSeconds) },
    ...{ due: Number(row.due), waiting: Number(row.waiting) },
    ...{ nodes: Number(row.nodes), connections: Number(row.connections), keys: Number(row.keys) },
  }
}
