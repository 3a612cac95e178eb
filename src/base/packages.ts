import { createRequire } from 'node:module'

/** From here packages are found where npm installed them. In the built program this module is another one, which finds them in `dist/packages` (scripts/bundle.ts). */
const require = createRequire(import.meta.url)

/** A CommonJS package, or a JSON file of one, loaded at this call: large tables that most commands do without. Throws when it is not installed. */
export const loadPackage = (name: string): unknown => require(name)

/** The path of a file in a package. Throws when there is none. */
export const packageFile = (path: string): string => require.resolve(path)
