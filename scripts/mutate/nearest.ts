import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { moduleOf } from './changes.ts'

/** So many test files are tried for a file. */
const TRIED = 6

/**
 * The tests to try for a file below `root`, at most {@link TRIED}: those beside it, then those of its module that import
 * it, however far, then those of others, each from the nearest on. With `places` (folders or files): all of these that
 * import it.
 */
export function nearestTests(root: string, places?: readonly string[]): (file: string) => readonly string[] {
  const importers = new Map<string, string[]>()
  const tests: string[] = []
  for (const folder of ['src', 'test', 'scripts'])
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      const file = join(folder, name)
      if (!name.endsWith('.ts') || file.startsWith('test/real/')) continue
      if (name.endsWith('.test.ts')) tests.push(file)
      for (const [, path] of readFileSync(join(root, file), 'utf8').matchAll(
        /(?:from|import|import\() ?'(\.[^']+)'/g,
      )) {
        const target = join(dirname(file), path!)
        importers.set(target, [...(importers.get(target) ?? []), file])
      }
    }
  return (file) => {
    const far = new Map([[file, 0]])
    for (const [at, steps] of far)
      for (const from of importers.get(at) ?? []) if (!far.has(from)) far.set(from, steps + 1)
    const isBeside = (test: string): boolean => dirname(test) === dirname(file)
    const rank = (test: string): number =>
      (isBeside(test) ? 0 : moduleOf(test) === moduleOf(file) ? 100 : 200) + (far.get(test) ?? 99)
    const reached = tests
      .filter((test) => far.has(test) || isBeside(test))
      .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    if (places) return reached.filter((test) => places.some((one) => test === one || test.startsWith(`${one}/`)))
    return reached.slice(0, TRIED)
  }
}
