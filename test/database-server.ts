import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The environment variable that names the folder of the server that all test files share. */
export const DATABASE_FOLDER = 'MAILSONDE_TEST_DATABASE'

/**
 * The folder of the database server that the test files of a run share. The first file that needs it starts it; it ends
 * with the run.
 */
let folder: string | undefined

export function setup(): void {
  folder = mkdtempSync(join(tmpdir(), 'mailsonde-db-'))
  chmodSync(folder, 0o711) // when the tests run as root, the server's own user passes through
  process.env[DATABASE_FOLDER] = folder
}

export async function teardown(): Promise<void> {
  if (folder === undefined) return
  const pidFile = join(folder, 'postgres/cluster/postmaster.pid')
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[0]) : 0
  if (pid > 1) {
    process.kill(pid, 'SIGQUIT')
    for (let i = 0; i < 500 && existsSync(pidFile); i++) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  rmSync(folder, { recursive: true, force: true })
}
