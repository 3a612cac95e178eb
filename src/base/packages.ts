import { createRequire } from 'node:module'

/**
 * Finds packages where npm installed them. The built program replaces this module with one that finds them in
 * `dist/packages` (scripts/bundle.ts).
 */
const require = createRequire(import.meta.url)

/** How this program is installed: as sources, built by npm, or as one file. */
export type Form = 'sources' | 'package' | 'executable'
export const form: Form = 'sources'

/**
 * A CommonJS package, or a JSON file of one, loaded with this call: large tables that most commands do not need. Throws
 * if it is not installed.
 */
export const loadPackage = (name: string): unknown => require(name)

/** The path of a file in a package. Throws if there is none. */
export const packageFile = (path: string): string => require.resolve(path)
