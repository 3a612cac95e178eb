import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { importedPackages } from './packages.ts'

/**
 * `npm run sbom`: what the product ships with, from package-lock.json, as CycloneDX 1.6 (ECMA-424) on standard output;
 * `npm run --silent sbom > sbom.json` keeps it. `npm run sbom -- --licences` prints the licences in place of it. No
 * network, and the same lock file gives the same text.
 *
 * Ships: the packages that the sources import, which the build puts into `dist`, the optional ones, and what these
 * depend on. Packages of development are left out.
 */

/** An entry of `packages` in package-lock.json (lockfileVersion 3), as far as it is read. */
type LockedPackage = {
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
export type Lock = { readonly packages: Readonly<Record<string, LockedPackage>> }

type Shipped = { readonly path: string; readonly name: string; readonly ref: string; readonly locked: LockedPackage }

/** The packages that `direct` names and all that they depend on, by path; the project itself is not among them. */
export function shipped({ packages }: Lock, direct: readonly string[]): readonly Shipped[] {
  const found = new Map<string, Shipped>()
  const open = direct.map((name) => `node_modules/${name}`)
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const locked = packages[path]
    if (locked === undefined || found.has(path)) continue
    const name = locked.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    found.set(path, { path, name, ref: purl(name, locked.version ?? ''), locked })
    for (const dependency of dependenciesOf(locked)) {
      const next = pathOf(dependency, path, packages)
      if (next !== undefined) open.push(next)
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Package URL of an npm package (purl-spec, type npm). */
const purl = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** The CycloneDX document of a lock file. */
export function sbomOf(
  lock: Lock,
  direct: readonly string[],
  project: { readonly name: string; readonly version: string },
): object {
  const packages = shipped(lock, direct)
  const root = { ref: purl(project.name, project.version), dependsOn: direct.map((name) => `node_modules/${name}`) }
  const refs = new Map(packages.map(({ path, ref }) => [path, ref]))
  const refsOf = (paths: readonly string[]): readonly string[] => paths.flatMap((path) => refs.get(path) ?? [])
  const unique = new Map(packages.map((one) => [one.ref, one]))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': root.ref,
        name: project.name,
        version: project.version,
        purl: root.ref,
      },
    },
    components: [...unique.values()].map(component),
    dependencies: [
      { ref: root.ref, dependsOn: refsOf(root.dependsOn.toSorted()) },
      ...[...unique.values()].map(({ ref, path, locked }) => ({
        ref,
        dependsOn: refsOf(dependenciesOf(locked).flatMap((name) => pathOf(name, path, lock.packages) ?? [])),
      })),
    ],
  }
}

const component = ({ name, ref, locked }: Shipped): object => ({
  type: 'library',
  'bom-ref': ref,
  name,
  version: locked.version,
  scope: locked.optional ? 'optional' : 'required',
  ...(locked.integrity && { hashes: hashesOf(locked.integrity) }),
  licenses: [licenceOf(locked)],
  purl: ref,
})

/** Subresource integrity (`sha512-<base64>`, several by spaces) as CycloneDX hashes. */
const hashesOf = (integrity: string): object[] =>
  integrity.split(' ').map((one) => {
    const [algorithm = '', digest = ''] = one.split(/-(.*)/s)
    return {
      alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
      content: Buffer.from(digest, 'base64').toString('hex'),
    }
  })

/** A single SPDX id, or an expression of several. */
function licenceOf({ license }: LockedPackage): object {
  if (license === undefined) return { license: { name: 'unknown' } }
  return /[ ()]/.test(license) ? { expression: license } : { license: { id: license } }
}

const dependenciesOf = ({ dependencies, optionalDependencies }: LockedPackage): readonly string[] =>
  [...new Set([...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {})])].sort()

/**
 * The path of the package that `name` leads to from the package at `path`, as Node looks for it: its own node_modules,
 * then those of the folders above.
 */
const pathOf = (name: string, path: string, packages: Lock['packages']): string | undefined =>
  foldersOf(path)
    .map((folder) => `${folder}node_modules/${name}`)
    .find((one) => packages[one] !== undefined)

/**
 * `node_modules/a/node_modules/b` gives itself, `node_modules/a` and the project, each with a slash at its end but the
 * last.
 */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/node_modules/')
  return ['', ...parts.map((_, i) => `${parts.slice(0, i + 1).join('/node_modules/')}/`)].reverse()
}

/** A line for each licence: how many packages have it, and which. */
export function licences(lock: Lock, direct: readonly string[]): string {
  const all = Object.groupBy(shipped(lock, direct), ({ locked }) => locked.license ?? 'unknown')
  return Object.entries(all)
    .sort(([, a = []], [, b = []]) => b.length - a.length)
    .map(([licence, packages = []]) => `${licence} (${packages.length}): ${namesOf(packages).join(', ')}`)
    .join('\n')
}

const namesOf = (packages: readonly Shipped[]): readonly string[] =>
  [...new Set(packages.map(({ name }) => name))].sort()

/** The parsed JSON of a file of the project. */
export const readProject = <T>(file: string): T =>
  JSON.parse(readFileSync(resolve(import.meta.dirname, '..', file), 'utf8')) as T

if (import.meta.main) {
  const lock = readProject<Lock>('package-lock.json')
  const project = readProject<{ name: string; version: string; optionalDependencies: Record<string, string> }>(
    'package.json',
  )
  const direct = [...importedPackages(), ...Object.keys(project.optionalDependencies)]
  const text = process.argv.includes('--licences')
    ? licences(lock, direct)
    : JSON.stringify(sbomOf(lock, direct, project), null, 2)
  console.log(text)
}
