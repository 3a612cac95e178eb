import type { Kysely } from 'kysely'
import { jobStorageOf, type OwnerStorage } from '../store/postgres/job-storage.ts'
import type { Schema } from '../store/postgres/schema.ts'
import { storageError } from './problems.ts'

/** Size of a row with its result in the database beside its own columns, octets: measured, with its indexes. */
const ROW_OCTETS = 1_024
/** Time for which the size of the database and the free space are remembered, ms. */
const REMEMBERED_MS = 5_000

export type StorageBounds = {
  /** Records of the open jobs of a key (`--max-open-rows`). */
  readonly maxOpenRows: number
  /** Size of all jobs of a key (`--max-key-storage`), octets. */
  readonly maxKeyStorage: number
  /** Size of the database (`--max-storage`), octets. */
  readonly maxStorage: number
  /** Free space that new lists leave on the disk of a private database (`--min-free-disk`), octets. */
  readonly minFreeDisk: number
  /** The free space, octets; undefined if the database is elsewhere. */
  readonly freeDisk: () => Promise<number | undefined>
}

export type StorageGuard = {
  /** Rejects with AppError `too_many_rows`, `too_much_stored` or `storage_full` if nothing more may be stored for an owner; `more` records are about to be. */
  readonly admit: (owner: string, more: number) => Promise<void>
}

/** Watches what lists take up: before a bound is reached, new ones are refused and uploads end; running jobs go on. */
export function storageGuard(
  db: Kysely<Schema>,
  bounds: StorageBounds,
  monotonic: () => number = () => performance.now(),
): StorageGuard {
  const storage = jobStorageOf(db)
  let seen: { readonly atMs: number; readonly full: Promise<'database' | 'disk' | undefined> } | undefined

  async function look(): Promise<'database' | 'disk' | undefined> {
    const [size, free] = await Promise.all([storage.size(), bounds.freeDisk()])
    if (free !== undefined && free < bounds.minFreeDisk) return 'disk'
    return size > bounds.maxStorage ? 'database' : undefined
  }
  function fullness(): Promise<'database' | 'disk' | undefined> {
    if (!seen || monotonic() - seen.atMs >= REMEMBERED_MS) {
      const full = look()
      seen = { atMs: monotonic(), full }
      full.catch(() => {
        seen = undefined
      })
    }
    return seen.full
  }
  return {
    admit: async (owner, more) => {
      const [full, own] = await Promise.all([fullness(), storage.ofOwner(owner)])
      if (full === 'disk') throw storageError('disk', { min: bounds.minFreeDisk })
      if (full === 'database') throw storageError('database', { max: bounds.maxStorage })
      if (own.openRows + more > bounds.maxOpenRows)
        throw storageError('open_rows', { max: bounds.maxOpenRows, rows: own.openRows })
      if (sizeOf(own) + more * ROW_OCTETS > bounds.maxKeyStorage)
        throw storageError('key', { max: bounds.maxKeyStorage })
    },
  }
}

const sizeOf = ({ rows, octets }: OwnerStorage): number => octets + rows * ROW_OCTETS
