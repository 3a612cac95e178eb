import { readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The second step of `npm run build`: keeps only the declarations in `dist` that the library and the client use. */
const DIST = resolve(import.meta.dirname, '../dist')
const EFFECT = /^import ['"]\.[^'"]+['"].*\n/gm
const IMPORT = /(?:from\s+|import\()['"](\.[^'"]+)['"]/g

const needed = new Set<string>()
const open = [join(DIST, 'library.d.ts'), join(DIST, 'client/client.d.ts')]
for (let file = open.pop(); file !== undefined; file = open.pop()) {
  if (needed.has(file)) continue
  needed.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, target] of text.matchAll(IMPORT))
    if (!target!.endsWith('.json')) open.push(join(dirname(file), target!.replace(/\.[tj]s$/, '.d.ts')))
  // What compiles to JavaScript is named by it; what is imported for its effect has no types.
  writeFileSync(
    file,
    text.replaceAll(EFFECT, '').replaceAll(IMPORT, (statement) => statement.replace(/\.ts(['"])$/, '.js$1')),
  )
}

const all = readdirSync(DIST, { recursive: true, withFileTypes: true })
for (const entry of all) {
  const path = join(entry.parentPath, entry.name)
  if (entry.isFile() && path.endsWith('.d.ts') && !needed.has(path)) rmSync(path)
}
// Deepest folders first: their content is already removed.
for (const entry of all
  .filter((one) => one.isDirectory())
  .toSorted((a, b) => b.parentPath.length - a.parentPath.length)) {
  const path = join(entry.parentPath, entry.name)
  if (readdirSync(path).length === 0) rmdirSync(path)
}
console.log(`types: ${needed.size} files`)
