import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * For a file below `root`: the test files of `places` (folders or files) that import it, however far, nearest first. A
 * test beside the file is nearer than all others.
 */
type Nearest = (file: string, places: readonly string[]) => readonly string[]

/** Reads what imports what below `root`, once. */
export function nearestTests(root: string): Nearest {
  const importers = new Map<string, string[]>()
  for (const folder of ['src', 'test', 'scripts'])
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue
      const file = join(folder, name)
      for (const [, path] of readFileSync(join(root, file), 'utf8').matchAll(
        /(?:from|import|import\() ?'(\.[^']+)'/g,
      )) {
        const target = join(dirname(file), path!)
        importers.set(target, [...(importers.get(target) ?? []), file])
      }
    }
  return (file, places) => {
    const far = new Map([[file, 0]])
    for (const [at, steps] of far)
      for (const from of importers.get(at) ?? []) if (!far.has(from)) far.set(from, steps + 1)
    const rank = (test: string): number => (dirname(test) === dirname(file) ? 0 : 100) + far.get(test)!
    return [...far.keys()]
      .filter(
        (test) => test.endsWith('.test.ts') && places.some((place) => test === place || test.startsWith(`${place}/`)),
      )
      .sort((a, b) => rank(a) - rank(b))
  }
}
