import { mkdirSync, statSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'

/** Time after the start at which what was compiled is written, so that writing holds up no early question, ms. */
const WRITE_AFTER_MS = 2_000

/**
 * Lets Node keep the compiled program in the data folder, which halves every later start: `serve` makes the cache, commands use it where it is.
 * Not in the system's temporary folder, where another user could leave code for us. Only the flag and the environment are looked at: a data folder named
 * in the configuration file goes without, as does one that cannot be written, and one that somebody else can write to or owns.
 */
export function keepCompiled(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  const folder = join(dataDirOf(argv, env), 'compile-cache')
  const serves = argv[0] === 'serve'
  if (serves) make(folder)
  if (!isOurs(folder)) return
  enableCompileCache(folder)
  if (serves) setTimeout(flushCompileCache, WRITE_AFTER_MS).unref() // a process that is killed writes nothing
}

/** The folder with rights for its owner alone. One that cannot be made goes without a cache. */
function make(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch {
    // told when the data folder itself is needed
  }
}

/** Whether the folder is there and nobody but its owner, who runs this, can put code into it. */
export function isOurs(folder: string): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return false
  return stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0
}

/** The data folder, read ahead of the configuration: `--data-dir DIR`, `--data-dir=DIR`, `MAILSONDE_DATA_DIR`, else `./data`. */
export function dataDirOf(argv: readonly string[], env: NodeJS.ProcessEnv): string {
  const at = argv.findLastIndex((word) => word === '--data-dir' || word.startsWith('--data-dir='))
  const flag = at < 0 ? undefined : argv[at]!.split('=').slice(1).join('=') || argv[at + 1]
  return flag || env.MAILSONDE_DATA_DIR || './data'
}
