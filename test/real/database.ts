import { chmodSync, mkdtempSync } from 'node:fs'
import { startEmbedded } from '../../src/store/postgres/embedded.ts'
import { STATE } from './addresses.ts'

/** A database server for programs of the test network. */
export type Database = { readonly url: string; readonly stop: () => Promise<void> }

/** Starts a private database server as `nobody`, in a folder of its own; at most 60 s. */
export async function startDatabase(): Promise<Database> {
  const dataDir = mkdtempSync(`${STATE}/database-`)
  chmodSync(dataDir, 0o711)
  const log = { info: () => {}, warn: () => {} }
  const server = await startEmbedded({ dataDir, user: 'nobody', log }, AbortSignal.timeout(60_000))
  const { user, password, host } = server.connection
  const url = `postgres://${user}:${password}@/postgres?host=${encodeURIComponent(host)}`
  return { url, stop: async () => void (await server.stop()) }
}
