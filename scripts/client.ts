import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * `npm run client`: writes `src/client/operations.ts`, the types of the client, which is not in the tree.
 * `npm run lint`, `npm run build` and every run of the tests call it first; it does nothing if no source is newer than
 * the file.
 */
const ROOT = resolve(import.meta.dirname, '..')
const PATH = join(ROOT, 'src/client/operations.ts')

const ageOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:ts|json)$/.test(name))
  .map((name) => join(ROOT, 'src', name))
const others = ['scripts/client-module.ts', 'package.json'].map((name) => join(ROOT, name))
const isMade = ageOf(PATH) > 0
const isStale = [...sources, ...others].some((path) => path !== PATH && ageOf(path) > ageOf(PATH))

if (!isMade || isStale) {
  const [{ allOperations }, { clientModule }] = await Promise.all([
    import('../src/operations/registry.ts'),
    import('./client-module.ts'),
  ])
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const made = `${PATH}.${process.pid}.new`
  writeFileSync(made, clientModule(await allOperations(), version))
  renameSync(made, PATH) // several runs at once
}
