import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The path below node_modules of the package of a module, or undefined for our own module: `a/node_modules/@s/b` is a
 * package in another.
 */
export function packageOf(module: string): string | undefined {
  const [, path] = /node_modules\/(.*)/.exec(module.replaceAll('\\', '/')) ?? []
  return path === undefined ? undefined : /^(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path)![0]
}

type Manifest = {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly author?: string | { readonly name?: string }
}

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|nro_license)(?:[-.].*)?$/i

/**
 * The licences of the packages in the bundle: each with its version, its SPDX id and its licence text. `names` are
 * paths below `modules`, the folder node_modules. A package without a licence text is listed with the author in its
 * package.json. Throws for a package without a licence.
 */
export function licencesOf(names: ReadonlySet<string>, modules: string): string {
  const parts = [...names].sort().map((name) => {
    const folder = join(modules, name)
    const {
      name: called,
      version,
      license,
      author,
    } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    if (!license) throw new Error(`${called} ${version} names no licence`)
    const texts = readdirSync(folder)
      .filter((file) => LICENCE_FILE.test(file))
      .sort()
      .map((file) => readFileSync(join(folder, file), 'utf8').trim())
    const by = typeof author === 'string' ? author : author?.name
    const text = texts.length > 0 ? texts.join('\n\n') : `Copyright: ${by ?? `the authors of ${called}`}`
    return [`${called} ${version} (${license})`, text].join('\n\n')
  })
  const head = 'Packages that are part of this program, each with its licence.'
  return `${[head, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
