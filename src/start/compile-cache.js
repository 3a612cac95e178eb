import { mkdirSync, statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/**
 * Enables Node's compile cache in the data folder, which halves the time of every later start: `serve` creates it,
 * commands use it if it exists. Node writes what is new when the process exits: writing it earlier holds the event loop
 * for a tenth of a second, and only a service that is killed loses it. The system's temporary folder is not used,
 * because another user could put code there. Only the flag and the environment are read: there is no cache for a data
 * folder that is named in the configuration file, is not writable, belongs to another user, or is writable by others.
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 */
export function keepCompiled(argv, env = process.env) {
  const folder = join(dataDirOf(argv, env), 'compile-cache')
  if (argv[0] === 'serve') make(folder)
  if (isOurs(folder)) enableCompileCache(folder)
}

/**
 * Creates the folder, accessible by its owner only. If that fails there is no cache.
 * @param {string} folder
 */
function make(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch {
    // reported when the data folder itself is needed
  }
}

/**
 * Whether the folder exists, belongs to the user of this process, and is not writable by others.
 * @param {string} folder
 * @returns {boolean}
 */
export function isOurs(folder) {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return false
  return stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0
}

/**
 * The data folder, read before the configuration is loaded: `--data-dir DIR`, `--data-dir=DIR`, `MAILSONDE_DATA_DIR`,
 * otherwise `./data`.
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 * @returns {string}
 */
export function dataDirOf(argv, env) {
  const at = argv.findLastIndex((word) => word === '--data-dir' || word.startsWith('--data-dir='))
  const flag = at < 0 ? undefined : argv[at]?.split('=').slice(1).join('=') || argv[at + 1]
  return flag || env.MAILSONDE_DATA_DIR || './data'
}
