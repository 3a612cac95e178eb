import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { readIslands } from '../src/start/pages.ts'

/**
 * `npm run build`: the program in few files under `dist`, `main.js` and what is loaded at need (docs/decisions/0007-bundle.md). A command's start is the
 * loading of modules, and of them the packages below are most; all other packages stay where they are installed.
 */
const ROOT = resolve(import.meta.dirname, '..')
const INLINED = ['zod', 'commander', 'ipaddr.js', 'lru-cache']
const { dependencies } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
  dependencies: Record<string, string>
}
const kept = Object.keys(dependencies).filter((name) => !INLINED.includes(name))

rmSync(`${ROOT}/dist`, { recursive: true, force: true })
const bundle = await rolldown({
  input: {
    main: `${ROOT}/src/main.ts`,
    library: `${ROOT}/src/library.ts`,
    client: `${ROOT}/src/client/client.ts`,
  },
  platform: 'node',
  external: (id) => id.startsWith('node:') || kept.some((name) => id === name || id.startsWith(`${name}/`)),
})
// The chunks stand one folder below, as in src: from there `../../package.json` is ours.
await bundle.write({
  dir: `${ROOT}/dist`,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
})
// The islands of the pages, as browsers run them.
mkdirSync(`${ROOT}/dist/islands`)
for (const [name, text] of Object.entries(readIslands())) writeFileSync(`${ROOT}/dist/islands/${name}.js`, text)
