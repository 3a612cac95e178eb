import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** What the jobs of an owner hold. */
export type OwnerStorage = {
  /** Records of the jobs that have not ended. */
  readonly openRows: number
  readonly rows: number
  /** Size of the lists of all jobs as they were stored, octets; results are not part of it. */
  readonly octets: number
}

/** What jobs take up in the database. */
export const jobStorageOf = (db: Kysely<Schema>) => ({
  ofOwner: async (owner: string): Promise<OwnerStorage> => {
    const { rows } = await sql<{ open: string; rows: string; octets: string }>`
      SELECT coalesce(sum(received) FILTER (WHERE state IN ('receiving', 'waiting', 'running', 'paused')), 0) AS open,
        coalesce(sum(received), 0) AS rows, coalesce(sum(octets), 0) AS octets
      FROM mailsonde.jobs WHERE owner = ${owner}`.execute(db)
    const [sum] = rows
    return { openRows: Number(sum?.open ?? 0), rows: Number(sum?.rows ?? 0), octets: Number(sum?.octets ?? 0) }
  },

  /** Size of the whole database, octets. */
  size: async (): Promise<number> => {
    const { rows } = await sql<{ size: string }>`SELECT pg_database_size(current_database()) AS size`.execute(db)
    return Number(rows[0]?.size ?? 0)
  },
})
