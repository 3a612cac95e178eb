import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Modules that one step loads at most: some 20 ms without the compile cache. */
const MOST_AT_ONCE = 8
/** Modules that a module of CommonJS requires. */
const REQUIRE = /\brequire\(['"]([^'"]+)['"]\)/g
/** Relative imports and exports of a module, without those of types. */
const IMPORT = /^(?:import|export)\s(?!type\s)[^'"]*?from\s+['"](\.[^'"]+)['"]|^import\s+['"](\.[^'"]+)['"]/gm

const known = new Set<string>()
let last: Promise<void> = Promise.resolve()

/**
 * Loads a module of the sources with all that it imports by relative paths, or a package with all that it imports or
 * requires, the innermost first, with turns of the event loop between: one import holds the loop until all its modules
 * are loaded. Calls take turns. In the bundle, whose chunks are few, it does nothing. The caller imports the module
 * itself afterwards.
 */
export function loadInSteps(module: URL | string): Promise<void> {
  if (!import.meta.url.endsWith('.ts')) return last
  last = last
    .then(() => load(fileURLToPath(typeof module === 'string' ? import.meta.resolve(module) : module)))
    .catch(() => {}) // the import of the caller reports it
  return last
}

async function load(path: string): Promise<void> {
  let since = 0
  for (const one of innermostFirst(path)) {
    if (since++ % MOST_AT_ONCE === 0) await setImmediate()
    await import(pathToFileURL(one).href)
  }
}

/** The modules that are not known yet, each after those that it imports. */
function* innermostFirst(path: string): Generator<string, void> {
  if (known.has(path) || !/\.c?[jt]s$/.test(path)) return
  known.add(path)
  const text = readFileSync(path, 'utf8')
  for (const [, from, bare] of text.matchAll(IMPORT)) yield* innermostFirst(resolve(dirname(path), from ?? bare ?? ''))
  for (const required of path.endsWith('.ts') ? [] : requiredBy(path, text)) yield* innermostFirst(required)
  yield path
}

/** The files that a module of CommonJS requires; an optional one may not be installed. */
function requiredBy(path: string, text: string): readonly string[] {
  const require = createRequire(path)
  return [...text.matchAll(REQUIRE)].flatMap(([, from]) => {
    try {
      return require.resolve(from ?? '')
    } catch {
      return []
    }
  })
}
