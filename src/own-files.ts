import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * The files of the program itself: its data, pages and documents. No other module reads them. This one finds them in a
 * checkout; the built program and the executable have modules of the same exports in its place (scripts/own-files).
 */
const require = createRequire(import.meta.url)
const FOLDERS = { docs: '../docs/', islands: 'pages/islands/', fonts: 'pages/fonts/' } as const
type Folder = keyof typeof FOLDERS
const at = (path: string): URL => new URL(path, import.meta.url)

/** How this program is installed: as sources, built by npm, or as one file. */
export type Form = 'sources' | 'package' | 'executable'
export const form: Form = 'sources'

/** The version of the program, as its package says. */
export const { version } = JSON.parse(readFileSync(at('../package.json'), 'utf8')) as { readonly version: string }

/** The names of the files of a folder, below it; none if there is no such folder. */
export function namesIn(folder: Folder): readonly string[] {
  try {
    return readdirSync(at(FOLDERS[folder]), { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
}

/** A file of a folder. Throws if it cannot be read. */
export const readOwn = (folder: Folder, name: string): Buffer => readFileSync(at(FOLDERS[folder] + name))

/**
 * A CommonJS package, or a JSON file of one, loaded with this call: large tables that most commands do not need. Throws
 * if it is not installed.
 */
export const loadPackage = (name: string): unknown => require(name)

/** A file of a package. Throws if it cannot be read. */
export const packageFile = (path: string): Buffer => readFileSync(require.resolve(path))

/** How the process for heavy work is started. */
export const heavyProgram: { readonly file: string; readonly args: readonly string[] } = {
  file: process.execPath,
  args: [fileURLToPath(at('heavy.js'))],
}
