import { statfs } from 'node:fs/promises'
import type { Config } from '../config.ts'
import type { LazyDatabase } from '../store/postgres/connect.ts'
import { type StorageGuard, storageGuard } from '../store/postgres/storage.ts'

/** The bounds of what callers store. The disk of a private database is looked at in the data folder. */
export const openStorage = (config: Config, { open }: LazyDatabase): StorageGuard =>
  storageGuard(async () => (await open()).db, {
    maxOpenRows: config.maxOpenRows,
    maxKeyStorage: config.maxKeyStorage,
    maxStorage: config.maxStorage,
    minFreeDisk: config.minFreeDisk,
    freeDisk: async () => {
      if (config.databaseUrl !== undefined) return undefined
      const { bavail, bsize } = await statfs(config.dataDir)
      return bavail * bsize
    },
  })
