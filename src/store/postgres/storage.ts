import { type Kysely, sql } from 'kysely'
import { storageError } from './problems.ts'
import type { Schema } from './schema.ts'

/**
 * Size of a row of a job with its result in the database beside its own columns, octets: measured, with its indexes.
 */
const ROW_OCTETS = 1_024
/** Size of a stored answer, a monitor, a webhook or a report beside its texts, octets. */
const ENTRY_OCTETS = 1_024
/** Size of a point of a monitor, and of a message, beside its text, octets; tables.ts takes as much off. */
export const POINT_OCTETS = 128
export const MESSAGE_OCTETS = 512
/** Time for which sizes that change slowly are cached, ms. */
const CACHE_MS = 5_000
/** Owners whose sizes are cached. */
const MAX_OWNERS = 1_000

/** Share of the database that reports by mail may take, and of it those of senders that nobody knows. */
const MAIL_SHARE = 1 / 4
const STRANGERS_SHARE = 1 / 16

export type StorageBounds = {
  /** Records of the open jobs of a key (`--max-open-rows`). */
  readonly maxOpenRows: number
  /** Size of all that a key stores (`--max-key-storage`), octets. */
  readonly maxKeyStorage: number
  /** Size of the database (`--max-storage`), octets. */
  readonly maxStorage: number
  /** Free space that is left on the disk of a private database (`--min-free-disk`), octets. */
  readonly minFreeDisk: number
  /** The free space, octets; undefined if the database is elsewhere. */
  readonly freeDisk: () => Promise<number | undefined>
}

export type StorageGuard = ReturnType<typeof storageGuard>

/**
 * Watches what is stored: before a bound is reached, new lists, answers, monitors and reports are refused and uploads
 * end; running jobs go on.
 */
export function storageGuard(open: () => Promise<Kysely<Schema>>, bounds: StorageBounds) {
  const full = cached(async () => fullness(await open(), bounds))
  const others = cached(async (owner) => otherOctets(await open(), owner))
  const mail = cached(async () => ofMail(await open()))

  async function refuseIfFull(): Promise<void> {
    const why = await full('')
    if (why === 'disk') throw storageError('disk', { min: bounds.minFreeDisk })
    if (why === 'database') throw storageError('database', { max: bounds.maxStorage })
  }
  async function refuseOwner(owner: string, { rows = 0, octets = 0 }): Promise<void> {
    const [jobs, rest] = await Promise.all([ofJobs(await open(), owner), others(owner)])
    if (rows > 0 && jobs.openRows + rows > bounds.maxOpenRows)
      throw storageError('open_rows', { max: bounds.maxOpenRows, rows: jobs.openRows })
    if (jobs.octets + rest + rows * ROW_OCTETS + octets > bounds.maxKeyStorage)
      throw storageError('key', { max: bounds.maxKeyStorage })
  }
  return {
    /**
     * Rejects with AppError `too_many_rows`, `too_much_stored` or `storage_full` if nothing more may be stored for an
     * owner; `more` records are about to be.
     */
    admitRows: async (owner: string, more: number): Promise<void> => {
      await Promise.all([refuseIfFull(), refuseOwner(owner, { rows: more })])
    },
    /** Rejects likewise, without regard to records; `more` octets are about to be stored. */
    admit: async (owner: string, more: number): Promise<void> => {
      await Promise.all([refuseIfFull(), refuseOwner(owner, { octets: more })])
    },
    /**
     * Rejects with `storage_full` if no more reports may be stored that came by mail: of a known reporter beyond {@link
     * MAIL_SHARE}, of others beyond {@link STRANGERS_SHARE}, so that the rest is left to the keys.
     */
    admitMail: async (isKnown: boolean): Promise<void> => {
      const [stored] = await Promise.all([mail(''), refuseIfFull()])
      const [octets, share] = isKnown ? [stored.all, MAIL_SHARE] : [stored.strangers, STRANGERS_SHARE]
      if (octets > bounds.maxStorage * share) throw storageError('mail', { max: bounds.maxStorage * share })
    },
    /**
     * Rejects with `too_much_stored` if a monitor of an owner may not add to what is stored. What runs goes on while
     * the database is full.
     */
    admitRun: cached((owner: string) => refuseOwner(owner, {})),
  }
}

type Full = 'database' | 'disk' | undefined

async function fullness(db: Kysely<Schema>, { freeDisk, minFreeDisk, maxStorage }: StorageBounds): Promise<Full> {
  const [{ rows }, free] = await Promise.all([
    sql<{ size: number }>`SELECT pg_database_size(current_database()) AS size`.execute(db),
    freeDisk(),
  ])
  if (free !== undefined && free < minFreeDisk) return 'disk'
  return rows[0]!.size > maxStorage ? 'database' : undefined
}

/** Records of the jobs of an owner that have not ended, and the size of all its jobs. */
async function ofJobs(
  db: Kysely<Schema>,
  owner: string,
): Promise<{ readonly openRows: number; readonly octets: number }> {
  const { rows } = await sql<{ openRows: number; octets: number }>`
    SELECT coalesce(sum(received) FILTER (WHERE state IN ('receiving', 'waiting', 'running', 'paused')), 0) AS "openRows",
      coalesce(sum(octets + received * ${ROW_OCTETS}), 0) AS octets
    FROM mailsonde.jobs WHERE owner = ${owner}`.execute(db)
  return rows[0]!
}

/**
 * Size of the stored answers, monitors with their history and messages, webhooks and reports of an owner, without
 * reading their texts.
 */
async function otherOctets(db: Kysely<Schema>, owner: string): Promise<number> {
  const { rows } = await sql<{ octets: number }>`
    SELECT (SELECT coalesce(sum(${ENTRY_OCTETS} + pg_column_size(answer)), 0) FROM mailsonde.stored_answers WHERE owner = ${owner} AND answer IS NOT NULL)
      + (SELECT coalesce(sum(${ENTRY_OCTETS} + stored + coalesce(pg_column_size(known), 0) + coalesce(pg_column_size(notifier), 0)), 0)
         FROM mailsonde.monitors WHERE owner = ${owner})
      + (SELECT coalesce(sum(${ENTRY_OCTETS} + stored), 0) FROM mailsonde.webhooks WHERE owner = ${owner})
      + (SELECT coalesce(sum(${ENTRY_OCTETS} + octets), 0) FROM mailsonde.reports WHERE owner = ${owner}) AS octets`.execute(
    db,
  )
  return rows[0]!.octets
}

/** Size of the reports that came by mail, and of those of them that do not count. */
async function ofMail(db: Kysely<Schema>): Promise<{ readonly all: number; readonly strangers: number }> {
  const { rows } = await sql<{ all: number; strangers: number }>`
    SELECT coalesce(sum(${ENTRY_OCTETS} + octets), 0) AS all,
      coalesce(sum(${ENTRY_OCTETS} + octets) FILTER (WHERE NOT counts), 0) AS strangers
    FROM mailsonde.reports WHERE owner IS NULL`.execute(db)
  return rows[0]!
}

/** The value for a name, looked up at most every {@link CACHE_MS}; a look that failed is not cached. */
function cached<T>(look: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const seen = new Map<string, { readonly atMs: number; readonly value: Promise<T> }>()
  return (name) => {
    const last = seen.get(name)
    if (last && performance.now() - last.atMs < CACHE_MS) return last.value
    const value = look(name)
    seen.delete(name) // the one looked up longest ago is the first
    if (seen.size >= MAX_OWNERS) seen.delete(seen.keys().next().value ?? '')
    seen.set(name, { atMs: performance.now(), value })
    value.catch(() => seen.delete(name))
    return value
  }
}
