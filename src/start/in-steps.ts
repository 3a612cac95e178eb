import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Modules that one step loads at most: some 20 ms without the compile cache. */
const MOST_AT_ONCE = 8
/** Relative imports and exports of a module, without those of types. */
const IMPORT = /^(?:import|export)\s(?!type\s)[^'"]*?from\s+['"](\.[^'"]+)['"]|^import\s+['"](\.[^'"]+)['"]/gm

const known = new Set<string>()
let last: Promise<void> = Promise.resolve()

/**
 * Loads a module of the sources, or a package, with all that it imports by relative paths, the innermost first, with
 * turns of the event loop between: one import holds the loop until all its modules are loaded. Calls take turns. In the
 * bundle, whose chunks are few, it does nothing. The caller imports the module itself afterwards.
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
  if (known.has(path) || !/\.[jt]s$/.test(path)) return
  known.add(path)
  for (const [, from, bare] of readFileSync(path, 'utf8').matchAll(IMPORT))
    yield* innermostFirst(resolve(dirname(path), from ?? bare ?? ''))
  yield path
}
