import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { newWay, type WayRecord } from '../mail-in/deliver.ts'
import { parseEmail } from '../names/email.ts'
import type { ReportsHere } from '../operations/deps.ts'
import type { ReportService } from '../reports/service.ts'
import { makeFolder } from '../store/own-file.ts'

type Placed = Pick<Config, 'dataDir' | 'databaseUrl'>

/**
 * An empty file beside the private database: reports were stored in it. Without it, a check never starts the database.
 */
const markOf = ({ dataDir }: Placed): string => join(dataDir, 'reports')

/** Notes that reports are stored in the private database. */
export async function markReports(config: Placed): Promise<void> {
  if (config.databaseUrl !== undefined || existsSync(markOf(config))) return
  await makeFolder(config.dataDir)
  await writeFile(markOf(config), '', { mode: 0o600 })
}

/** The reports of this installation. `isOpened`: the database is in use; `opened`: the service, once it was needed. */
export const reportsHere = (
  config: Placed & Pick<Config, 'reportsLmtp' | 'reportsImap' | 'reportsRua'>,
  reports: () => Promise<ReportService>,
  isOpened: () => boolean,
  opened: () => ReportService | undefined,
): ReportsHere & { readonly ways: readonly WayRecord[] } => ({
  ways: [
    ...(config.reportsLmtp === undefined ? [] : [newWay('lmtp', config.reportsLmtp)]),
    ...(config.reportsImap === undefined ? [] : [newWay('imap', config.reportsImap)]),
  ],
  find: async () => {
    const { databaseUrl, reportsLmtp, reportsImap } = config
    const mayBe = (databaseUrl ?? reportsLmtp ?? reportsImap) !== undefined || isOpened() || existsSync(markOf(config))
    return mayBe ? reports() : undefined
  },
  counted: () => opened()?.counted() ?? { reports: 0, failureReports: 0, refused: 0 },
  rua: config.reportsRua ?? userOf(config.reportsImap),
})

/** The user of a mailbox, if it is a mail address. */
function userOf(imap: string | undefined): string | undefined {
  const user = imap === undefined ? '' : decodeURIComponent(new URL(imap).username)
  return parseEmail(user).ok ? user : undefined
}
