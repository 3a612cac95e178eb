import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { readIslands } from '../src/start/pages.ts'
import { licencesOf, packageOf } from './licences.ts'

/**
 * `npm run build`: the program in `dist`, with all packages that it imports (contributing/decisions/0007-bundle.md), so
 * that the installed package has no dependency except the optional embedded database. `main.js`, `heavy.js`,
 * `library.js` and `client.js` are entries, and `chunks` is the code that they load; `packages` has what is loaded on demand, `islands`
 * and `docs` the content of the pages, `LICENSES.txt` the licences of the packages.
 */
const ROOT = resolve(import.meta.dirname, '..')
const DIST = `${ROOT}/dist`
const MODULES = `${ROOT}/node_modules`

/** Not bundled: native code that `pg` does not require. */
const LEFT_OUT = ['pg-native']
/** Packages of `loadPackage` (src/own-files.ts), each as one CommonJS file. */
const AT_NEED = ['cfb', 'tr46', 'mailchecker', 'disposable-email-domains-js']
/** Files of packages that are read unchanged: those of `loadPackage` and `packageFile`. */
const FILES = [
  'email-providers/all.json',
  'email-providers/common.json',
  '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country-ipv4.mmdb',
  '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country-ipv6.mmdb',
]

/** Replaces src/own-files.ts by the module of a form. */
export const ownFilesOf = (form: 'package' | 'executable'): Plugin => ({
  name: 'own-files',
  load: (id) =>
    id === `${ROOT}/src/own-files.ts`
      ? { code: readFileSync(`${ROOT}/scripts/own-files/${form}.ts`, 'utf8'), moduleType: 'ts' }
      : null,
})
export const external = (id: string): boolean => id.startsWith('node:') || LEFT_OUT.includes(id)

/** The program and the library. Returns the bundled modules. */
async function bundleProgram(): Promise<readonly string[]> {
  const bundle = await rolldown({
    input: {
      main: `${ROOT}/src/main.js`,
      heavy: `${ROOT}/src/heavy.js`,
      library: `${ROOT}/src/library.ts`,
      client: `${ROOT}/src/client/client.ts`,
    },
    platform: 'node',
    external,
    plugins: [ownFilesOf('package')],
  })
  const { output } = await bundle.write({
    dir: DIST,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: false, // licences are in LICENSES.txt
  })
  const chunks = output.filter((one): one is OutputChunk => one.type === 'chunk')
  // From a chunk `../packages` and `../../package.json` are ours, from an entry they would not be.
  const misplaced = chunks.filter(({ isEntry, code }) => isEntry && code.includes('import.meta.url'))
  if (misplaced.length > 0) throw new Error(`files are looked for from ${misplaced[0]!.fileName}, not from a chunk`)
  return chunks.flatMap(({ moduleIds }) => moduleIds)
}

/** The code that is loaded on demand, as CommonJS below `dist/packages`. Returns its modules. */
async function bundlePackages(): Promise<readonly string[]> {
  const bundle = await rolldown({
    input: Object.fromEntries(AT_NEED.map((name) => [name, name])),
    cwd: ROOT,
    platform: 'node',
    external,
  })
  const { output } = await bundle.write({
    dir: `${DIST}/packages`,
    format: 'cjs',
    entryFileNames: '[name].js',
    comments: false,
  })
  writeFileSync(`${DIST}/packages/package.json`, '{ "type": "commonjs" }\n')
  return output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
}

function copyFiles(): void {
  for (const file of FILES) {
    mkdirSync(dirname(`${DIST}/packages/${file}`), { recursive: true })
    copyFileSync(`${MODULES}/${file}`, `${DIST}/packages/${file}`)
  }
  // The islands of the pages, as browsers run them, and the documents of `/docs`.
  mkdirSync(`${DIST}/islands`)
  for (const [name, text] of Object.entries(readIslands())) writeFileSync(`${DIST}/islands/${name}.js`, text)
  cpSync(`${ROOT}/src/pages/fonts`, `${DIST}/fonts`, { recursive: true })
  cpSync(`${ROOT}/docs`, `${DIST}/docs`, {
    recursive: true,
    filter: (path) => !/\.[^/.]+$/.test(path) || path.endsWith('.md'),
  })
}

if (import.meta.main) {
  rmSync(DIST, { recursive: true, force: true })
  const modules = [...(await bundleProgram()), ...(await bundlePackages())]
  copyFiles()
  const names = new Set(
    [...modules, ...FILES.map((file) => `node_modules/${file}`)].flatMap((id) => packageOf(id) ?? []),
  )
  writeFileSync(`${DIST}/LICENSES.txt`, licencesOf(names, MODULES))
  console.log(`bundled: ${names.size} packages`)
}
