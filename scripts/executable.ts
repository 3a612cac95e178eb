import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { external, ownFilesOf } from './bundle.ts'

/**
 * `npm run build:executable [-- --arch arm64]`: the program of `dist` with Node.js in one file,
 * `build/executable/mailsonde-linux-x64`, and its `.tar.xz`. Node.js of {@link NODE} comes from the npm package `node`;
 * its program is stripped, and what the program reads is inside as assets (scripts/own-files/executable.ts). Two builds
 * of one tree are equal. That of another architecture is made from its package, without compiled code, and is not run.
 */
const NODE = '26.10.0'
const ROOT = resolve(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
const OUT = join(ROOT, 'build/executable')

/** The settings of V8 that the service has in every form: half the memory under load, for some more processor time. */
const FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=40', '--disable-warning=ExperimentalWarning']

/** So that V8's compiled form is the same in each build. */
const EQUAL = ['--hash-seed=1', '--random-seed=1']

/** The programs of the executable: without `await` at their top, which CommonJS does not have. */
const ENTRIES: Readonly<Record<string, string>> = {
  main: `import { commandLine } from '${ROOT}/src/start/command-line.ts'
commandLine(process.argv.slice(2)).then((status) => { process.exitCode = status })`,
  heavy: `import { serveLane } from '${ROOT}/src/lane/serve.ts'
import { KINDS } from '${ROOT}/src/start/heavy-kinds.ts'
serveLane(KINDS)`,
}
const entries: Plugin = {
  name: 'entries',
  resolveId: (id) => (id.startsWith('entry:') ? id : null),
  load: (id) => (id.startsWith('entry:') ? { code: ENTRIES[id.slice('entry:'.length)]!, moduleType: 'js' } : null),
}

const COMMONJS = { format: 'cjs', comments: false, minify: { compress: true, mangle: false } } as const

type Code = { readonly texts: ReadonlyMap<string, string>; readonly first: readonly string[] }

/** The modules of the program as CommonJS, by name below `code/`, and those that every command loads. */
async function codeOfProgram(): Promise<Code> {
  const bundle = await rolldown({
    input: Object.fromEntries(Object.keys(ENTRIES).map((name) => [name, `entry:${name}`])),
    platform: 'node',
    external,
    plugins: [entries, ownFilesOf('executable')],
  })
  const { output } = await bundle.generate({
    ...COMMONJS,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  const chunks = output.filter((one): one is OutputChunk => one.type === 'chunk')
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const first = new Set(['main.js'])
  for (const one of first) for (const next of byName.get(one)?.imports ?? []) if (byName.has(next)) first.add(next)
  return {
    texts: new Map(chunks.map(({ fileName, code }) => [`code/${fileName}`, code])),
    first: [...first].map((one) => `code/${one}`).sort(),
  }
}

/** The main script, which loads the others. */
async function loader(): Promise<string> {
  const bundle = await rolldown({ input: join(ROOT, 'scripts/own-files/loader.ts'), platform: 'node' })
  const { output } = await bundle.generate({ ...COMMONJS })
  return output[0].code
}

/** The folder of Node.js for an architecture, from the npm package, downloaded once. */
function nodeFor(arch: string): string {
  const folder = join(ROOT, `build/node-${NODE}-${arch}`)
  const program = join(folder, 'package/bin/node')
  try {
    readFileSync(program, { flag: 'r' })
  } catch {
    mkdirSync(folder, { recursive: true })
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, `node-linux-${arch}@${NODE}`], {
      cwd: folder,
    })
    execFileSync('tar', ['-xzf', join(folder, `node-linux-${arch}-${NODE}.tgz`), '-C', folder])
  }
  return program
}

/** The files below a folder, sorted. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(folder.length + 1))
    .sort()

const arch = process.argv.includes('--arch') ? process.argv[process.argv.indexOf('--arch') + 1]! : process.arch
const isOwn = arch === process.arch
rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })

const assets = new Map<string, string>()
/** Lays a file among the assets. */
function lay(name: string, content: string | Buffer): void {
  const path = join(OUT, 'assets', name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, content)
  assets.set(name, path)
}
const { texts, first } = await codeOfProgram()
const code = new Map(texts)
for (const folder of ['docs', 'islands', 'fonts', 'packages'])
  for (const name of filesIn(join(DIST, folder))) {
    const path = `${folder}/${name}`
    if (folder === 'packages' && name.endsWith('.js')) code.set(path, readFileSync(join(DIST, path), 'utf8'))
    else if (name.endsWith('.mmdb')) lay(path, deflateRawSync(readFileSync(join(DIST, path)), { level: 9 }))
    else if (name !== 'package.json') assets.set(path, join(DIST, path))
  }
for (const [name, text] of code) lay(name, text)
const { name, version, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
  string,
  string
>
lay('package.json', JSON.stringify({ name, version, license }))
assets.set('LICENSES.txt', join(DIST, 'LICENSES.txt'))

const own = nodeFor(process.arch)
if (isOwn) {
  // Compiled by the Node.js that will read it: its version and flags are part of the check. What a command loads later
  // would take more room than time.
  const compile = join(import.meta.dirname, 'own-files/compile.ts')
  execFileSync(own, [...FLAGS, ...EQUAL, compile, join(OUT, 'assets'), join(OUT, 'assets/cache'), ...first], {
    stdio: 'inherit',
  })
  for (const one of first) assets.set(`cache/${one}`, join(OUT, 'assets/cache', one))
}
const stripped = join(OUT, 'node')
const strip = { x64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' }[arch]
execFileSync(strip ?? 'strip', ['-o', stripped, nodeFor(arch)])
const main = join(OUT, 'loader.js')
writeFileSync(main, await loader())
const program = join(OUT, `mailsonde-linux-${arch}`)
const config = join(OUT, 'sea-config.json')
const sorted = Object.fromEntries([...assets].toSorted(([a], [b]) => (a < b ? -1 : 1)))
const settings = {
  main,
  output: program,
  executable: stripped,
  disableExperimentalSEAWarning: true,
  useCodeCache: false,
  execArgv: FLAGS,
  assets: sorted,
}
writeFileSync(config, JSON.stringify(settings, null, 2))
execFileSync(own, ['--build-sea', config], { stdio: ['ignore', 'ignore', 'inherit'] })
chmodSync(program, 0o755)
for (const one of ['assets', 'node', 'loader.js', 'sea-config.json']) rmSync(join(OUT, one), { recursive: true })
const archive = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '-C', OUT, '-cJf']
execFileSync('tar', [...archive, `${program}.tar.xz`, `mailsonde-linux-${arch}`], {
  env: { ...process.env, XZ_OPT: '-6 -T2' },
})
for (const file of [program, `${program}.tar.xz`])
  console.log(file, `${(readFileSync(file).length / 1e6).toFixed(1)} MB`)
