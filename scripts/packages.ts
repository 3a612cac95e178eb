import { isBuiltin } from 'node:module'
import { resolve } from 'node:path'
import { importsOf, readSources } from './layers.ts'

/** A package that is loaded on demand (src/own-files.ts). */
const AT_NEED = /\b(?:loadPackage|packageFile)\(\s*['"`]([^'"`]+)['"`]/g
/** `import type`, which leaves nothing behind. */
const TYPE_ONLY = /^\s*(?:import|export)\s+type\b/

/**
 * The packages that the sources of the program import, sorted: they are part of the build.
 */
export function importedPackages(): readonly string[] {
  const names = new Set<string>()
  for (const text of readSources(resolve(import.meta.dirname, '../src')).values()) {
    const imported = importsOf(text).filter(({ statement }) => !TYPE_ONLY.test(statement))
    for (const target of [
      ...imported.map((one) => one.target),
      ...[...text.matchAll(AT_NEED)].map(([, path]) => path!),
    ])
      if (!target.startsWith('.') && !isBuiltin(target)) names.add(nameOf(target))
  }
  return [...names].sort()
}

/** `@s/name/file` is in `@s/name`. */
const nameOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/')
