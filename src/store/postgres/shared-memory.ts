import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * The kinds of facts: `catch_all` of a domain by mail host, `unknown` mailboxes of a domain, `pause` of a provider,
 * `answer` to a question.
 */
type MemoryKind = 'catch_all' | 'unknown' | 'pause' | 'answer'

/** How long a question belongs to the node that asks it, unless it says so again, ms. */
const QUESTION_MS = 3_000
/** A fact about a domain or a provider. */
export type Memory = {
  readonly kind: MemoryKind
  readonly key: string
  readonly value: string
  /** How long it stays valid, ms. */
  readonly leftMs: number
}

/** The facts that all nodes on one database share, by the clock of the database. */
export type SharedMemory = ReturnType<typeof sharedMemory>

/** Maximum number of entries read of a domain and its provider. */
const MAX_MEMORIES = 100

export const sharedMemory = (open: () => Promise<Kysely<Schema>>) => {
  const until = (ttlMs: number) => sql`clock_timestamp() + make_interval(secs => ${ttlMs / 1_000}::float8)`
  const leftMs = sql`greatest(0, extract(epoch FROM until - clock_timestamp()) * 1000) AS "leftMs"`
  return {
    /** The valid facts about a domain and the provider of its mail hosts; at most 100. */
    about: async (domain: string, provider: string): Promise<readonly Memory[]> => {
      const { rows } = await sql<Memory>`
        SELECT kind, key, value, ${leftMs} FROM mailsonde.memories
        WHERE until > clock_timestamp()
          AND ((name = ${domain} AND kind IN ('catch_all', 'unknown')) OR (name = ${provider} AND kind = 'pause'))
        LIMIT ${MAX_MEMORIES}`.execute(await open())
      return rows
    },
    get: async (kind: MemoryKind, name: string): Promise<Memory | undefined> => {
      const { rows } = await sql<Memory>`
        SELECT kind, key, value, ${leftMs} FROM mailsonde.memories
        WHERE name = ${name} AND kind = ${kind} AND until > clock_timestamp() LIMIT 1`.execute(await open())
      return rows[0]
    },
    put: async (kind: MemoryKind, name: string, key: string, value: string, ttlMs: number): Promise<void> => {
      await sql`
        INSERT INTO mailsonde.memories (kind, name, key, value, until) VALUES (${kind}, ${name}, ${key}, ${value}, ${until(ttlMs)})
        ON CONFLICT (name, kind, key) DO UPDATE SET value = excluded.value, until = excluded.until`.execute(
        await open(),
      )
    },
    /** Increments the count; it starts again when its time is over. */
    count: async (kind: MemoryKind, name: string, ttlMs: number): Promise<void> => {
      await sql`
        INSERT INTO mailsonde.memories AS m (kind, name, key, value, until) VALUES (${kind}, ${name}, '', '1', ${until(ttlMs)})
        ON CONFLICT (name, kind, key) DO UPDATE SET
          value = CASE WHEN m.until > clock_timestamp() THEN (m.value::integer + 1)::text ELSE '1' END,
          until = CASE WHEN m.until > clock_timestamp() THEN m.until ELSE excluded.until END`.execute(await open())
    },
    /**
     * Whether the question (its digest) belongs to this holder for the next {@link QUESTION_MS}: no other one asks it
     * now.
     */
    claim: async (name: string, holder: string): Promise<boolean> => {
      const { rows } = await sql`
        INSERT INTO mailsonde.memories AS m (kind, name, key, value, until) VALUES ('asking', ${name}, '', ${holder}, ${until(QUESTION_MS)})
        ON CONFLICT (name, kind, key) DO UPDATE SET value = excluded.value, until = excluded.until
        WHERE m.until < clock_timestamp() OR m.value = excluded.value RETURNING 1`.execute(await open())
      return rows.length === 1
    },
    release: async (name: string, holder: string): Promise<void> => {
      await sql`DELETE FROM mailsonde.memories WHERE name = ${name} AND kind = 'asking' AND key = '' AND value = ${holder}`.execute(
        await open(),
      )
    },
    /** Removes the facts about a mailbox, or about a domain and its mailboxes; returns their number. */
    forget: async (name: 'email' | 'domain', value: string): Promise<number> => {
      const mailbox = sql`lower(value::json ->> 'email')`
      const { numAffectedRows } =
        name === 'email'
          ? await sql`DELETE FROM mailsonde.memories WHERE kind = 'answer' AND ${mailbox} = lower(${value})`.execute(
              await open(),
            )
          : await sql`
              DELETE FROM mailsonde.memories WHERE (kind IN ('catch_all', 'unknown') AND name = ${value})
                OR (kind = 'answer' AND split_part(${mailbox}, '@', -1) = lower(${value}))`.execute(await open())
      return Number(numAffectedRows ?? 0)
    },
    /** Removes expired facts; at most 10,000 at a time. */
    purge: async (): Promise<void> => {
      await sql`
        DELETE FROM mailsonde.memories WHERE ctid IN (
          SELECT ctid FROM mailsonde.memories WHERE until < clock_timestamp() LIMIT 10000)`.execute(await open())
    },
  }
}

/**
 * Rows of a repository of the whole cluster that changed after `since`, in the order of their changes; at most 5,000.
 */
export const changedRows = async (
  db: Kysely<Schema>,
  repository: string,
  since: number,
): Promise<readonly { readonly value: string; readonly version: number }[]> =>
  db
    .selectFrom('mailsonde.rows')
    .select(['value', 'version'])
    .where('scope', '=', '')
    .where('repository', '=', repository)
    .where('version', '>', since)
    .orderBy('version')
    .limit(5_000)
    .execute()
