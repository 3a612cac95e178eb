import type { StorageGuard } from '../../src/store/postgres/storage.ts'

/** Storage without bounds. */
export const UNBOUNDED: StorageGuard = {
  admitRows: async () => {},
  admit: async () => {},
  admitMail: async () => {},
  admitRun: async () => {},
}
