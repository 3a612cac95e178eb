import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Log } from '../world.ts'

/**
 * Warns if other users can write to the data folder: they could put keys of their own there. Windows has no such modes.
 */
export function warnOfOpenFolder(folder: string, log: Pick<Log, 'warn'>): void {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (!stat || process.getuid === undefined || (stat.mode & 0o022) === 0) return
  log.warn('other users can write the data folder; make it 0700', {
    folder,
    mode: (stat.mode & 0o777).toString(8).padStart(4, '0'),
  })
}

/** The socket of the service that holds this folder, for the owner of it. */
export const ownSocket = (dataDir: string): string => join(dataDir, 'service.sock')

/** Whether an earlier run may have stored something: the database is a given one, or the private one exists. */
export const hasDatabase = ({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): boolean =>
  databaseUrl !== undefined || hasPrivateDatabase(dataDir)

/** Whether the private database of a data folder exists: its password is made before it. */
export const hasPrivateDatabase = (dataDir: string): boolean => existsSync(join(dataDir, 'postgres.password'))
